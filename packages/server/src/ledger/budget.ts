import type { Queryable, Transaction } from '../database/transaction.ts'
import type { Asking } from '../platform/approval-needed.ts'
import { budgetExceeded, type HolderOfBudget } from '../platform/budget-exceeded.ts'
import { demandApproval, takeApproval } from './approval.ts'
import { judgeBudgets, leftOf } from './judge-budgets.ts'
import { judgeLimits } from './judge-limits.ts'

/** A charge that is about to be made for a token. */
export interface TokenCharge {
  tokenId: string
  /** micro-USD */
  amount: bigint
  at: Date
  /** For a new machine: the cap that counts it, and the number of live ones of a token and all its descendants. */
  machine?: { cap: 'max_live_vps' | 'max_live_sandboxes'; live(tokenId: string): Promise<bigint> }
  /** The call that asks for it, which a person can approve; undefined in the background. */
  asking?: Asking | undefined
  /** The invoice that is paid, which may have been approved. */
  invoiceId?: string | undefined
  /** For a renewal in the background: the token by which it renews itself, whose limits for approvals count too. */
  renewerId?: string | null | undefined
}

/** The amounts that a charge counts for a token, in micro-USD. */
export interface Spent {
  amount: bigint
  /** The part of it that no person has approved. */
  unapproved: bigint
}

/**
 * Checks a charge against the budgets of a token and of all its ancestors, and against the limits above which a person has
 * to approve it. The customer's balance must be locked, so that the result holds until the transaction ends, and of two
 * concurrent charges the second sees the first.
 * @returns the approval that it would use up; undefined when it needs none
 * @throws OperationError `budget_exceeded`, `approval_needed`
 */
export async function checkBudget(tx: Transaction, charge: TokenCharge): Promise<string | undefined> {
  const holders = await demandBudget(tx, charge)
  return demandApproval(tx, charge, await withRenewer(tx, charge, holders))
}

/**
 * The same against the budgets alone.
 * @returns the token and all its ancestors, for which the charge counts
 * @throws OperationError `budget_exceeded`
 */
export async function demandBudget(tx: Transaction, charge: TokenCharge): Promise<HolderOfBudget[]> {
  const holders = await holdersOf(tx, charge)
  for (const holder of holders) {
    if (charge.machine && holder[charge.machine.cap] !== null) {
      holder.live = await charge.machine.live(holder.token_id)
    }
  }
  const refusal = judgeBudgets(holders, charge.amount, charge.machine?.cap)
  if (refusal) throw budgetExceeded(refusal)
  return holders
}

/** The holders of the limits for approvals that count for a charge. */
async function withRenewer(
  tx: Transaction,
  { renewerId, tokenId, at }: TokenCharge,
  holders: HolderOfBudget[],
): Promise<HolderOfBudget[]> {
  if (!renewerId || renewerId === tokenId) return holders
  const known = new Set(holders.map(({ token_id }) => token_id))
  const others = await holdersOf(tx, { tokenId: renewerId, at })
  return [...holders, ...others.filter(({ token_id }) => !known.has(token_id))]
}

/**
 * Counts a charge for a token and all its ancestors, in the transaction that charges or holds it, and uses its approval
 * up if it needs one. The customer's balance must be locked.
 * @returns the tokens that it was counted for, to pass to `returnToBudget`, and the approval
 * @throws OperationError `budget_exceeded`, `approval_needed`
 */
export async function spendBudget(
  tx: Transaction,
  charge: TokenCharge,
): Promise<{ counted: string[]; approvalId: string | undefined }> {
  const holders = await demandBudget(tx, charge)
  const limited = await withRenewer(tx, charge, holders)
  const approvalId = await takeApproval(tx, charge, limited)
  const counted = holders.map(({ token_id }) => token_id)
  const unapproved = approvalId === undefined ? charge.amount : 0n
  await countSpending(
    tx,
    new Map(
      limited.map(({ token_id }) => [
        token_id,
        { amount: counted.includes(token_id) ? charge.amount : 0n, unapproved },
      ]),
    ),
    charge.at,
  )
  return { counted, approvalId }
}

/**
 * Counts the sums of each token, regardless of budgets: also what usage in the past has cost. A negative sum gives back
 * what was counted before. The balance of each token's customer must be locked.
 */
