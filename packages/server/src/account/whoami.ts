import type { Handler } from '../dispatch/handler.ts'
import { accountById, accountView } from './account-store.ts'
import { tokenById, tokenView, unconfirmedTokens } from './token-store.ts'

export const whoami: Handler<'whoami'> = async ({ caller, db, services }) => {
  const now = services.clock.now()
  return {
    ...accountView(await accountById(db, caller.accountId)),
    token: tokenView(await tokenById(db, caller.tokenId, now), now),
    unconfirmed_tokens: await unconfirmedTokens(db, caller.accountId, now),
  }
}
