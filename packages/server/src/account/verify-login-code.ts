import { timingSafeEqual } from 'node:crypto'
import type { Handler } from '../handler.ts'
import { accountByEmail, accountById } from './account-store.ts'
import { createAccount } from './create-account.ts'
import { judgeEmail } from './email-policy.ts'
import { countFailures, recordFailure } from './failed-login-store.ts'
import { proveMailbox } from './first-proof.ts'
import { hashCode } from './login-code.ts'
import { codesToTry, WRONG_PER_DAY } from './login-code-policy.ts'
import { countTries, liveCodes, useCodes } from './login-code-store.ts'
import { openSession } from './open-session.ts'
import { unconfirmedTokens } from './token-store.ts'

const DAY_MS = 86_400_000

export const verifyLoginCode: Handler<'verifyLoginCode'> = async ({ input, client, db, services, fail }) => {
  const now = services.clock.now()
  const verdict = judgeEmail(input.email, services.config.reservedDomains)
  if ('refused' in verdict) throw fail('invalid_code', 'The code is wrong, used or expired')
  const { email } = verdict

  const subject = `code:${email}`
  // Tries at the same moment count one after the other, on every replica.
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [subject])
  const wrongTries = await countFailures(db, subject, new Date(now.getTime() - DAY_MS), now)
  const presented = hashCode(services, email, input.code)
  const tried = codesToTry(await liveCodes(db, email, client, now), wrongTries)
  await countTries(db, tried, { client, now })
  if (!tried.some(({ code }) => timingSafeEqual(code.hash, presented))) {
    // More than that many change nothing.
    if (wrongTries < WRONG_PER_DAY) await recordFailure(db, subject, now)
    throw fail('invalid_code', 'The code is wrong, used or expired', { keepEffects: true })
  }
  await useCodes(db, email, now)

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
