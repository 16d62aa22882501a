import type {
  ApprovalCap,
  BudgetRefusal,
  HolderOfBudget,
  MachineCap,
  MoneyCap,
} from '../platform/budget-exceeded.ts'

type Cap = MoneyCap | MachineCap | 'approve_per_call' | 'approve_per_day'

/** The caps of a token, each with the name of its field. */
const CAPS: Record<Cap, MoneyCap | MachineCap | ApprovalCap> = {
  max_per_charge: 'max_per_charge',
  per_day: 'per_day',
  total: 'total',
  max_live_vps: 'max_live_vps',
  max_live_sandboxes: 'max_live_sandboxes',
  approve_per_call: 'approve_above.per_call',
  approve_per_day: 'approve_above.per_day',
}

/**
 * The first cap of a new budget that exceeds that of an ancestor token; undefined when there is none. A cap that the
 * budget omits is limited by those of the ancestors.
 * @param holders the ancestors of the new token, the highest first
 */
export function judgeChildBudget(
  holders: HolderOfBudget[],
  budget: Record<Cap, bigint | null>,
): BudgetRefusal | undefined {
  for (const [index, holder] of holders.entries()) {
    for (const [column, cap] of Object.entries(CAPS) as [Cap, BudgetRefusal['cap']][]) {
      const [limit, wanted] = [holder[column], budget[column]]
      if (limit !== null && wanted !== null && wanted > limit) {
        return { holder, below: holders[index + 1], cap, limit, used: 0n, shortBy: wanted - limit }
      }
    }
  }
  return undefined
}

/**
 * The first cap that a charge would exceed, from the top down; undefined when there is none.
 * @param holders the charged token and all its ancestors, the highest first
 * @param machine the cap that counts the machine that the charge is for
 */
export function judgeBudgets(
  holders: HolderOfBudget[],
  amount: bigint,
  machine?: MachineCap,
): BudgetRefusal | undefined {
  for (const [index, holder] of holders.entries()) {
    const caps = [
      { cap: 'max_per_charge', used: 0n, more: amount },
      { cap: 'per_day', used: holder.spent_today + holder.ahead, more: amount },
      { cap: 'total', used: holder.spent + holder.ahead, more: amount },
      ...(machine ? [{ cap: machine, used: holder.live, more: 1n }] : []),
    ] as const
    for (const { cap, used, more } of caps) {
      const limit = holder[cap]
      if (limit !== null && more > 0n && used + more > limit) {
        return { holder, below: holders[index + 1], cap, limit, used, shortBy: used + more - limit }
      }
    }
  }
  return undefined
}

/** The amount that the caps still allow; undefined without a cap, and negative when a cap was set below what is spent. */
export function leftOf({
  total,
  per_day,
  spent,
  spent_today,
}: Pick<HolderOfBudget, 'total' | 'per_day' | 'spent' | 'spent_today'>): bigint | undefined {
  const left = [
    ...(total === null ? [] : [total - spent]),
    ...(per_day === null ? [] : [per_day - spent_today]),
  ]
  return left.length === 0 ? undefined : left.reduce(least)
}

const least = (one: bigint, other: bigint) => (one < other ? one : other)
