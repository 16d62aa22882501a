/** The eight groups of an IPv6 address; undefined for IPv4, also where that is written as IPv6. */
function groupsOf(address: string): string[] | undefined {
  if (!address.includes(':') || MAPPED.test(address)) return undefined
  const [head = '', tail = ''] = address.split('%')[0]!.split('::')
  const before = head ? head.split(':') : []
  const after = tail ? tail.split(':') : []
  const groups = address.includes('::')
    ? [...before, ...Array(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after]
    : before
  return groups.map((group) => Number.parseInt(group, 16).toString(16))
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Returns the block that one caller can easily have many addresses of, which counts as one: an IPv6 /64. */
export function addressBlock(address: string): string {
  const groups = groupsOf(address)
  return groups ? `${groups.slice(0, 4).join(':')}::/64` : (MAPPED.exec(address)?.[1] ?? address)
}

/** The network that a customer of a provider is given: an IPv6 /48. Undefined for IPv4, where it is the address itself. */
export function addressNetwork(address: string): string | undefined {
  const groups = groupsOf(address)
  return groups && `${groups.slice(0, 3).join(':')}::/48`
}
