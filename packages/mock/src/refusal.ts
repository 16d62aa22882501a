import { type ErrorCode, errors } from '@coinrack/contract/errors.ts'

/** The service refuses, as the contract knows it. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: ErrorCode
  readonly fields: Record<string, unknown>

  /** @param fields stand in the body beside the message, as on the wire */
  constructor(code: ErrorCode, message: string, fields: Record<string, unknown> = {}) {
    super(message)
    this.code = code
    this.fields = fields
  }

  get status(): number {
    return errors[this.code].status
  }

  /** The body on the wire. */
  body(requestId: string): Record<string, unknown> {
    const known = errors[this.code]
    return {
      message: this.message,
      code: this.code,
      fix: known.fix,
      next_steps: [],
      request_id: requestId,
      ...('retryAfter' in known ? { retry_after: known.retryAfter } : {}),
      ...this.fields,
    }
  }
}
