import type { OperationName } from '@coinrack/contract/index.ts'
import type { AskedCall } from '../platform/approval-needed.ts'
import { hashInput } from './idempotency.ts'

/**
 * A call as a person approves it: the same for the same input. Few calls are asked for, so the digest is made when it is
 * read.
 * @param input as it was sent, with the identifier that was left out
 */
export const askedCall = (operation: OperationName, input: Record<string, unknown>): AskedCall => ({
  operation,
  get digest() {
    return hashInput({ operation, input })
  },
})
