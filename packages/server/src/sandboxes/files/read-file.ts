import { fileInJson } from '../../dispatch/file-in-json.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'

export const readFile: Handler<'readFile'> = async ({ input, resource, services }) => {
  const { sandbox_id: id, path, offset, length } = input
  return askSandbox(services, id, resource, async ({ files }) => {
    const { content, size } = await files.read(id, path, { offset, length })
    const pieces: Buffer[] = []
    let left = length
    // No more than was asked for, whatever the sandbox sends.
    for await (const piece of content as AsyncIterable<Buffer>) {
      pieces.push(piece.subarray(0, left))
      left -= Math.min(left, piece.length)
      if (left === 0) break
    }
    const bytes = Buffer.concat(pieces)
    const eof = offset + bytes.length >= size
    return { path, size, offset, length: bytes.length, eof, ...fileInJson(bytes) }
  })
}
