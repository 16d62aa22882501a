import type { Handler } from '../handler.ts'
import { closeInvoice, invoiceById, isTouched, lockInvoice } from './invoice-store.ts'
import { showInvoice } from './show-invoice.ts'

export const cancelInvoice: Handler<'cancelInvoice'> = async ({ input, db, services, fail }) => {
  const invoice = await lockInvoice(db, input.invoice_id)
  if (invoice.status === 'paid' || invoice.status === 'expired') {
    fail('invoice_closed', `The invoice is ${invoice.status}`)
  }
  if (invoice.status === 'unpaid') {
    if (isTouched(invoice)) fail('payment_seen', 'A payment for this invoice was seen on chain')
    await closeInvoice(db, invoice.id, 'cancelled', services.clock.now())
  }
  return showInvoice(db, services, await invoiceById(db, invoice.id))
}
