import type { Transaction } from '../database/transaction.ts'
import { recordEvent } from '../platform/record-event.ts'
import type { Services } from '../platform/services.ts'
import { closeInvoice, type InvoiceRow } from './invoice-store.ts'

/** Closes an invoice as paid and records an event for its account; one that is closed already stays as it is. */
export async function markInvoicePaid(
  tx: Transaction,
  services: Services,
  invoice: Pick<InvoiceRow, 'id' | 'account_id' | 'amount' | 'status'>,
): Promise<void> {
  if (invoice.status !== 'unpaid') return
  await closeInvoice(tx, invoice.id, 'paid', services.clock.now())
  await recordEvent(tx, services, invoice.account_id, 'invoice.paid', {
    invoice_id: invoice.id,
    amount: invoice.amount,
  })
}
