import type { Handler } from '../dispatch/handler.ts'
import { isOfLogin } from './may-manage.ts'
import { lockOwnToken } from './own-token.ts'
import { leaveUmbrella, tokenById, tokenView } from './token-store.ts'

/** A token below the umbrella cannot lift it: only a token of a later login can. */
export const confirmToken: Handler<'confirmToken'> = async ({ input, caller, db, services, fail }) => {
  const now = services.clock.now()
  const own = await lockOwnToken(db, caller, now)
  const token = await tokenById(db, input.token_id, now)
  if (!isOfLogin(own)) {
    throw fail(
      'token_not_below',
      'Only the token of a login after the proof of the mailbox can confirm others',
    )
  }
  if (token.unconfirmed && token.lineage.length > 2) {
    throw fail('token_not_below', `Confirm the token that made it: ${token.lineage[1]}`)
  }
  if (token.unconfirmed) await leaveUmbrella(db, token)
  return { details: tokenView(await tokenById(db, token.id, now), now) }
}
