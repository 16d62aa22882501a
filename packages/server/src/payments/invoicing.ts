import type { Invoicing } from '../platform/slice-ports.ts'
import { createOrderInvoice, createRenewalInvoice } from './create-invoice.ts'
import { toBePaid } from './invoice-state.ts'
import { closeInvoice, invoiceById, lockInvoice, unpaidRenewal } from './invoice-store.ts'
import { markInvoicePaid } from './mark-invoice-paid.ts'
import { showInvoice } from './show-invoice.ts'
import { paymentRequired, paymentTerms } from './x402/payment-terms.ts'

/** The operations on invoices that payments offer to orders and renewals. */
export const invoicing: Invoicing = {
  async openForOrder(tx, services, order) {
    return showInvoice(tx, services, await createOrderInvoice(tx, services, order))
  },
  async openForRenewal(tx, services, renewal) {
    const open = await unpaidRenewal(tx, renewal.serviceId)
    if (open?.months === renewal.months && open.amount === renewal.amount)
      return showInvoice(tx, services, open)
    if (open) await closeInvoice(tx, open.id, 'cancelled', services.clock.now())
    return showInvoice(tx, services, await createRenewalInvoice(tx, services, renewal))
  },
  async markRenewed(tx, services, serviceId, months) {
    const open = await unpaidRenewal(tx, serviceId)
    if (open?.months === months) await markInvoicePaid(tx, services, open)
  },
  async cancelRenewal(tx, services, serviceId) {
    const open = await unpaidRenewal(tx, serviceId)
    if (open) await closeInvoice(tx, open.id, 'cancelled', services.clock.now())
  },
  async view(db, services, invoiceId) {
    return showInvoice(db, services, await invoiceById(db, invoiceId))
  },
  async termsWithinCall(db, { chains }, invoiceId, { error, ...sold }) {
    const invoice = await invoiceById(db, invoiceId)
    const amount = toBePaid(invoice)
    const terms = amount === 0n ? [] : paymentTerms(chains, invoice.address, amount, {})
    return terms.length === 0 ? {} : paymentRequired(terms, error, sold)
  },
  async markPaid(tx, services, invoiceId) {
    await markInvoicePaid(tx, services, await lockInvoice(tx, invoiceId))
  },
}
