import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'
import { makeLink } from './make-link.ts'

export const getDownloadUrl: Handler<'getDownloadUrl'> = async ({
  input,
  caller,
  resource,
  services,
  asTool,
}) => {
  const link = makeLink(services, { row: resource, tokenId: caller.tokenId }, 'GET', input)
  if (!asTool) return link
  // The file may be made later.
  const size = await askSandbox(services, input.sandbox_id, resource, async ({ files }) => {
    const found = await files.stat(input.sandbox_id, input.path)
    return found.size
  }).catch(() => undefined)
  return { ...link, ...(size !== undefined && { size }) }
}