export async function countSpending(
  tx: Transaction,
  spent: ReadonlyMap<string, Spent>,
  at: Date,
): Promise<void> {
  await tx.query({
    name: 'ledger_count_spending',
    text: `insert into token_spending as spending (token_id, total, day, today, unapproved, unapproved_day)
     select token_id, amount, $3::date, amount, unapproved, $3::date
     from unnest($1::text[], $2::bigint[], $4::bigint[]) as spent (token_id, amount, unapproved)
     order by token_id
     on conflict (token_id) do update set
       total = spending.total + excluded.total,
       today = case when spending.day = $3 then spending.today else 0 end + excluded.today,
       day = $3,
       -- What was held yesterday is given back to a day that is over.
       unapproved = greatest(0, case when spending.unapproved_day = $3 then spending.unapproved else 0 end + excluded.unapproved),
       unapproved_day = $3`,
    values: [
      [...spent.keys()],
      [...spent.values()].map(({ amount }) => amount),
      dayOf(at),
      [...spent.values()].map(({ unapproved }) => unapproved),
    ],
  })
}

/** The amounts that a token may still be charged, in micro-USD; undefined without such a cap. Negative: too much was. */
export interface LeftToSpend {
  budget: bigint | undefined
  /** What is left of this day without the approval of a person. */
  unapproved: bigint | undefined
}

/** The amounts that the budgets of these tokens leave them now; tokens without a cap on money are omitted. */
export async function leftOfBudgets(
  db: Queryable,
  tokenIds: readonly string[],
  at: Date,
): Promise<Map<string, LeftToSpend>> {
  type Row = Parameters<typeof leftOf>[0] & { token_id: string; unapproved_left: bigint | null }
  const { rows } = await db.query<Row>({
    name: 'ledger_left_of_budgets',
    text: `select budget.token_id, per_day, budget.total, coalesce(spending.total, 0)::bigint as spent,
       coalesce(case when spending.day = $2 then spending.today end, 0)::bigint as spent_today,
       approve_per_day - coalesce(case when spending.unapproved_day = $2 then spending.unapproved end, 0)::bigint as unapproved_left
     from token_budget budget left join token_spending spending on spending.token_id = budget.token_id
     where budget.token_id = any($1)`,
    values: [tokenIds, dayOf(at)],
  })
  return new Map(
    rows.flatMap(({ token_id, unapproved_left, ...holder }): [string, LeftToSpend][] => {
      const left = { budget: leftOf(holder), unapproved: unapproved_left ?? undefined }
      return left.budget === undefined && left.unapproved === undefined ? [] : [[token_id, left]]
    }),
  )
}

/**
 * Whether a charge in the background is within the budgets of a token and all its ancestors, and below the limits above
 * which a person has to approve. The customer's balance must be locked.
 */
export async function judgeSpending(
  tx: Transaction,
  charge: Omit<TokenCharge, 'machine' | 'asking'>,
): Promise<'within' | 'budget' | 'approval'> {
  const holders = await holdersOf(tx, charge)
  if (judgeBudgets(holders, charge.amount)) return 'budget'
  return judgeLimits(await withRenewer(tx, charge, holders), charge.amount) ? 'approval' : 'within'
}

/**
 * Returns to the budgets an amount that was counted at a moment, since it was held and never charged.
 * @param unapproved the part of it that no person had approved
 */
export async function returnToBudget(
  tx: Transaction,
  counted: string[],
  { amount, unapproved }: Spent,
  at: Date,
): Promise<void> {
  if (counted.length === 0) return
  await tx.query(
    `update token_spending set total = total - $2, today = case when day = $3 then today - $2 else today end,
       unapproved = case when unapproved_day = $3 then greatest(0, unapproved - $4) else unapproved end
     where token_id = any($1)`,
    [counted, amount, dayOf(at), unapproved],
  )
}

/** A token and all its ancestors, the highest first, with their caps and what they have spent. */
export async function holdersOf(
  db: Queryable,
  { tokenId, at }: Pick<TokenCharge, 'tokenId' | 'at'>,
): Promise<HolderOfBudget[]> {
  const { rows } = await db.query<HolderOfBudget>(
    `select token.id as token_id, token.parent_id, token.is_umbrella, token.kind, max_per_charge, per_day, budget.total,
       max_live_vps, max_live_sandboxes, coalesce(allow_auto_renew, true) as allow_auto_renew,
       coalesce(spending.total, 0)::bigint as spent,
       coalesce(case when spending.day = $2 then spending.today end, 0)::bigint as spent_today, 0::bigint as live,
       case when budget.token_id is null then 0 else (
         select coalesce(sum(held), 0) from sandbox
         where sandbox.account_id = token.account_id and (state in ('starting', 'running') or wanted = 'running')
           and token.id = any(counted_for)
       ) end::bigint as ahead,
       approve_per_call, approve_per_day,
       coalesce(case when spending.unapproved_day = $2 then spending.unapproved end, 0)::bigint as unapproved_today
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
