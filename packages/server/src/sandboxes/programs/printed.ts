import { PRINTED_BYTES } from '@coinrack/contract/programs.ts'
import { textOf, wholeBytes } from '../../platform/text-bytes.ts'

/** What is shown of one output, in bytes: its beginning and its end. */
interface Shown {
  head: number
  tail: number
}

const SHOWN: Record<'stdout' | 'stderr', Shown> = {
  stdout: { head: 18_000, tail: 6_000 },
  stderr: { head: 4_000, tail: PRINTED_BYTES - 28_000 },
}

/** Keeps the beginning and the end of what a program prints, however much that is. */
export function createPrinted(name: 'stdout' | 'stderr') {
  const { head, tail } = SHOWN[name]
  let [first, last] = [Buffer.alloc(0), Buffer.alloc(0)]
  let all = 0
  return {
    add(text: string): void {
      let bytes = Buffer.from(text)
      all += bytes.length
      if (first.length < head) {
        const part = bytes.subarray(0, head - first.length)
        first = Buffer.concat([first, part])
        bytes = bytes.subarray(part.length)
      }
      if (bytes.length > 0) last = Buffer.concat([last, bytes]).subarray(-tail)
    },
    /** The text, and how many bytes of its middle it lacks. */
    shown(): { text: string; cut: number } {
      if (all <= head + tail) return { text: textOf(Buffer.concat([first, last])), cut: 0 }
      const before = first.subarray(0, wholeBytes(first))
      const after = last.subarray(characterAt(last))
      const cut = all - before.length - after.length
      return { text: `${textOf(before)}\n[${cut} bytes are cut here]\n${textOf(after)}`, cut }
    },
  }
}

/** Where the first whole character of UTF-8 begins. */
function characterAt(bytes: Uint8Array): number {
  const at = bytes.findIndex((byte) => (byte & 0b1100_0000) !== 0b1000_0000)
  return Math.max(at, 0)
}
