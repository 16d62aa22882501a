import type { OperationName } from '@coinrack/contract/index.ts'
import type { AskedCall } from '../platform/approval-needed.ts'
import type { Caller } from './handler.ts'
import { hashInput } from './idempotency.ts'

/**
 * A call as a person approves it: the same for the same input. Few calls are asked for, so the digest is made when it is
 * read. A call of a program is one of the token that runs it: the program's own is over before a person has decided.
 * @param input as it was sent, with the identifier that was left out
 */
export const askedCall = (
  operation: OperationName,
  input: Record<string, unknown>,
  caller: Caller | undefined,
): AskedCall => ({
  tokenId: caller?.kind === 'program' ? caller.lineage.at(-2) : caller?.tokenId,
  operation,
  get digest() {
    return hashInput({ operation, input })
  },
})
