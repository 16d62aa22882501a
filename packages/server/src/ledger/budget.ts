import type { Queryable, Transaction } from '../database/transaction.ts'
import { budgetExceeded, type HolderOfBudget } from '../platform/budget-exceeded.ts'
import { judgeBudgets, leftOf } from './judge-budgets.ts'

/** A charge that is about to be made for a token. */
export interface TokenCharge {
  tokenId: string
  /** micro-USD */
  amount: bigint
  at: Date
  /** For a new machine: the cap that counts it, and the number of live ones of a token and all its descendants. */
  machine?: { cap: 'max_live_vps' | 'max_live_sandboxes'; live(tokenId: string): Promise<bigint> }
}

/**
 * Checks a charge against the budgets of a token and of all its ancestors. The customer's balance must be locked, so that
 * the result holds until the transaction ends, and of two concurrent charges the second sees the first.
 * @returns the tokens that the charge counts for: the token and all its ancestors
 * @throws OperationError `budget_exceeded`
 */
export async function checkBudget(tx: Transaction, charge: TokenCharge): Promise<string[]> {
  const holders = await holdersOf(tx, charge)
  for (const holder of holders) {
    if (charge.machine && holder[charge.machine.cap] !== null) {
      holder.live = await charge.machine.live(holder.token_id)
    }
  }
  const refusal = judgeBudgets(holders, charge.amount, charge.machine?.cap)
  if (refusal) throw budgetExceeded(refusal)
  return holders.map(({ token_id }) => token_id)
}

/**
 * Counts a charge for a token and all its ancestors, in the transaction that charges or holds it. The customer's balance
 * must be locked.
 * @returns the tokens that it was counted for, to pass to `returnToBudget`
 * @throws OperationError `budget_exceeded`
 */
export async function spendBudget(tx: Transaction, charge: TokenCharge): Promise<string[]> {
  const counted = await checkBudget(tx, charge)
  await countSpending(tx, new Map(counted.map((tokenId) => [tokenId, charge.amount])), charge.at)
  return counted
}

/**
 * Counts the sum that was charged for each token, regardless of budgets, since it is for usage in the past. The balance
 * of each token's customer must be locked.
 */
export async function countSpending(
  tx: Transaction,
  spent: ReadonlyMap<string, bigint>,
  at: Date,
): Promise<void> {
  await tx.query({
    name: 'ledger_count_spending',
    text: `insert into token_spending as spending (token_id, total, day, today)
     select token_id, amount, $3::date, amount from unnest($1::text[], $2::bigint[]) as spent (token_id, amount)
     order by token_id
     on conflict (token_id) do update set
       total = spending.total + excluded.total,
       today = case when spending.day = $3 then spending.today + excluded.today else excluded.today end,
       day = $3`,
    values: [[...spent.keys()], [...spent.values()], dayOf(at)],
  })
}

/** The amounts that the budgets of these tokens leave them now; tokens without a cap on money are omitted. */
export async function leftOfBudgets(
  db: Queryable,
  tokenIds: readonly string[],
  at: Date,
): Promise<Map<string, bigint>> {
  const { rows } = await db.query<Parameters<typeof leftOf>[0] & { token_id: string }>({
    name: 'ledger_left_of_budgets',
    text: `select budget.token_id, per_day, budget.total, coalesce(spending.total, 0)::bigint as spent,
       coalesce(case when spending.day = $2 then spending.today end, 0)::bigint as spent_today
     from token_budget budget left join token_spending spending on spending.token_id = budget.token_id
     where budget.token_id = any($1)`,
    values: [tokenIds, dayOf(at)],
  })
  return new Map(
    rows.flatMap(({ token_id, ...holder }): [string, bigint][] => {
      const left = leftOf(holder)
      return left === undefined ? [] : [[token_id, left]]
    }),
  )
}

/** Whether a charge is within the budgets of a token and all its ancestors. The customer's balance must be locked. */
export async function isWithinBudget(
  tx: Transaction,
  charge: Omit<TokenCharge, 'machine'>,
): Promise<boolean> {
  return judgeBudgets(await holdersOf(tx, charge), charge.amount) === undefined
}

/** Returns to the budgets an amount that was counted at a moment, since it was held and never charged. */
export async function returnToBudget(
  tx: Transaction,
  counted: string[],
  amount: bigint,
  at: Date,
): Promise<void> {
  if (counted.length === 0) return
  await tx.query(
    `update token_spending set total = total - $2, today = case when day = $3 then today - $2 else today end
     where token_id = any($1)`,
    [counted, amount, dayOf(at)],
  )
}

/** A token and all its ancestors, the highest first, with their caps and what they have spent. */
export async function holdersOf(
  db: Queryable,
  { tokenId, at }: Pick<TokenCharge, 'tokenId' | 'at'>,
): Promise<HolderOfBudget[]> {
  const { rows } = await db.query<HolderOfBudget>(
    `select token.id as token_id, token.parent_id, token.is_umbrella, max_per_charge, per_day, budget.total,
       max_live_vps, max_live_sandboxes, coalesce(allow_auto_renew, true) as allow_auto_renew,
       coalesce(spending.total, 0)::bigint as spent,
       coalesce(case when spending.day = $2 then spending.today end, 0)::bigint as spent_today, 0::bigint as live
     from token
     left join token_budget budget on budget.token_id = token.id
     left join token_spending spending on spending.token_id = token.id
     where token.id = any((select unnest(lineage) from token where id = $1))
     order by cardinality(lineage)`,
    [tokenId, dayOf(at)],
  )
  return rows
}

/** The day in UTC. */
export const dayOf = (at: Date) => at.toISOString().slice(0, 10)
