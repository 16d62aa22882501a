import type { Transaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { countFailures, recordFailure } from './failed-login-store.ts'
import { isKnownClient } from './known-client-store.ts'
import { judgePassword } from './password-policy.ts'

const HOUR_MS = 3_600_000

/** Seconds, for a client that was told `blocked`. */
export const BLOCKED_S = HOUR_MS / 1000

/**
 * Counts a password that was checked before the transaction, by `judgePassword`. It takes the same statements whatever
 * the answer is.
 * @param attempt.subject whose password it is: the address as it is compared
 * @param attempt.accountId null when there is no such account
 * @param attempt.client what guesses are counted for first; `token` for those who are logged in, whom no stranger blocks
 * @param attempt.good whether it is the right one: `verifyPassword`
 */
export async function countPassword(
  tx: Transaction,
  services: Services,
  attempt: { subject: string; accountId: string | null; client: string; good: boolean },
): Promise<'good' | 'wrong' | 'blocked'> {
  const now = services.clock.now()
  const since = new Date(now.getTime() - HOUR_MS)
  const all = `password:${attempt.subject}`
  const own = `${all} from ${attempt.client}`
  // Guesses at the same moment count one after the other.
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [all])
  const wrong = {
    own: await countFailures(tx, own, since, now),
    strangers: await countFailures(tx, all, since, now),
  }
  const isKnown =
    attempt.client === 'token' || (await isKnownClient(tx, services, attempt.accountId, attempt.client))
  const verdict = judgePassword({ good: attempt.good, wrong, isKnown })
  if (verdict !== 'wrong') return verdict
  await recordFailure(tx, isKnown ? [own] : [own, all], now)
  return verdict
}
