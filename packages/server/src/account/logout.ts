import type { Handler } from '../dispatch/handler.ts'
import { lockTokens, revokeTree } from './token-store.ts'

export const logout: Handler<'logout'> = async ({ caller, db, services }) => {
  await lockTokens(db, caller.accountId)
  return { revoked: await revokeTree(db, caller.tokenId, services.clock.now()) }
}
