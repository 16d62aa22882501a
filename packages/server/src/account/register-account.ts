import { type Handler, preparedHandler } from '../dispatch/handler.ts'
import { accountByEmail } from './account-store.ts'
import { createAccount } from './create-account.ts'
import { judgeEmail } from './email-policy.ts'
import { openSession } from './open-session.ts'
import { hashPassword } from './password.ts'
import { refuseExamplePassword } from './refuse-example-password.ts'

export const registerAccount: Handler<'registerAccount'> = preparedHandler(
  async ({ input, db, services, fail }) => {
    const verdict = judgeEmail(input.email, services.config.reservedDomains)
    if ('refused' in verdict) throw fail(verdict.refused, verdict.why)
    if (await accountByEmail(db, verdict.email))
      throw fail('email_taken', 'There is an account with this e-mail address')
    const { password } = input
    if (password !== undefined) refuseExamplePassword(password, fail)
    return {
      email: verdict.email,
      passwordHash:
        password === undefined
          ? null
          : await services.hashing.strangers.run(() => hashPassword(password, services.random)),
    }
  },
  async ({ input, client, db, services, fail }, { email, passwordHash }) => {
    const account = await createAccount(db, services, {
      email,
      firstName: input.first_name || null,
      lastName: input.last_name || null,
      passwordHash,
    })
    if (!account) throw fail('email_taken', 'There is an account with this e-mail address')
    return openSession(db, services, account, client)
  },
)
