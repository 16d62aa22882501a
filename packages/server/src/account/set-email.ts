import type { Handler } from '../dispatch/handler.ts'
import { accountByEmail, accountById, accountView, setProvenEmail } from './account-store.ts'
import { checkLoginCode } from './check-login-code.ts'
import { judgeEmail } from './email-policy.ts'
import { isOfLogin } from './may-manage.ts'
import { lockOwnToken } from './own-token.ts'

export const setEmail: Handler<'setEmail'> = async ({ input, caller, client, db, services, fail }) => {
  const now = services.clock.now()
  if (!isOfLogin(await lockOwnToken(db, caller, now)))
    throw fail('child_token', 'A child token cannot set the e-mail address')
  const own = await accountById(db, caller.accountId)
  if (own.email !== null) throw fail('email_set', `The account has the address ${own.email}`)
  const verdict = judgeEmail(input.email, services.config.reservedDomains)
  if ('refused' in verdict) throw fail('invalid_code', 'The code is wrong, used or expired')
  const { email } = verdict
  if (!(await checkLoginCode(db, services, { email, code: input.code, client })))
    throw fail('invalid_code', 'The code is wrong, used or expired', { keepEffects: true })
  // Told only to a client that can read the mailbox. The code is used up.
  const isTaken = (await accountByEmail(db, email)) || !(await setProvenEmail(db, own.id, email, now))
  if (isTaken)
    throw fail('email_taken', 'There is an account with this e-mail address; accounts are not merged', {
      keepEffects: true,
    })
  return { account: accountView(await accountById(db, own.id)) }
}
