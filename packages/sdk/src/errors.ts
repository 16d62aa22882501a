import type { ErrorCode } from '@coinrack/contract/errors.ts'
import type { ErrorBody, NextStep } from '@coinrack/contract/wire.ts'

/**
 * The service refused. `code` is for programs, `message` and `fix` are for people; fields that one code has beside
 * these, such as the `invoice` of a 402, are in `body`.
 */
export class CoinrackError extends Error {
  override readonly name = 'CoinrackError'
  /** `unexpected_answer` when something between here and the service answered in its place. */
  readonly code: ErrorCode | 'unexpected_answer'
  readonly status: number
  readonly fix: string
  readonly nextSteps: NextStep[]
  readonly requestId: string | undefined
  /** Seconds, when the service said when to come back. */
  readonly retryAfter: number | undefined
  readonly body: Partial<ErrorBody>

  constructor(status: number, body: Partial<ErrorBody>, retryAfter?: number) {
    super(body.message ?? `The answer has status ${status} and is none of Coinrack's`)
    this.code = (body.code as ErrorCode | undefined) ?? 'unexpected_answer'
    this.status = status
    this.fix = body.fix ?? 'Check that the url of the client is that of a Coinrack service.'
    this.nextSteps = body.next_steps ?? []
    this.requestId = body.request_id
    this.retryAfter = retryAfter
    this.body = body
  }
}

/** No answer came: the service cannot be reached, or the connection broke. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  constructor(url: string, cause: unknown) {
    super(`No answer from ${url}: ${innermost(cause).message}`, { cause })
  }
}

/** The innermost cause, as the error of fetch itself says only that it failed. */
const innermost = (error: unknown): Error =>
  error instanceof Error && error.cause instanceof Error ? innermost(error.cause) : (error as Error)
