import type { Handler } from '../dispatch/handler.ts'
import { closeInvoice, invoiceById, isTouched, lockInvoice } from './invoice-store.ts'
import { lockPayment } from './lock-payment.ts'
import { seeInvoice } from './see-invoice.ts'
import { showInvoice } from './show-invoice.ts'

/** Cancels the order together with its invoice: otherwise the order would count as unpaid until it expires. */
export const cancelInvoice: Handler<'cancelInvoice'> = async ({ input, caller, db, services, fail }) => {
  await lockPayment(db, services, { accountId: caller.accountId, invoiceId: input.invoice_id })
  const invoice = await lockInvoice(db, input.invoice_id)
  if (invoice.status === 'paid' || invoice.status === 'expired') {
    fail('invoice_closed', `The invoice is ${invoice.status}`, seeInvoice(invoice.id))
  }
  if (invoice.status === 'unpaid') {
    if (isTouched(invoice))
      fail('payment_seen', 'A payment for this invoice was seen on chain', seeInvoice(invoice.id))
    await closeInvoice(db, invoice.id, 'cancelled', services.clock.now())
    if (invoice.order_id !== null) await services.ordering.cancelUnpaid(db, invoice.order_id)
  }
  return showInvoice(db, services, await invoiceById(db, invoice.id))
}
