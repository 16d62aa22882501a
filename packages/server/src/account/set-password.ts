import type { Handler } from '../handler.ts'
import { accountById, accountView, setPasswordHash } from './account-store.ts'
import { BLOCKED_S, checkPassword } from './check-password.ts'
import { isOfLogin } from './may-manage.ts'
import { lockOwnToken } from './own-token.ts'
import { hashPassword } from './password.ts'

const RECENT_MS = 600_000

export const setPassword: Handler<'setPassword'> = async ({ input, caller, db, services, fail }) => {
  const now = services.clock.now()
  if (!isOfLogin(await lockOwnToken(db, caller, now)))
    throw fail('child_token', 'A child token cannot set the password')
  const { email, password_hash: hash } = await accountById(db, caller.accountId)
  const recent = now.getTime() - caller.authenticatedAt.getTime() <= RECENT_MS
  if (hash !== null && !recent) {
    const password = input.current_password
    if (password === undefined) throw fail('invalid_credentials', 'current_password is needed')
    const result = await checkPassword(db, services, { email, password, hash })
    if (result === 'blocked') {
      throw fail('rate_limited', 'Too many wrong passwords in an hour', { retryAfter: BLOCKED_S })
    }
    if (result === 'wrong') {
      throw fail('invalid_credentials', 'current_password is not this one', { keepEffects: true })
    }
  }
  await setPasswordHash(db, caller.accountId, await hashPassword(input.password, services.random))
  if (input.revoke_others) {
    await db.query(
      'update token set revoked_at = $3 where account_id = $1 and id <> $2 and revoked_at is null',
      [caller.accountId, caller.tokenId, now],
    )
  }
  return { account: accountView(await accountById(db, caller.accountId)) }
}
