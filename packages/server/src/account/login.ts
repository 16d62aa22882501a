import type { Handler } from '../handler.ts'
import { accountByEmail } from './account-store.ts'
import { BLOCKED_S, checkPassword } from './check-password.ts'
import { judgeEmail } from './email-policy.ts'
import { openSession } from './open-session.ts'

/** An unknown address and a wrong password get the same answer after the same time. */
export const login: Handler<'login'> = async ({ input, db, services, fail }) => {
  const verdict = judgeEmail(input.email, [])
  const email = 'email' in verdict ? verdict.email : ''
  const account = await accountByEmail(db, email)
  const { password } = input
  const result = await checkPassword(db, services, { email, password, hash: account?.password_hash ?? null })
  if (result === 'blocked') {
    throw fail('rate_limited', 'Too many wrong passwords in an hour for this address', {
      retryAfter: BLOCKED_S,
    })
  }
  if (!account || result === 'wrong') {
    throw fail('invalid_credentials', 'E-mail and password do not match an account', { keepEffects: true })
  }
  return openSession(db, services, account)
}
