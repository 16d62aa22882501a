import { inTransaction } from '../database/transaction.ts'
import { lockBalance } from '../ledger/balance.ts'
import type { Services } from '../services.ts'
import { coveredInvoices } from './invoice-store.ts'
import { settleWhenCovered } from './settle-invoice.ts'

/** Begins the orders that were paid for when there was no capacity. Takes no input; safe to run twice. */
export async function settleCoveredInvoices(services: Services): Promise<void> {
  for (const { id, account_id } of await coveredInvoices(services.db)) {
    await inTransaction(services.db, async (tx) => {
      await lockBalance(tx, account_id)
      await settleWhenCovered(tx, services, id)
    })
  }
}
