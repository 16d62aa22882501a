import type { ErrorCode } from '@coinrack/contract/errors.ts'
import { basePath, operations } from '@coinrack/contract/index.ts'
import type { ErrorBody } from '@coinrack/contract/wire.ts'
import { failureAnswer } from '../../dispatch/failure-answer.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'

/** A refusal in the form that E2B's clients read: they show `message`, and choose a class of error by the status. */
export interface Refusal {
  status: number
  message: string
  /** The code in the protocol of remote calls (https://connectrpc.com/docs/protocol#error-codes). */
  rpcCode: string
  headers: Record<string, string>
}

/** A refusal that is thrown. */
export class Refused extends Error {
  override name = 'Refused'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** Something that E2B's clients can ask for, and this service does not do. */
export class NotServed extends Error {
  override name = 'NotServed'
}

/** The statuses that E2B's own service has for them, where they differ from ours. */
const statuses: Partial<Record<ErrorCode, number>> = {
  not_owner: 404,
  invalid_input: 400,
  malformed_json: 400,
  unknown_template: 404,
  dockerfile_invalid: 400,
  unknown_context: 404,
  unknown_language: 400,
  task_refused: 400,
  file_refused: 400,
  // The edge in front of a sandbox answers so while that does not run: clients take it for "not running".
  sandbox_not_running: 502,
  sandbox_unreachable: 502,
  link_invalid: 401,
}

const rpcCodes: Record<number, string> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  402: 'failed_precondition',
  403: 'permission_denied',
  404: 'not_found',
  409: 'failed_precondition',
  413: 'invalid_argument',
  429: 'resource_exhausted',
  501: 'unimplemented',
  502: 'unavailable',
  503: 'unavailable',
  507: 'resource_exhausted',
}

const NO_SPACE = 'No space left on device'

/** What anything that was thrown is for E2B's clients. What is no refusal is logged, and says nothing of itself. */
export function refusalOf(services: Services, error: unknown, requestId: string): Refusal {
  if (error instanceof Refused) return error.refusal
  if (error instanceof NotServed) return refusal(501, error.message)
  const { body, headers } = failureAnswer(services, error, requestId)
  return toldRefusal(services, body as unknown as ErrorBody, headers)
}

/** What an operation refused, for E2B's clients. */
export function toldRefusal(
  { config }: Pick<Services, 'config'>,
  body: ErrorBody,
  headers: Record<string, string>,
): Refusal {
  const code = body.code as ErrorCode
  const status =
    code === 'file_refused' && body.message.includes(NO_SPACE)
      ? 507
      : (statuses[code] ?? new OperationError(code, '').status)
  return refusal(status, [body.message, adviceOn(config.publicUrl, code, body)].join(''), headers)
}

const refusal = (status: number, message: string, headers: Record<string, string> = {}): Refusal => ({
  status,
  message,
  rpcCode: rpcCodes[status] ?? 'internal',
  headers,
})

/** What to do, for a person who reads the message of an error and knows nothing of our operations. */
function adviceOn(publicUrl: string, code: ErrorCode, body: ErrorBody): string {
  switch (code) {
    case 'insufficient_balance':
    case 'account_owes': {
      const { method, path } = operations.topupBalance
      return `. Top up: ${method} ${publicUrl}${basePath}${path} (see ${publicUrl}/docs), then repeat the call`
    }
    case 'approval_needed':
      return `. The owner of the account approves it at ${String((body as { approval_url?: unknown }).approval_url)}; then repeat the call`
    case 'budget_exceeded':
      return `. The budget of this key can be raised at ${publicUrl}${basePath}/tokens by the token that made it`
    case 'sandbox_not_running':
      return '. Resume a paused one with Sandbox.connect; in place of one that has ended create another'
    default:
      return ''
  }
}

/** As clients read it in JSON. */
export const refusalBody = ({ status, message }: Pick<Refusal, 'status' | 'message'>) => ({
  code: status,
  message,
})
