import type { Handler } from '../handler.ts'
import { accountByEmail } from './account-store.ts'
import { judgeEmail } from './email-policy.ts'
import { countFailures, recordFailure } from './failed-login-store.ts'
import { openSession } from './open-session.ts'
import { verifyPassword } from './password.ts'

const HOUR_MS = 3_600_000
const WRONG_PER_HOUR = 10

/** An unknown address and a wrong password get the same answer after the same time. */
export const login: Handler<'login'> = async ({ input, db, services, fail }) => {
  const now = services.clock.now()
  const verdict = judgeEmail(input.email, [])
  const email = 'email' in verdict ? verdict.email : undefined
  const account = email ? await accountByEmail(db, email) : undefined

  const subject = `password:${email}`
  const failures = await countFailures(db, subject, new Date(now.getTime() - HOUR_MS))
  const good = await verifyPassword(input.password, account?.password_hash ?? null)
  if (failures >= WRONG_PER_HOUR) {
    throw fail('rate_limited', `More than ${WRONG_PER_HOUR} wrong passwords in an hour for this address`, {
      retryAfter: HOUR_MS / 1000,
    })
  }
  if (!account || !good) {
    if (email) await recordFailure(db, subject, now)
    throw fail('invalid_credentials', 'E-mail and password do not match an account', { keepEffects: true })
  }
  return openSession(db, services, account)
}
