import type { Transaction } from '../database/transaction.ts'
import type { Handler } from '../dispatch/handler.ts'
import type { Services } from '../platform/services.ts'
import { judgeEmail } from './email-policy.ts'
import { countFailures } from './failed-login-store.ts'
import { hashCode, makeCode, writtenCode } from './login-code.ts'
import { CODE_LIFETIME_MS, judgeRequest } from './login-code-policy.ts'
import { codesSent, deleteCode, insertCode } from './login-code-store.ts'

const DAY_MS = 86_400_000
const MAIL_RETRY_S = 30

/**
 * The answer is the same whether or not there is an account: a first code opens one. The mail is handed over after the
 * commit, for a mail server may take long; one that does not take it leaves no code.
 */
export const requestLoginCode: Handler<'requestLoginCode'> = async (call) => {
  const { input, client, db, services, fail } = call
  const verdict = judgeEmail(input.email, services.config.reservedDomains)
  if ('refused' in verdict) throw fail(verdict.refused, verdict.why)
  const { email } = verdict
  const now = services.clock.now()
  const judged = judgeRequest(await historyOf(db, email, now), now)
  if ('waitMs' in judged) {
    throw fail('rate_limited', 'A code was sent to this address a short while ago: use that one', {
      retryAfter: judged.waitMs / 1000,
      nextSteps: [
        {
          tool: 'verify_login_code',
          why: 'Exchange the newest code in the mailbox for a token',
          arguments: { email },
        },
      ],
    })
  }

  const code = makeCode(services.random, judged.send)
  const id = await insertCode(db, {
    email,
    hash: hashCode(services, email, code),
    createdAt: now,
    expiresAt: new Date(now.getTime() + CODE_LIFETIME_MS),
    client,
    isLong: judged.send === 'long',
  })
  const answer = { message: 'A code is on its way to this address', expires_in: CODE_LIFETIME_MS / 1000 }
  call.afterCommit(async () => {
    try {
      await services.mailer.send(mailOf(services, email, writtenCode(code)))
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
  text: `Your login code is ${code}\n\nIt is good for 10 minutes and one login at ${config.publicUrl}.\nIf you did not ask for it, ignore this mail: no one can log in without it.\n`,
})

/** The events of a mailbox in a day. Two requests at the same moment count one after the other. */
async function historyOf(tx: Transaction, email: string, now: Date) {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`login-code:${email}`])
  const since = new Date(now.getTime() - DAY_MS)
  return {
    sent: await codesSent(tx, email, since),
    wrongTries: await countFailures(tx, `code:${email}`, since, now),
  }
}
