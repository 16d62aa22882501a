import type { Transaction } from '../database/transaction.ts'
import { ApprovalNeeded, type Asking } from '../platform/approval-needed.ts'
import type { HolderOfBudget } from '../platform/budget-exceeded.ts'
import { liveApproval, useApproval } from './approval-store.ts'
import { judgeLimits } from './judge-limits.ts'

/** A charge that may be above the limits of its token. */
interface LimitedCharge {
  tokenId: string
  /** micro-USD */
  amount: bigint
  at: Date
  /** The call that asks for it; undefined for what is charged in the background, which nobody can approve. */
  asking?: Asking | undefined
}

/**
 * Looks for the approval of a charge that is above a limit. The customer's balance must be locked. An approval is for one
 * call of one token, up to its price.
 * @param holders whose limits count, the highest first
 * @returns its id; undefined when the charge needs none
 * @throws ApprovalNeeded
 */
export async function demandApproval(
  tx: Transaction,
  charge: LimitedCharge,
  holders: readonly HolderOfBudget[],
): Promise<string | undefined> {
  const limit = judgeLimits(holders, charge.amount)
  if (!limit) return undefined
  const { tokenId, asking, amount, at } = charge
  const found = asking && (await liveApproval(tx, tokenId, asking.call, at))
  if (found?.status === 'approved' && found.price >= amount) return found.id
  throw new ApprovalNeeded(limit, amount, asking)
}

/**
 * The same, and uses the approval up, in the transaction of the charge that it is for.
 * @throws ApprovalNeeded
 */
export async function takeApproval(
  tx: Transaction,
  charge: LimitedCharge,
  holders: readonly HolderOfBudget[],
): Promise<string | undefined> {
  const id = await demandApproval(tx, charge, holders)
  // The lock of the balance is held by every charge of the account, and none but a charge uses an approval up.
  if (id !== undefined && !(await useApproval(tx, id, charge.at)))
    throw new Error(`The approval ${id} was used without the lock of the balance`)
  return id
}
