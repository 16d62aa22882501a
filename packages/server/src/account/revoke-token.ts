import type { Handler } from '../handler.ts'
import { mayManage } from './may-manage.ts'
import { lockTokens, revokeTree, tokenById } from './token-store.ts'

/** The next request with any of them, on any replica, is refused: authentication reads the database. */
export const revokeToken: Handler<'revokeToken'> = async ({ input, caller, db, services, fail }) => {
  const now = services.clock.now()
  await lockTokens(db, caller.accountId)
  const token = await tokenById(db, input.token_id, now)
  if (!mayManage(caller, token)) {
    throw fail('token_not_below', 'The token is not this one, and not below it')
  }
  return { revoked: await revokeTree(db, token.id, now) }
}
