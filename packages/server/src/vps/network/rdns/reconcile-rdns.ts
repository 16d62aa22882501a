import { inTransaction } from '../../../database/transaction.ts'
import type { PassReport } from '../../../platform/pass-report.ts'
import type { Services } from '../../../platform/services.ts'
import { dueNames, keepFailure, keepPublished, nameOf, type RdnsRow } from './rdns-store.ts'

const AT_ONCE = 50
const FIRST_RETRY_MS = 15_000
const LAST_RETRY_MS = 3_600_000

/** How long until the next try, after so many that failed. */
export const retryAfter = (attempts: number) =>
  Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts, 10))

/**
 * Publishes what addresses are to be called. Takes no input, and may be killed at any step. One process at a time does it,
 * so that the name server is never sent an old name after a new one.
 */
export function createRdnsReconciler(services: Services): { pass(): Promise<PassReport> } {
  return {
    async pass() {
      const report = { seen: 0, done: 0, failed: 0 }
      if (!services.rdns) return report
      for (const address of await dueNames(services.db, services.clock.now(), AT_ONCE)) {
        report.seen++
        report[await publishName(services, services.rdns, address)]++
      }
      return report
    },
  }
}

async function publishName(
  { db, clock, log }: Services,
  rdns: NonNullable<Services['rdns']>,
  address: string,
): Promise<'done' | 'failed'> {
  const row = await nameOf(db, address)
  if (!row || row.done >= row.wanted) return 'done'
  const failure = await tryToPublish(rdns, row).catch((error: Error) => {
    log.error({ err: error, address }, 'A reverse name could not be published; it is tried again')
    return 'The name server did not take it; it is tried again'
  })
  if (failure === undefined) {
    await inTransaction(db, (tx) => keepPublished(tx, row))
    return 'done'
  }
  await keepFailure(db, row, failure, new Date(clock.now().getTime() + retryAfter(row.attempts)))
  return 'failed'
}

/** @returns why not */
async function tryToPublish(
  rdns: NonNullable<Services['rdns']>,
  { address, hostname }: RdnsRow,
): Promise<string | undefined> {
  // Else anybody could be called by anybody's name.
  if (hostname !== null && !(await rdns.leadsTo(hostname, address))) {
    const record = address.includes(':') ? 'an AAAA' : 'an A'
    return `${hostname} does not lead to ${address} yet: set ${record} record. It is looked at again`
  }
  await rdns.publish(address, hostname)
  return undefined
}
