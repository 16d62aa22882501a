import type { Handler } from '../handler.ts'
import { accountByEmail } from './account-store.ts'
import { createAccount } from './create-account.ts'
import { judgeEmail } from './email-policy.ts'
import { openSession } from './open-session.ts'
import { hashPassword } from './password.ts'

export const registerAccount: Handler<'registerAccount'> = async ({ input, db, services, fail }) => {
  const verdict = judgeEmail(input.email, services.config.reservedDomains)
  if ('refused' in verdict) throw fail(verdict.refused, verdict.why)
  if (await accountByEmail(db, verdict.email))
    throw fail('email_taken', 'There is an account with this e-mail address')

  const account = await createAccount(db, services, {
    email: verdict.email,
    firstName: input.first_name || null,
    lastName: input.last_name || null,
    passwordHash: input.password === undefined ? null : await hashPassword(input.password, services.random),
  })
  if (!account) throw fail('email_taken', 'There is an account with this e-mail address')
  return openSession(db, services, account)
}
