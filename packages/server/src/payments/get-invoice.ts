import type { Handler } from '../dispatch/handler.ts'
import { invoiceById } from './invoice-store.ts'
import { showInvoice } from './show-invoice.ts'

export const getInvoice: Handler<'getInvoice'> = async ({ input, db, services, until }) => {
  const { invoice_id, wait, timeout } = input
  const read = () => invoiceById(db, invoice_id)
  // A closed invoice no longer changes, so there is nothing to wait for.
  const invoice = wait
    ? await until(invoice_id, timeout, read, ({ status }) => status !== 'unpaid')
    : await read()
  return showInvoice(db, services, invoice)
}
