import type { Operation } from '@coinrack/contract/operation.ts'

const text = (description: string) => ({ description, schema: { type: 'string' } })

/** Headers of answers, as OpenAPI names them once. */
export const responseHeaders = {
  'X-Request-Id': text('Names this request in the logs of the service'),
  'X-Token-Expires-At': text('When the presented token ends, RFC 3339'),
  'X-Balance-Runs-Out-At': text('When the balance is used up, RFC 3339; only while it is low'),
  RateLimit: text('What is left of the limit, and seconds until it is whole again'),
  'RateLimit-Policy': text('The limit and its window in seconds'),
  'Retry-After': { description: 'Seconds until it is worth asking again', schema: { type: 'integer' } },
  'Idempotent-Replayed': text('"true" when this is the kept answer of an earlier request with the same key'),
  ETag: text('Sent back as If-None-Match it makes the answer 304 while nothing has changed'),
  Link: text('The next page of a list, rel="next"'),
  Location: text('Where what was made can be read'),
}

/** References to some of them. */
export const refer = (...names: (keyof typeof responseHeaders)[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** The headers of a successful answer of the operation. */
export function headersOf(op: Operation) {
  return refer(
    'X-Request-Id',
    'RateLimit',
    'RateLimit-Policy',
    ...(op.access === 'public' ? [] : (['X-Token-Expires-At', 'X-Balance-Runs-Out-At'] as const)),
    ...(op.method === 'GET' ? (['ETag'] as const) : []),
    ...(op.method !== 'GET' && op.access !== 'public' ? (['Idempotent-Replayed'] as const) : []),
    ...(op.list ? (['Link'] as const) : []),
    ...(op.created ? (['Location'] as const) : []),
  )
}
