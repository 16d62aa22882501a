import type { Handler } from '../dispatch/handler.ts'
import { isOfLogin } from './may-manage.ts'
import { SESSION_MS } from './open-session.ts'
import { lockOwnToken } from './own-token.ts'
import { makeToken } from './token.ts'
import { replaceText } from './token-store.ts'

const OLD_TEXT_MS = 600_000

/** The token stays what it is, so that its children, its budget and what it has spent stay with it. */
export const refreshToken: Handler<'refreshToken'> = async ({ caller, db, services }) => {
  const { clock, random } = services
  const now = clock.now()
  const token = await lockOwnToken(db, caller, now)
  // A token with an end cannot give itself more time.
  const expiresAt = isOfLogin(token) ? new Date(now.getTime() + SESSION_MS) : token.expires_at
  const text = makeToken(random)
  const oldUntil = new Date(Math.min(now.getTime() + OLD_TEXT_MS, token.expires_at.getTime()))
  await replaceText(db, token.id, text, { expiresAt, oldUntil })
  return {
    token: text,
    token_type: 'Bearer',
    token_expires_at: expiresAt,
    token_id: token.id,
    old_token_expires_at: oldUntil,
  }
}
