const NEW_LINE = 10

/** The lines of a text, without what ends them. What follows the last end is a line when it is not empty. */
export async function* readLines(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  for await (const part of parts) {
    const text = rest.length === 0 ? Buffer.from(part) : Buffer.concat([rest, part])
    let from = 0
    for (let end = text.indexOf(NEW_LINE); end >= 0; end = text.indexOf(NEW_LINE, from)) {
      yield text.subarray(from, end)
      from = end + 1
    }
    rest = text.subarray(from)
  }
  if (rest.length > 0) yield rest
}
