import type { Handler } from '../dispatch/handler.ts'
import { childBudget } from './child-budget.ts'
import { isOfLogin, mayManage } from './may-manage.ts'
import { lockOwnToken } from './own-token.ts'
import { setBudget, setTokenName, tokenById, tokenView } from './token-store.ts'

export const updateToken: Handler<'updateToken'> = async ({ input, caller, db, services, fail }) => {
  const now = services.clock.now()
  const own = await lockOwnToken(db, caller, now)
  const token = await tokenById(db, input.token_id, now)
  if (!mayManage(own, token) || (token.id === own.id && !isOfLogin(own))) {
    throw fail('token_not_below', 'The token is not below the one of this call')
  }
  if (input.name !== undefined) await setTokenName(db, token.id, input.name || null)
  if (input.budget !== undefined) {
    const parentId = token.lineage.at(-2)
    if (isOfLogin(token) || (token.unconfirmed && token.lineage.length === 2)) {
      throw fail('token_not_below', 'The token of a login has no budget of its own')
    }
    await setBudget(db, token.id, input.budget && (await childBudget(db, parentId, input.budget, now)))
  }
  return { details: tokenView(await tokenById(db, token.id, now), now) }
}
