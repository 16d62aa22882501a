import { basePath } from '@coinrack/contract/index.ts'
import { databaseTrouble } from '../database/trouble.ts'
import { errorBody, OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import type { Answer } from './dispatch.ts'

/** Turns what was thrown into an answer. What the contract does not know is logged, and says nothing of itself. */
export function failureAnswer(services: Services, error: unknown, requestId: string): Answer {
  let known = error as OperationError
  if (!(error instanceof OperationError)) {
    services.log.error({ err: error, requestId }, 'A request failed')
    known =
      databaseTrouble(error) ?? new OperationError('internal', 'The service failed to answer this request')
  }
  const { retryAfter } = known
  return {
    status: known.status,
    body: errorBody(known, requestId),
    headers: {
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...(known.status === 401 ? { 'www-authenticate': `Bearer realm="${basePath}"` } : {}),
      ...(known.options.headers ?? {}),
    },
  }
}
