import type { Handler } from '../dispatch/handler.ts'
import { mayManage } from './may-manage.ts'
import { lockOwnToken } from './own-token.ts'
import { revokeTree, tokenById } from './token-store.ts'

/** The next request with any of them, on any replica, is refused: authentication reads the database. */
export const revokeToken: Handler<'revokeToken'> = async ({ input, caller, db, services, fail }) => {
  const now = services.clock.now()
  const own = await lockOwnToken(db, caller, now)
  const token = await tokenById(db, input.token_id, now)
  if (!mayManage(own, token)) {
    throw fail('token_not_below', 'The token is neither this one nor below it')
  }
  return { revoked: await revokeTree(db, token.id, now) }
}
