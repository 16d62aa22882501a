import { createHmac } from 'node:crypto'
import type { Transaction } from '../database/transaction.ts'
import type { Handler } from '../handler.ts'
import type { Random, Services } from '../services.ts'
import { judgeEmail } from './email-policy.ts'
import { countCodes, deleteCode, insertCode } from './login-code-store.ts'

const LIFETIME_S = 600
const PER_HOUR = 5
const PER_DAY = 20
const HOUR_MS = 3_600_000
const MAIL_RETRY_S = 30

/**
 * The answer is the same whether or not there is an account: a first code opens one. The mail is handed over after the
 * commit, for a mail server may take long; one that does not take it leaves no code.
 */
export const requestLoginCode: Handler<'requestLoginCode'> = async (call) => {
  const { input, db, services, fail } = call
  const verdict = judgeEmail(input.email, services.config.reservedDomains)
  if ('refused' in verdict) throw fail(verdict.refused, verdict.why)
  const { email } = verdict
  const retryAfter = await secondsUntilNext(db, services, email)
  if (retryAfter !== undefined) {
    throw fail('rate_limited', 'Too many codes were asked for with this address', { retryAfter })
  }

  const now = services.clock.now()
  const code = makeCode(services.random)
  const id = await insertCode(db, {
    email,
    hash: hashCode(services, email, code),
    createdAt: now,
    expiresAt: new Date(now.getTime() + LIFETIME_S * 1000),
  })
  const answer = { message: 'A code is on its way to this address', expires_in: LIFETIME_S }
  call.afterCommit(async () => {
    try {
      await services.mailer.send(mailOf(services, email, code))
    } catch (error) {
      services.log.error({ err: error }, 'A login code could not be sent')
      await deleteCode(services.db, id)
      throw fail('mail_unavailable', 'The mail server did not take the mail with the code', {
        retryAfter: MAIL_RETRY_S,
      })
    }
    return answer
  })
  return answer
}

const mailOf = ({ config }: Services, to: string, code: string) => ({
  to,
  subject: `${code} is your login code`,
  text: `Your login code is ${code}\n\nIt is good for 10 minutes and one login at ${config.publicUrl}.\nIf you did not ask for it, ignore this mail: nobody can log in without it.\n`,
})

/** How long to wait for the next code; undefined: not at all. */
async function secondsUntilNext(
  tx: Transaction,
  { clock }: Services,
  email: string,
): Promise<number | undefined> {
  // Two requests at the same moment count one after the other.
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`login-code:${email}`])
  const now = clock.now().getTime()
  const limits = [
    { most: PER_HOUR, windowMs: HOUR_MS },
    { most: PER_DAY, windowMs: 24 * HOUR_MS },
  ]
  for (const { most, windowMs } of limits) {
    if ((await countCodes(tx, email, new Date(now - windowMs))) >= most) return windowMs / 1000
  }
  return undefined
}

/** Six digits, each as likely as any other. */
function makeCode(random: Random): string {
  for (;;) {
    const number = Buffer.from(random.bytes(4)).readUInt32BE()
    if (number < 4_294_000_000) return String(number % 1_000_000).padStart(6, '0')
  }
}

/** A million codes are soon tried against a plain hash: this one needs the server secret. */
export const hashCode = ({ config }: Services, email: string, code: string) =>
  createHmac('sha256', config.serverSecret!).update(`login-code\n${email}\n${code}`).digest()
