import type { Handler } from '../handler.ts'
import { makeLink } from './make-link.ts'

export const getDownloadUrl: Handler<'getDownloadUrl'> = async ({ input, resource, services }) =>
  makeLink(services, resource, 'GET', input)
