import type { Operation } from '@coinrack/contract/operation.ts'

/** One call on its way out: what is asked, as it stands on the wire. */
export interface Ask {
  operation: Operation
  input: Record<string, unknown>
  headers: Record<string, string>
  signal: AbortSignal | undefined
}

/** The answer that came back, whatever its status. */
export interface Reply {
  status: number
  headers: Headers
  /** Parsed; undefined when it was no JSON. */
  body: unknown
}

/** Sends a call and brings back the reply. Each `with-*.ts` wraps one into another that does one thing more. */
export type Send = (ask: Ask) => Promise<Reply>

/** Whether the call, as it is now, can be made twice and has the effect of one. */
export const isRepeatable = ({ operation, headers }: Ask) =>
  operation.method === 'GET' || operation.idempotent || 'idempotency-key' in headers
