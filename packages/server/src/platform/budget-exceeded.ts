import type { TokenKind } from '@coinrack/contract/operation.ts'
import { formatUsd, type NextStep } from '@coinrack/contract/wire.ts'
import { OperationError } from './errors.ts'

export type MoneyCap = 'max_per_charge' | 'per_day' | 'total'
/** The limits above which a person has to approve, under the names of their fields. */
export type ApprovalCap = 'approve_above.per_call' | 'approve_above.per_day'
export type MachineCap = 'max_live_vps' | 'max_live_sandboxes'

/** A token with its caps (null is no cap), and what it and all below it have used of them. */
export type HolderOfBudget = Record<MoneyCap | MachineCap, bigint | null> & {
  token_id: string
  parent_id: string | null
  is_umbrella: boolean
  kind?: TokenKind
  allow_auto_renew: boolean
  spent: bigint
  spent_today: bigint
  /** What its sandboxes that run hold for their next minute, which is about to be spent. */
  ahead: bigint
  live: bigint
  /** Above these a person has to approve; null is no limit. */
  approve_per_call: bigint | null
  approve_per_day: bigint | null
  /** The part of `spent_today` that no person has approved. */
  unapproved_today: bigint
}

export interface BudgetRefusal {
  holder: HolderOfBudget
  /** The next one on the way down to the token that is charged. */
  below: HolderOfBudget | undefined
  cap: MoneyCap | MachineCap | ApprovalCap
  limit: bigint
  used: bigint
  shortBy: bigint
}

/** How the budget of a token is raised, by the one above it. */
export const raiseOf = ({ holder, below }: Pick<BudgetRefusal, 'holder' | 'below'>): NextStep =>
  holder.is_umbrella
    ? { tool: 'confirm_token', why: 'Confirm the token', arguments: { token_id: below?.token_id } }
    : holder.kind === 'program'
      ? { tool: 'run_program', why: 'Run the program with a larger budget' }
      : { tool: 'update_token', why: 'Raise the budget', arguments: { token_id: holder.token_id } }

/** The refusal for a token that would exceed its budget: which cap, by how much, and who can raise it. */
export function budgetExceeded({ holder, below, cap, limit, used, shortBy }: BudgetRefusal): OperationError {
  const isCount = cap === 'max_live_vps' || cap === 'max_live_sandboxes'
  const shown = (value: bigint) => (isCount ? Number(value) : formatUsd(value))
  const raise = raiseOf({ holder, below })
  const who = holder.parent_id === null ? 'a token of a login' : `the token ${holder.parent_id}`
  return new OperationError(
    'budget_exceeded',
    `${cap} of the token ${holder.token_id} is ${shown(limit)}, of which ${shown(used)} is used: ${shown(shortBy)} short. It can be raised by ${who} with ${raise.tool}`,
    {
      fields: {
        cap,
        limit: shown(limit),
        used: shown(used),
        short_by: shown(shortBy),
        raised_by: { token_id: holder.parent_id, tool: raise.tool, arguments: raise.arguments },
      },
      ...(holder.kind === 'program' && { fix: 'Run the program with a larger budget.' }),
      nextSteps:
        holder.kind === 'program'
          ? [raise]
          : [{ tool: 'whoami', why: 'See the budget of this token and what it has spent' }],
    },
  )
}
