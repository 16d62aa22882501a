/*
 * Bytes that stream to the other side, in pieces: the length of each (32 bits, big-endian) and its bytes; a length of
 * zero ends them. So a connection that breaks, or a sender that gives up, is never taken for the end.
 */

const LENGTH_BYTES = 4
/** Larger ones are sent as several. */
const PIECE_BYTES = 64 * 1024

export async function* intoPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const piece = chunk.subarray(at, at + PIECE_BYTES)
      const length = Buffer.alloc(LENGTH_BYTES)
      length.writeUInt32BE(piece.length)
      yield length
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.length)
    }
  yield Buffer.alloc(LENGTH_BYTES)
}

/** @throws Error when they end before their end, or go on after it */
export async function* fromPieces(received: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0)
  let left = 0
  let ended = false
  for await (let chunk of received) {
    if (ended) throw new Error('Bytes after their end')
    while (chunk.length > 0) {
      if (left > 0) {
        const piece = chunk.subarray(0, left)
        left -= piece.length
        chunk = chunk.subarray(piece.length)
        yield piece
        continue
      }
      const missing = LENGTH_BYTES - head.length
      head = Buffer.concat([head, chunk.subarray(0, missing)])
      chunk = chunk.subarray(missing)
      if (head.length < LENGTH_BYTES) break
      left = head.readUInt32BE(0)
      head = Buffer.alloc(0)
      if (left > PIECE_BYTES) throw new Error('A piece that is too large')
      if (left > 0) continue
      if (chunk.length > 0) throw new Error('Bytes after their end')
      ended = true
    }
  }
  if (!ended) throw new Error('The bytes broke off')
}
