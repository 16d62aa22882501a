import { HELD_MS, meteredCost } from '@coinrack/money/index.ts'
import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { checkBudget } from '../../ledger/budget.ts'
import { judgeBalance } from '../../ledger/judge-balance.ts'
import { post } from '../../ledger/post.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { liveSandboxesOf } from './sandbox-store.ts'

/** Announced when one is about to run, so that those who tend and meter what runs do not wait for their time. */
export const SANDBOX_STARTS = 'sandbox-starts'

/** Something that is about to run. */
interface Starting {
  id: string
  accountId: string
  /** The token whose budget it counts for. */
  tokenId: string
  priceHourly: bigint
  /** One more than there were. */
  isNew: boolean
}

/**
 * Locks the balance and reserves the first minute of something that is about to run.
 * @returns the hold in micro-USD, and whose budgets it counts for
 * @throws OperationError `insufficient_balance`, `account_owes`, `budget_exceeded`
 */
export async function holdFirstMinute(
  tx: Transaction,
  { clock, newId }: Services,
  { id, accountId, tokenId, priceHourly, isNew }: Starting,
): Promise<{ held: bigint; counted: string[] }> {
  const balance = await lockBalance(tx, accountId)
  const held = meteredCost(priceHourly, HELD_MS)
  const at = clock.now()
  const counted = await checkBudget(tx, {
    tokenId,
    amount: held,
    at,
    ...(isNew && {
      machine: { cap: 'max_live_sandboxes', live: (holder: string) => liveSandboxesOf(tx, holder) },
    }),
  })
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
  await announce(tx, SANDBOX_STARTS)
  return { held, counted }
}
