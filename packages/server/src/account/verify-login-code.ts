import type { Handler } from '../dispatch/handler.ts'
import { accountByEmail, accountById } from './account-store.ts'
import { checkLoginCode } from './check-login-code.ts'
import { createAccount } from './create-account.ts'
import { judgeEmail } from './email-policy.ts'
import { proveMailbox } from './first-proof.ts'
import { openSession } from './open-session.ts'
import { unconfirmedTokens } from './token-store.ts'

export const verifyLoginCode: Handler<'verifyLoginCode'> = async ({ input, client, db, services, fail }) => {
  const now = services.clock.now()
  const verdict = judgeEmail(input.email, services.config.reservedDomains)
  if ('refused' in verdict) throw fail('invalid_code', 'The code is wrong, used or expired')
  const { email } = verdict
  if (!(await checkLoginCode(db, services, { email, code: input.code, client })))
    throw fail('invalid_code', 'The code is wrong, used or expired', { keepEffects: true })

  const account = await accountByEmail(db, email)
  if (!account) {
    const created = await createAccount(db, services, { email, emailVerifiedAt: now })
    if (!created) throw fail('invalid_code', 'The code is wrong, used or expired')
    return {
      ...(await openSession(db, services, created, client, { isProven: true })),
      unconfirmed_tokens: [],
    }
  }
  await proveMailbox(db, services, account)
  return {
    ...(await openSession(db, services, await accountById(db, account.id), client, { isProven: true })),
    unconfirmed_tokens: await unconfirmedTokens(db, account.id, now),
  }
}
