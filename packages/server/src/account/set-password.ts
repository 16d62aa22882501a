import { type Handler, preparedHandler } from '../dispatch/handler.ts'
import { accountById, accountView, setPasswordHash } from './account-store.ts'
import { BLOCKED_S, countPassword } from './count-password.ts'
import { isOfLogin } from './may-manage.ts'
import { lockOwnToken } from './own-token.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { refuseExamplePassword } from './refuse-example-password.ts'

const RECENT_MS = 600_000

export const setPassword: Handler<'setPassword'> = preparedHandler(
  async ({ input, caller, db, services, fail }) => {
    const { customers } = services.hashing
    const { password_hash: old } = await accountById(db, caller.accountId)
    const { password, current_password: current } = input
    refuseExamplePassword(password, fail)
    const isRecent = services.clock.now().getTime() - caller.authenticatedAt.getTime() <= RECENT_MS
    const isAsked = old !== null && !isRecent
    const good = isAsked && current !== undefined && (await customers.run(() => verifyPassword(current, old)))
    const mayChange = !isAsked || good
    return {
      ...{ old, isRecent, isAsked, good },
      hash: mayChange ? await customers.run(() => hashPassword(password, services.random)) : null,
    }
  },
  async ({ input, caller, db, services, fail }, { old, isRecent, isAsked, good, hash }) => {
    const now = services.clock.now()
    if (!isOfLogin(await lockOwnToken(db, caller, now)))
      throw fail('child_token', 'A child token cannot set the password')
    const { email, password_hash: present } = await accountById(db, caller.accountId)
    if (isAsked) {
      if (input.current_password === undefined)
        throw fail('invalid_credentials', 'current_password is needed')
      const result = await countPassword(db, services, {
        ...{ subject: email ?? caller.accountId, accountId: caller.accountId, client: 'token', good },
      })
      if (result === 'blocked') {
        throw fail('rate_limited', 'Too many wrong passwords in an hour', { retryAfter: BLOCKED_S })
      }
      if (result === 'wrong') {
        throw fail('invalid_credentials', 'current_password is wrong', { keepEffects: true })
      }
    }
    if (present !== old && !isRecent) {
      throw fail('invalid_credentials', 'Another password was set at the same moment')
    }
    await setPasswordHash(db, caller.accountId, hash!)
    if (input.revoke_others) {
      await db.query(
        'update token set revoked_at = $3 where account_id = $1 and id <> $2 and revoked_at is null',
        [caller.accountId, caller.tokenId, now],
      )
    }
    return { account: accountView(await accountById(db, caller.accountId)) }
  },
)
