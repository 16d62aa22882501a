import type { Transaction } from '../database/transaction.ts'
import type { Services } from '../services.ts'
import { countFailures, recordFailure } from './failed-login-store.ts'

const HOUR_MS = 3_600_000
const WRONG_PER_HOUR = 10

/** Seconds, for whoever was told `blocked`. */
export const BLOCKED_S = HOUR_MS / 1000

/**
 * Counts a password that was checked before the transaction, ten wrong ones an hour for each address. It takes the same
 * statements whatever the answer is.
 * @param good whether it is the right one: `verifyPassword`
 * @returns `blocked` also for the right one, so that more guesses tell nothing
 */
export async function countPassword(
  tx: Transaction,
  { clock }: Services,
  { email, good }: { email: string; good: boolean },
): Promise<'good' | 'wrong' | 'blocked'> {
  const now = clock.now()
  const subject = `password:${email}`
  // Guesses at the same moment count one after the other.
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [subject])
  const failures = await countFailures(tx, subject, new Date(now.getTime() - HOUR_MS))
  if (failures >= WRONG_PER_HOUR) return 'blocked'
  if (good) return 'good'
  await recordFailure(tx, subject, now)
  return 'wrong'
}
