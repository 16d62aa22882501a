import { type ErrorCode, errors } from '@coinrack/contract/errors.ts'
import type { ErrorBody, NextStep } from '@coinrack/contract/wire.ts'

export interface ErrorOptions {
  /** Fields that stand in the body beside the message, as on the wire. */
  fields?: Record<string, unknown>
  nextSteps?: NextStep[]
  /** What the handler wrote is kept: the refusal itself has an effect, such as an open invoice. */
  keepEffects?: boolean
  headers?: Record<string, string>
  /** Seconds, for 429 and 503. */
  retryAfter?: number
}

/** A refusal that the contract knows. Anything else that is thrown is our fault, and answers 500. */
export class OperationError extends Error {
  override readonly name = 'OperationError'
  readonly code: ErrorCode
  readonly options: ErrorOptions

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message)
    this.code = code
    this.options = options
  }

  get status(): number {
    return errors[this.code].status
  }
}

/** What to call after a failure, where that follows from the code alone. */
const nextSteps: Partial<Record<ErrorCode, NextStep[]>> = {
  unauthorized: [
    { tool: 'register_account', why: 'Get a token for a new account' },
    { tool: 'login', why: 'Get a token for an account with a password' },
  ],
  invalid_credentials: [{ tool: 'request_login_code', why: 'Log in with a code by mail' }],
  invalid_code: [{ tool: 'request_login_code', why: 'Get a new code' }],
  email_taken: [{ tool: 'request_login_code', why: 'Log in with a code by mail' }],
  insufficient_balance: [{ tool: 'topup_balance', why: 'Add money to the balance' }],
  account_owes: [{ tool: 'topup_balance', why: 'Pay what is owed' }],
  not_found: [{ tool: 'list_vps', why: 'See the services that you have' }],
  unknown_product: [{ tool: 'list_plans', why: 'See the plans' }],
  os_not_supported: [{ tool: 'list_plans', why: 'See the OS images of each plan' }],
  capacity: [{ tool: 'list_plans', why: 'See what is available' }],
}

export function errorBody(error: OperationError, requestId: string): ErrorBody {
  return {
    message: error.message,
    code: error.code,
    fix: errors[error.code].fix,
    next_steps: error.options.nextSteps ?? nextSteps[error.code] ?? [],
    request_id: requestId,
    ...error.options.fields,
  }
}
