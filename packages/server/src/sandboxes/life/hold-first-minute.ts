import { HELD_MS, meteredCost } from '@coinrack/money/index.ts'
import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import { takeApproval } from '../../ledger/approval.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { countSpending, demandBudget } from '../../ledger/budget.ts'
import { judgeBalance } from '../../ledger/judge-balance.ts'
import { post } from '../../ledger/post.ts'
import type { AskedCall } from '../../platform/approval-needed.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { askingToRun, costUntilTimeout, heldUnapproved } from './approved-cost.ts'
import { liveSandboxesOf } from './sandbox-store.ts'

/** Announced when one is about to run, so that those who tend and meter what runs do not wait for their time. */
export const SANDBOX_STARTS = 'sandbox-starts'

/** Something that is about to run. */
interface Starting {
  id: string
  accountId: string
  /** The token whose budget it counts for. */
  tokenId: string
  /** The call that starts it. */
  asked: AskedCall
  tariff: string
  priceHourly: bigint
  timeoutS: number
  /** What is left of the amount that a person approved for it before, in micro-USD. */
  approved: bigint
  /** One more than there were. */
  isNew: boolean
}

/**
 * Locks the balance and reserves the first minute of something that is about to run. A person has to approve what it costs
 * until its timeout, where that is above a limit.
 * @returns the hold in micro-USD, whose budgets it counts for, and what is left of the amount that a person approved
 * @throws OperationError `insufficient_balance`, `account_owes`, `budget_exceeded`, `approval_needed`
 */
export async function holdFirstMinute(
  tx: Transaction,
  { clock, newId }: Services,
  starting: Starting,
): Promise<{ held: bigint; counted: string[]; approved: bigint }> {
  const { id, accountId, tokenId, priceHourly, isNew } = starting
  const balance = await lockBalance(tx, accountId)
  const held = meteredCost(priceHourly, HELD_MS)
  const at = clock.now()
  const holders = await demandBudget(tx, {
    tokenId,
    amount: held,
    at,
    ...(isNew && {
      machine: { cap: 'max_live_sandboxes', live: (holder: string) => liveSandboxesOf(tx, holder) },
    }),
  })
  const amount = costUntilTimeout(starting)
  const approvalId = await takeApproval(tx, { amount, at, asking: askingToRun(starting) }, holders)
  const approved = approvalId === undefined ? starting.approved : amount
  const counted = holders.map(({ token_id }) => token_id)
  const unpaid = judgeBalance(balance, held, 'the first minute of this sandbox')
  if (unpaid) {
    throw new OperationError(unpaid.code, unpaid.message, { fields: unpaid.fields })
  }
  await post(tx, {
    id: newId('transaction'),
    kind: 'usage',
    accountId,
    description: `Held for the next minute of sandbox ${id}`,
    postings: [{ from: 'customer.available', to: 'customer.held', amount: held }],
    at,
  })
  // What is held counts too, so that of many that start at once each sees the others.
  const unapproved = heldUnapproved(held, approved)
  await countSpending(tx, new Map(counted.map((tokenId) => [tokenId, { amount: 0n, unapproved }])), at)
  await announce(tx, SANDBOX_STARTS)
  return { held, counted, approved }
}
