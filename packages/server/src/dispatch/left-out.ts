import { type OperationName, operations } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import type { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import type { Request } from './dispatch.ts'
import type { Caller } from './handler.ts'
import { storedAnswer } from './idempotency.ts'
import { findOnlyOne, isFoundAlone } from './only-one.ts'

/** For a call without the identifier of a resource that can be found alone: what it means, or how it is refused. */
export async function findLeftOut(
  services: Services,
  name: OperationName,
  { resourceId }: Request,
  { accountId }: Caller,
): Promise<string | OperationError | undefined> {
  const { resource, delegable }: Operation = operations[name]
  if (resourceId !== undefined || !isFoundAlone(resource)) return undefined
  return findOnlyOne(services, { resource, delegable }, { accountId, tool: toolName(name) })
}

/** The answer that a write with this key was given before, if it was: as it was sent, without an identifier. */
export async function earlierAnswer(
  services: Services,
  name: OperationName,
  { idempotencyKey: key, input }: Request,
  { accountId, tokenId }: Caller,
): Promise<Record<string, unknown> | undefined> {
  if (operations[name].method === 'GET' || typeof key !== 'string') return undefined
  return storedAnswer(services.db, services, { accountId, tokenId, key, operation: name, input: input() })
}
