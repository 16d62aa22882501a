import { timingSafeEqual } from 'node:crypto'
import type { Transaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { countFailures, recordFailure } from './failed-login-store.ts'
import { hashCode } from './login-code.ts'
import { codesToTry, WRONG_PER_DAY } from './login-code-policy.ts'
import { countTries, liveCodes, useCodes } from './login-code-store.ts'

const DAY_MS = 86_400_000

/**
 * Tries a code on those that were sent to a mailbox, and uses them up when it is one of them. A wrong try counts, so the
 * transaction has to be committed then too.
 * @param email as `judgeEmail` gave it
 */
export async function checkLoginCode(
  tx: Transaction,
  services: Services,
  { email, code, client }: { email: string; code: string; client: string },
): Promise<boolean> {
  const now = services.clock.now()
  const subject = `code:${email}`
  // Tries at the same moment count one after the other, on every replica.
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [subject])
  const wrongTries = await countFailures(tx, subject, new Date(now.getTime() - DAY_MS), now)
  const presented = hashCode(services, email, code)
  const tried = codesToTry(await liveCodes(tx, email, client, now), wrongTries)
  await countTries(tx, tried, { client, now })
  if (tried.some(({ code: live }) => timingSafeEqual(live.hash, presented))) {
    await useCodes(tx, email, now)
    return true
  }
  // More than that many change nothing.
  if (wrongTries < WRONG_PER_DAY) await recordFailure(tx, subject, now)
  return false
}
