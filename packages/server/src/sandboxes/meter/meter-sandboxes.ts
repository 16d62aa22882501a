import { inTransaction } from '../../database/transaction.ts'
import type { PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { observeHosts } from '../life/observe-hosts.ts'
import { endUnpaid } from '../life/sandbox-store.ts'
import { meteredAccounts, shortAccounts } from './meter-store.ts'
import { type Seen, settleAccounts } from './settle-accounts.ts'

/** Half of what is held ahead, so that whatever runs is always paid for. */
const SETTLE_MS = 30_000
/** In one transaction, which locks their balances. */
const ACCOUNTS_AT_ONCE = 500

/**
 * Settles everything that runs twice a minute, and those whose money is about to end in each pass; wants those ended
 * whose money is over. Takes no input but what hosts observe, and can be killed at any step: what ran meanwhile
 * is settled by the next. Idle when nothing runs.
 */
export function createSandboxMeter(services: Services): { pass(): Promise<PassReport> } {
  const { db, clock } = services
  let settledAt = Number.NEGATIVE_INFINITY
  let isIdle = false
  return {
    async pass() {
      const now = clock.now().getTime()
      const isDue = isIdle || now - settledAt >= SETTLE_MS
      const accounts = isDue ? await meteredAccounts(db) : await shortAccounts(db)
      if (accounts.length > 0) {
        const seen = await observeHosts(services)
        for (let at = 0; at < accounts.length; at += ACCOUNTS_AT_ONCE)
          await settleSome(services, accounts.slice(at, at + ACCOUNTS_AT_ONCE), seen)
        await endUnpaid(db, clock.now())
      }
      if (isDue) {
        settledAt = now
        isIdle = accounts.length === 0
      }
      return { seen: accounts.length, done: accounts.length, failed: 0, isIdle }
    },
  }
}

const settleSome = (services: Services, accounts: string[], seen: Seen) =>
  inTransaction(services.db, (tx) => settleAccounts(tx, services, accounts, seen))
