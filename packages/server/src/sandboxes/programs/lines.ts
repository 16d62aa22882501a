/** A line that is longer than it may be, or more bytes than a stream may bring. */
export class TooMuch extends Error {
  override name = 'TooMuch'
}

/**
 * The lines of a stream, without their ends, one after the other: nothing is read while the last one is being dealt with.
 * What comes after the last end of a line is dropped.
 * @throws TooMuch
 */
export async function* linesOf(
  stream: AsyncIterable<Uint8Array>,
  { lineBytes, bytes }: { lineBytes: number; bytes: number },
): AsyncGenerator<string> {
  let parts: Uint8Array[] = []
  let [length, left] = [0, bytes]
  const keep = (part: Uint8Array) => {
    length += part.length
    if (length > lineBytes) throw new TooMuch(`A line of more than ${lineBytes} bytes`)
    parts.push(part)
  }
  for await (const chunk of stream) {
    left -= chunk.length
    if (left < 0) throw new TooMuch(`More than ${bytes} bytes`)
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      keep(chunk.subarray(from, end))
      const line = Buffer.concat(parts).toString('utf8')
      parts = []
      length = 0
      from = end + 1
      yield line
    }
    if (from < chunk.length) keep(chunk.subarray(from))
  }
}

const NEWLINE = 10
