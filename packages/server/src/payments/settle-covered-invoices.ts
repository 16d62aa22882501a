import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../services.ts'
import { coveredInvoices } from './invoice-store.ts'
import { lockPayment } from './lock-payment.ts'
import { settleWhenCovered } from './settle-invoice.ts'

/** Begins the orders and renewals that were paid for when they could not be begun. Takes no input; safe to run twice. */
export async function settleCoveredInvoices(services: Services): Promise<void> {
  for (const { id, account_id } of await coveredInvoices(services.db)) {
    await inTransaction(services.db, async (tx) => {
      await lockPayment(tx, services, { accountId: account_id, invoiceId: id })
      await settleWhenCovered(tx, services, id)
    })
  }
}
