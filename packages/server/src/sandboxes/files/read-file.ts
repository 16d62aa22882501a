import { FILE_BYTES } from '@coinrack/contract/guest-shapes.ts'
import { bytesToRead, fileInAnswer } from '../../dispatch/file-in-answer.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'
import { makeLink } from './make-link.ts'

const LINK_S = 3600

export const readFile: Handler<'readFile'> = async ({ input, caller, resource, services, asTool }) => {
  const { sandbox_id: id, path, offset } = input
  const length = bytesToRead(asTool, input.length, FILE_BYTES)
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
    const isFitted = asTool && input.length === undefined
    const part = fileInAnswer(Buffer.concat(pieces), { offset, size, isFitted })
    if (!asTool || (part.eof && 'content' in part)) return { path, ...part }
    const by = { row: resource, tokenId: caller.tokenId }
    const { url } = makeLink(services, by, 'GET', { sandbox_id: id, path, expires_in: LINK_S })
    return { path, ...part, download_url: url }
  })
}
