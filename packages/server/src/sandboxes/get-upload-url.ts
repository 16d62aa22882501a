import type { Handler } from '../handler.ts'
import { makeLink } from './make-link.ts'

export const getUploadUrl: Handler<'getUploadUrl'> = async ({ input, resource, services }) =>
  makeLink(services, resource, 'PUT', input)
