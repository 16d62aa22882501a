import type { Transaction } from '../database/transaction.ts'
import { ApprovalNeeded, type Asking } from '../platform/approval-needed.ts'
import type { HolderOfBudget } from '../platform/budget-exceeded.ts'
import { approvalOfInvoice, liveApproval, useApproval } from './approval-store.ts'
import { judgeLimits } from './judge-limits.ts'

/** A charge that may be above the limits of its token. */
interface LimitedCharge {
  /** micro-USD */
  amount: bigint
  at: Date
  /** The call that asks for it; undefined for what is charged in the background. */
  asking?: Asking | undefined
  /** The invoice that is paid, which may have been approved. */
  invoiceId?: string | undefined
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
  const { asking, amount, invoiceId, at } = charge
  // Used up whoever pays the invoice, so that the approved call cannot be made once more.
  const ofInvoice = invoiceId === undefined ? undefined : await approvalOfInvoice(tx, invoiceId, at)
  if (ofInvoice && ofInvoice.price >= amount) return ofInvoice.id
  const limit = judgeLimits(holders, amount)
  if (!limit) return undefined
  const found = asking && (await liveApproval(tx, asking.call, at))
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
