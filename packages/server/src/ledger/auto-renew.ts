import type { Queryable } from '../database/transaction.ts'
import { raiseOf } from '../platform/budget-exceeded.ts'
import { OperationError } from '../platform/errors.ts'
import { holdersOf, type TokenCharge } from './budget.ts'

type Renewer = Pick<TokenCharge, 'tokenId' | 'at'>

/** Whether services that a token orders may auto-renew: the token and all its ancestors have to allow it. */
export const mayAutoRenew = async (db: Queryable, renewer: Renewer): Promise<boolean> =>
  (await holdersOf(db, renewer)).every((holder) => holder.allow_auto_renew)

/** @throws OperationError `budget_exceeded` when services that the token orders may not auto-renew */
export async function checkAutoRenew(db: Queryable, renewer: Renewer): Promise<void> {
  const holders = await holdersOf(db, renewer)
  const index = holders.findIndex((holder) => !holder.allow_auto_renew)
  const holder = holders[index]
  if (!holder) return
  const raise = raiseOf({ holder, below: holders[index + 1] })
  throw new OperationError(
    'budget_exceeded',
    `allow_auto_renew of the token ${holder.token_id} is false: it may pay with renew_service`,
    {
      fields: {
        cap: 'allow_auto_renew',
        limit: false,
        raised_by: { token_id: holder.parent_id, tool: raise.tool, arguments: raise.arguments },
      },
      nextSteps: [
        { tool: 'renew_service', why: 'Pay more time now' },
        { tool: 'whoami', why: 'See the budget of this token' },
      ],
    },
  )
}
