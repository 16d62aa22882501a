import { timingSafeEqual } from 'node:crypto'
import type { Handler } from '../handler.ts'
import { accountByEmail, accountById } from './account-store.ts'
import { createAccount } from './create-account.ts'
import { judgeEmail } from './email-policy.ts'
import { countFailures, recordFailure } from './failed-login-store.ts'
import { proveMailbox } from './first-proof.ts'
import { tryCodes, useCodes } from './login-code-store.ts'
import { openSession } from './open-session.ts'
import { hashCode } from './request-login-code.ts'
import { unconfirmedTokens } from './token-store.ts'

const TRIES_PER_CODE = 5
const LIVE_CODES = 3
const WRONG_PER_DAY = 20
const DAY_MS = 86_400_000

export const verifyLoginCode: Handler<'verifyLoginCode'> = async ({ input, db, services, fail }) => {
  const now = services.clock.now()
  const verdict = judgeEmail(input.email, services.config.reservedDomains)
  if ('refused' in verdict) throw fail('invalid_code', 'The code is wrong, used or expired')
  const { email } = verdict

  const subject = `code:${email}`
  // Wrong codes at the same moment count one after the other, on every replica.
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [subject])
  if ((await countFailures(db, subject, new Date(now.getTime() - DAY_MS))) >= WRONG_PER_DAY) {
    throw fail('rate_limited', 'Too many wrong codes for this address today', { retryAfter: DAY_MS / 1000 })
  }
  const presented = hashCode(services, email, input.code)
  const codes = await tryCodes(db, email, { now, live: LIVE_CODES, tries: TRIES_PER_CODE })
  if (!codes.some(({ hash }) => timingSafeEqual(hash, presented))) {
    await recordFailure(db, subject, now)
    throw fail('invalid_code', 'The code is wrong, used or expired', { keepEffects: true })
  }
  await useCodes(db, email, now)

  const account = await accountByEmail(db, email)
  if (!account) {
    const created = await createAccount(db, services, { email, emailVerifiedAt: now })
    if (!created) throw fail('invalid_code', 'The code is wrong, used or expired')
    return { ...(await openSession(db, services, created)), unconfirmed_tokens: [] }
  }
  await proveMailbox(db, services, account)
  return {
    ...(await openSession(db, services, await accountById(db, account.id))),
    unconfirmed_tokens: await unconfirmedTokens(db, account.id, now),
  }
}
