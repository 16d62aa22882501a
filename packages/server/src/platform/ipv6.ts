/** The eight groups of an address, as numbers. */
function groups(address: string): number[] {
  // As RFC 5952 writes it: in lower case, without an address of IPv4 in it.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  const parts = (half: string) =>
    half === '' ? [] : half.split(':').map((part) => Number.parseInt(part, 16))
  if (tail === undefined) return parts(head)
  const zeros = 8 - parts(head).length - parts(tail).length
  return [...parts(head), ...Array<number>(zeros).fill(0), ...parts(tail)]
}

/** All 32 digits of an address, in hexadecimal. */
export const ipv6Digits = (address: string) =>
  groups(address)
    .map((group) => group.toString(16).padStart(4, '0'))
    .join('')

/** Whether all bits of an address after the first `length` are zero. */
export const isFirstOf = (address: string, length: number) =>
  BigInt(`0x${ipv6Digits(address)}`) % (1n << BigInt(128 - length)) === 0n
