import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { closeInvoice, lockInvoice, overdueInvoices } from './invoice-store.ts'

/**
 * Expires overdue unpaid invoices; one with a pending payment stays open until that is credited.
 * Money that comes later is still credited. Takes no input; safe to run twice.
 */
export async function expireInvoices(services: Services): Promise<void> {
  const now = services.clock.now()
  for (const { id } of await overdueInvoices(services.db, now)) {
    await inTransaction(services.db, async (tx) => {
      const invoice = await lockInvoice(tx, id)
      if (invoice.pending === 0n) await closeInvoice(tx, id, 'expired', now)
    })
  }
}
