/*
 * A value on its way to the other side: the length of its JSON (32 bits, big-endian), the JSON, and the bytes of every
 * Uint8Array in it, one after the other. In the JSON such an array is `{"$bytes": [offset, length]}`, a Map its entries,
 * and a Date its text.
 */

const LENGTH_BYTES = 4

export function encodeMessage(value: unknown): Buffer {
  const parts: Uint8Array[] = []
  let size = 0
  const head = JSON.stringify({ value }, function (this: Record<string, unknown>, key, written) {
    const given = this[key]
    if (given instanceof Map) return [...given]
    if (!(given instanceof Uint8Array)) return written
    parts.push(given)
    size += given.length
    return { $bytes: [size - given.length, given.length] }
  })
  const text = Buffer.from(head)
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text, ...parts])
}

/** @throws Error when it is no message */
export function decodeMessage(message: Buffer): unknown {
  const length = message.readUInt32BE(0)
  const end = LENGTH_BYTES + length
  if (end > message.length) throw new RangeError('A message that is cut short')
  const bytes = message.subarray(end)
  const revive = (_key: string, given: unknown) => {
    const range = (given as { $bytes?: unknown } | null)?.$bytes
    if (!Array.isArray(range)) return given
    const [offset, size] = range.map(Number) as [number, number]
    if (!(offset >= 0 && size >= 0 && offset + size <= bytes.length))
      throw new RangeError('Bytes of a message are missing')
    return bytes.subarray(offset, offset + size)
  }
  return (JSON.parse(message.subarray(LENGTH_BYTES, end).toString(), revive) as { value?: unknown }).value
}

/** Reads a body to its end. @throws Error when it is longer than `limit` */
export async function readWhole(body: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > limit) throw new RangeError(`More than ${limit} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
