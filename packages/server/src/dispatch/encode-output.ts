import type { Operation } from '@coinrack/contract/operation.ts'
import { z } from 'zod'

/** The answer of a handler as it stands on the wire. */
export function encodeOutput(op: Operation, output: unknown): Record<string, unknown> {
  if (!op.list) return z.encode(op.output, output as never) as Record<string, unknown>
  const page = output as { items: never[]; nextCursor?: string }
  return {
    items: page.items.map((item) => z.encode(op.output, item)),
    ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }),
  }
}

/** The answer for a delegate, without the owner's payments. */
export function withoutBilling({
  billing: _billing,
  ...body
}: Record<string, unknown>): Record<string, unknown> {
  const { service } = body
  return typeof service === 'object' && service !== null
    ? { ...body, service: withoutBilling(service as Record<string, unknown>) }
    : body
}
