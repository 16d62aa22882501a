import { type ErrorCode, errors } from '@coinrack/contract/errors.ts'
import type { ErrorBody, NextStep } from '@coinrack/contract/wire.ts'

/** The advice for a 402 that has an invoice. */
export const PAY_INVOICE =
  'Pay the invoice at its checkout_url, or top up with topup_balance and repeat the call.'

/** The same, where it also says what to sign. */
export const SIGN_OR_PAY_INVOICE = `Sign one of "accepts" and repeat the call with it: in PAYMENT-SIGNATURE, as a tool in _meta["x402/payment"]. Or: ${PAY_INVOICE}`

export interface ErrorOptions {
  /** Fields that stand in the body beside the message, as on the wire. */
  fields?: Record<string, unknown>
  nextSteps?: NextStep[]
  /** The advice on what to do, where that depends on more than the code. */
  fix?: string
  /** Keeps what the handler wrote: the refusal itself has an effect, such as an open invoice. */
  keepEffects?: boolean
  headers?: Record<string, string | string[]>
  /** Seconds, for 429 and 503, where they are known better than the contract knows them for the code. */
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

  /** Whole seconds to wait: with 429 and 503 always, in the header Retry-After and as `retry_after` in the body. */
  get retryAfter(): number | undefined {
    const known = errors[this.code]
    const seconds = this.options.retryAfter ?? ('retryAfter' in known ? known.retryAfter : undefined)
    return seconds === undefined ? undefined : Math.max(1, Math.ceil(seconds))
  }
}

const logInAgain = [
  {
    tool: 'request_login_code',
    why: 'Prove the mailbox; verify_login_code gives a token of a login then',
  },
]
const seePorts = [{ tool: 'list_exposed_ports', why: 'See the ports that are exposed, with their addresses' }]
const askOperator = [{ tool: 'create_ticket', why: 'Ask the operator' }]

/** The operations to call after a failure, where they follow from the code alone. */
const nextSteps: Partial<Record<ErrorCode, NextStep[]>> = {
  unauthorized: [
    { tool: 'register_account', why: 'Get a token for a new account' },
    { tool: 'login', why: 'Get a token for an account with a password' },
  ],
  invalid_credentials: [{ tool: 'request_login_code', why: 'Log in with a code by mail' }],
  invalid_wallet_login: [{ tool: 'request_wallet_challenge', why: 'Get a new message to sign' }],
  invalid_code: [{ tool: 'request_login_code', why: 'Get a new code' }],
  proof_too_old: [{ tool: 'request_login_code', why: 'Prove the mailbox by a new code' }],
  scope_missing: [{ tool: 'whoami', why: 'See the scopes of this token' }, ...logInAgain],
  token_not_below: [{ tool: 'list_tokens', why: 'See which token is above which' }, ...logInAgain],
  child_token: logInAgain,
  budget_exceeded: [{ tool: 'whoami', why: 'See the budget of this token, and what is left of it' }],
  not_found: [{ tool: 'get_started', why: 'See what there is' }],
  email_taken: [{ tool: 'request_login_code', why: 'Log in with a code by mail' }],
  email_set: [{ tool: 'whoami', why: 'See the address' }],
  insufficient_balance: [{ tool: 'topup_balance', why: 'Add money to the balance, then repeat the call' }],
  account_owes: [{ tool: 'topup_balance', why: 'Pay what is owed' }],
  payment_insufficient_funds: [
    { tool: 'topup_balance', why: 'Or pay an invoice from any wallet or exchange' },
  ],
  payment_method_unavailable: [
    { tool: 'topup_balance', why: 'Get an invoice: its payment_options are what can be paid' },
  ],
  invoice_closed: [{ tool: 'list_invoices', why: 'See your invoices' }],
  topup_by_crypto_only: [{ tool: 'list_invoices', why: 'See its checkout_url' }],
  refund_other_chain: [
    {
      tool: 'list_transactions',
      why: 'See on which networks money came, and in which tokens; get_refund_terms needs one of them',
    },
  ],
  refund_repeated: [{ tool: 'list_refunds', why: 'See the refund that this signature was for' }],
  unknown_product: [{ tool: 'list_plans', why: 'See the plans' }],
  os_not_supported: [{ tool: 'list_plans', why: 'See the OS images of each plan' }],
  price_above_maximum: [{ tool: 'list_plans', why: 'See the prices' }],
  unknown_template: [
    { tool: 'list_sandbox_templates', why: 'See your templates, and their tariffs' },
    { tool: 'list_sandbox_snapshots', why: 'See the snapshots that are ready, and their tariffs' },
  ],
  unknown_language: [
    {
      tool: 'create_sandbox',
      why: 'Start one that has the interpreters',
      arguments: { template: 'code-interpreter' },
    },
  ],
  network_unavailable: [
    {
      tool: 'create_sandbox',
      why: 'Start one without a network',
      arguments: { network: { allow_internet: false } },
    },
  ],
  ssh_key_limit: [{ tool: 'list_ssh_keys', why: 'See which key can be deleted' }],
  invalid_ssh_key: [{ tool: 'list_ssh_keys', why: 'See the stored keys: ssh_key takes the id of one' }],
  token_limit: [{ tool: 'list_tokens', why: 'See which token can be revoked' }],
  delegation_limit: [{ tool: 'list_delegations', why: 'See which delegation can be revoked' }],
  ticket_limit: [{ tool: 'list_tickets', why: 'See which ticket can be closed' }],
  webhook_limit: [{ tool: 'list_webhooks', why: 'See which webhook can be deleted' }],
  sandbox_snapshot_limit: [{ tool: 'list_sandbox_snapshots', why: 'See which snapshot can be deleted' }],
  template_exists: [{ tool: 'list_sandbox_templates', why: 'See your templates' }],
  template_limit: [{ tool: 'list_sandbox_templates', why: 'See which template can be deleted' }],
  review_exists: [{ tool: 'list_reviews', why: 'See the reviews that are shown' }],
  review_needs_order: [{ tool: 'list_plans', why: 'See what can be ordered' }],
  no_own_address: [{ tool: 'list_plans', why: 'See the plans whose network is dedicated' }],
  rdns_unavailable: askOperator,
  preview_blocked: askOperator,
  preview_closed: seePorts,
  preview_token_missing: seePorts,
  port_refused: [{ tool: 'list_tasks', why: 'See whether the server on that port still runs' }],
  mail_unavailable: [{ tool: 'login', why: 'Log in with a password, where one is set' }],
}

export function errorBody(error: OperationError, requestId: string): ErrorBody {
  const { fields, fix, nextSteps: steps } = error.options
  const { retryAfter } = error
  return {
    message: error.message,
    code: error.code,
    fix: fix ?? errors[error.code].fix,
    next_steps: steps ?? nextSteps[error.code] ?? [],
    request_id: requestId,
    ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
    ...fields,
  }
}
