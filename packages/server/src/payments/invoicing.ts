import type { Invoicing } from '../seams.ts'
import { createOrderInvoice } from './create-invoice.ts'
import { invoiceById, lockInvoice } from './invoice-store.ts'
import { markInvoicePaid } from './mark-invoice-paid.ts'
import { showInvoice } from './show-invoice.ts'

/** What payments do for orders. */
export const invoicing: Invoicing = {
  async openForOrder(tx, services, order) {
    return showInvoice(tx, services, await createOrderInvoice(tx, services, order))
  },
  async view(db, services, invoiceId) {
    return showInvoice(db, services, await invoiceById(db, invoiceId))
  },
  async markPaid(tx, services, invoiceId) {
    await markInvoicePaid(tx, services, await lockInvoice(tx, invoiceId))
  },
}
