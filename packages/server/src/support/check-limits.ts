import type { Transaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { countOf } from './ticket-store.ts'

const MOST_OPEN = 10
const PER_DAY = 50
const DAY_MS = 86_400_000

/** Why an account cannot write another message now; undefined when it can. Two at once are counted one after the other. */
export async function overLimit(
  tx: Transaction,
  { clock }: Pick<Services, 'clock'>,
  accountId: string,
  isNew: boolean,
): Promise<string | undefined> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`tickets:${accountId}`])
  const { open, written } = await countOf(tx, accountId, new Date(clock.now().getTime() - DAY_MS))
  if (isNew && open >= MOST_OPEN) return `${MOST_OPEN} tickets are open`
  if (written >= PER_DAY) return `${PER_DAY} messages were written within a day`
  return undefined
}
