import type { Reply } from './exchange.ts'

/** Seconds until the service wants to be asked again (RFC 9110 §10.2.3), when it said so. */
export function retryAfter({ headers }: Reply): number | undefined {
  const text = headers.get('retry-after')
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}
