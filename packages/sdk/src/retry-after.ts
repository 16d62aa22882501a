import type { ErrorBody } from '@coinrack/contract/wire.ts'
import type { Reply } from './exchange.ts'

/**
 * Seconds until the service wants to be asked again, when it said so: by the header Retry-After (RFC 9110 §10.2.3), or by
 * `retry_after` in the body, which is the same and reaches clients that are not shown the header.
 */
export function retryAfter({ headers, body }: Reply): number | undefined {
  const text = headers.get('retry-after')
  if (text !== null && /^\d+$/.test(text)) return Number(text)
  const told = (body as Partial<ErrorBody> | null | undefined)?.retry_after
  return Number.isInteger(told) && told! >= 0 ? told : undefined
}
