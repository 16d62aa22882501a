import type { PassedLimit } from '../platform/approval-needed.ts'
import type { HolderOfBudget } from '../platform/budget-exceeded.ts'

/**
 * The first limit that a charge would pass, above which a person has to approve, from the top down; undefined when there
 * is none. What was approved before is not used of it.
 * @param holders the charged token and all its ancestors, the highest first
 */
export function judgeLimits(holders: readonly HolderOfBudget[], amount: bigint): PassedLimit | undefined {
  if (amount <= 0n) return undefined
  for (const { token_id: holderId, approve_per_call, approve_per_day, unapproved_today } of holders) {
    const limits = [
      { kind: 'per_call', limit: approve_per_call, used: 0n },
      { kind: 'per_day', limit: approve_per_day, used: unapproved_today },
    ] as const
    for (const { kind, limit, used } of limits)
      if (limit !== null && used + amount > limit) return { holderId, kind, limit, used }
  }
  return undefined
}
