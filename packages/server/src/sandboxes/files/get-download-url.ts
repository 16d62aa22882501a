import type { Handler } from '../../dispatch/handler.ts'
import { makeLink } from './make-link.ts'

export const getDownloadUrl: Handler<'getDownloadUrl'> = async ({ input, caller, resource, services }) =>
  makeLink(services, { row: resource, tokenId: caller.tokenId }, 'GET', input)
