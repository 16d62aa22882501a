import type { OperationName } from '@coinrack/contract/index.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { OperationError } from './errors.ts'

/** The call that a charge is made for, by which a repeat of it is known. */
export interface AskedCall {
  /** Whose call it is, so that the approval is of use to no other token; undefined for a call that no token is behind. */
  tokenId: string | undefined
  operation: OperationName
  /** SHA-256 of the operation and its input. */
  digest: Buffer
}

/** What a person is asked to approve, beside its price. */
export interface Asking {
  call: AskedCall
  /** What the charge is for, in the words of a statement. */
  subject: string
  /** What is charged in addition, again and again, afterwards; in micro-USD. */
  afterwards?: { price: bigint; per: 'month' | 'hour' } | undefined
}

/** A limit above which a person has to approve, and what was used of it. In micro-USD. */
export interface PassedLimit {
  holderId: string
  kind: 'per_call' | 'per_day'
  limit: bigint
  used: bigint
}

/**
 * The refusal of a charge that a person has to approve. It says what it is refused for; who answers the call adds where it
 * can be approved (`approvals/ask-for-approval.ts`). Where no call asks for the charge, it is not made.
 */
export class ApprovalNeeded extends OperationError {
  readonly limit: PassedLimit
  /** micro-USD */
  readonly price: bigint
  readonly asking: Asking | undefined

  constructor(limit: PassedLimit, price: bigint, asking: Asking | undefined) {
    super('approval_needed', messageOf(limit, price), { fields: limitFields(limit, price) })
    this.limit = limit
    this.price = price
    this.asking = asking
  }
}

const messageOf = ({ holderId, kind, limit, used }: PassedLimit, price: bigint) =>
  kind === 'per_call'
    ? `${formatUsd(price)} USD is above ${formatUsd(limit)} USD, what the token ${holderId} may spend in one call without the approval of the account's owner`
    : `${formatUsd(price)} USD and the ${formatUsd(used)} USD of this day are above ${formatUsd(limit)} USD, what the token ${holderId} may spend in a day without the approval of the account's owner`

/** The fields of the refusal that name the limit. */
export const limitFields = ({ holderId, kind, limit, used }: PassedLimit, price: bigint) => ({
  price: formatUsd(price),
  currency: 'USD',
  limit: { token_id: holderId, kind, above: formatUsd(limit), used: formatUsd(used) },
})
