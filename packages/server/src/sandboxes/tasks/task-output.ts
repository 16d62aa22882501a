import type { TaskEnd } from '@coinrack/compute/ports/sandbox-channel.ts'

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

/** The results and the error of code, as they stand in an answer. */
export const shownEnd = (end: Partial<Pick<TaskEnd, 'results' | 'error'>>) => ({
  results: (end.results ?? []).map(({ data, isMain }) => ({ data, is_main: isMain })),
  error: end.error ?? null,
})
