import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { closeInvoice, lockInvoice, overdueInvoices } from './invoice-store.ts'

/**
 * Ends unpaid invoices whose time is over; one with a payment under way gets to see it credited first.
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
