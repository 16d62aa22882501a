import type { operations } from '@coinrack/contract/index.ts'
import type { Input } from '@coinrack/contract/operation.ts'
import type { Transaction } from '../database/transaction.ts'
import { holdersOf } from '../ledger/budget.ts'
import { judgeChildBudget } from '../ledger/judge-budgets.ts'
import { budgetExceeded } from '../platform/budget-exceeded.ts'
import type { BudgetRow } from './token-store.ts'

type BudgetInput = NonNullable<Input<(typeof operations)['createToken']>['budget']>

/**
 * A budget that was asked for, as it is stored: never more than the tokens above it have.
 * @param parentId undefined for a grant, which stands directly under the account
 * @throws OperationError `budget_exceeded`
 */
export async function childBudget(
  tx: Transaction,
  parentId: string | undefined,
  input: BudgetInput,
  at: Date,
): Promise<BudgetRow> {
  const holders = parentId === undefined ? [] : await holdersOf(tx, { tokenId: parentId, at })
  const countOf = (value: number | undefined) => (value === undefined ? null : BigInt(value))
  const budget: BudgetRow = {
    max_per_charge: input.max_per_charge ?? null,
    per_day: input.per_day ?? null,
    total: input.total ?? null,
    max_live_vps: countOf(input.max_live_vps),
    max_live_sandboxes: countOf(input.max_live_sandboxes),
    allow_auto_renew: input.allow_auto_renew && holders.every((holder) => holder.allow_auto_renew),
    approve_per_call: input.approve_above?.per_call ?? null,
    approve_per_day: input.approve_above?.per_day ?? null,
  }
  const refusal = judgeChildBudget(holders, budget)
  if (refusal) throw budgetExceeded(refusal)
  return budget
}
