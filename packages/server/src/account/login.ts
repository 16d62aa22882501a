import { type Handler, preparedHandler } from '../dispatch/handler.ts'
import { sha256 } from '../platform/sealer.ts'
import { accountByEmail, accountById } from './account-store.ts'
import { BLOCKED_S, countPassword } from './count-password.ts'
import { judgeEmail } from './email-policy.ts'
import { openSession } from './open-session.ts'
import { verifyPassword } from './password.ts'
import { lockTokens } from './token-store.ts'

/** An unknown address and a wrong password get the same answer after the same time. */
export const login: Handler<'login'> = preparedHandler(
  async ({ input, db, services }) => {
    const verdict = judgeEmail(input.email, [])
    const subject = 'email' in verdict ? verdict.email : `invalid ${sha256(input.email).toString('hex')}`
    const account = await accountByEmail(db, subject)
    const good = await services.hashing.strangers.run(() =>
      verifyPassword(input.password, account?.password_hash ?? null),
    )
    return { subject, account, good }
  },
  async ({ client, db, services, fail }, { subject, account, good }) => {
    const accountId = account?.id ?? null
    const result = await countPassword(db, services, { subject, accountId, client, good })
    if (result === 'blocked') {
      throw fail('rate_limited', 'Too many wrong passwords in an hour for this address', {
        retryAfter: BLOCKED_S,
        nextSteps: [{ tool: 'request_login_code', why: 'Log in with a code by mail now' }],
      })
    }
    if (!account || result === 'wrong') {
      throw fail('invalid_credentials', 'E-mail and password do not match an account', { keepEffects: true })
    }
    // The mailbox may have been proven while the password was checked, which has ended it.
    await lockTokens(db, account.id)
    const now = await accountById(db, account.id)
    if (now.password_hash !== account.password_hash) {
      throw fail('invalid_credentials', 'E-mail and password do not match an account')
    }
    return openSession(db, services, now, client)
  },
)
