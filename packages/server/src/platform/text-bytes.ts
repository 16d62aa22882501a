/**
 * How many of these bytes are whole characters of UTF-8: what is after them may be the beginning of one. Bytes that
 * can never become a character count as whole.
 */
export function wholeBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte >= 0b1100_0000) {
      const length = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : 2
      return length > back ? bytes.length - back : bytes.length
    }
    if (byte < 0b1000_0000) break
  }
  return bytes.length
}

export const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

/** The bytes that a text takes in JSON. */
export const jsonBytes = (text: string) => Buffer.byteLength(JSON.stringify(text))

/** How many of these bytes, as whole characters, take at most so many bytes of JSON as a text. */
export function fittingBytes(bytes: Uint8Array, most: number): number {
  // A byte takes one byte at least, and a control character six.
  let [fits, tooMany] = [0, Math.min(bytes.length, Math.max(0, most)) + 1]
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1
    if (jsonBytes(textOf(bytes.subarray(0, middle))) - 2 <= most) fits = middle
    else tooMany = middle
  }
  return fits === bytes.length ? fits : wholeBytes(bytes.subarray(0, fits))
}
