import type { Invoice } from './invoice-store.ts'

export type InvoiceStatus = Invoice['status'] | 'confirming'

/** The status as it is shown: an unpaid invoice is confirming while a payment for it waits for the chain. */
export const statusOf = (invoice: Pick<Invoice, 'status' | 'pending'>): InvoiceStatus =>
  invoice.status === 'unpaid' && invoice.pending > 0n ? 'confirming' : invoice.status

/** The amount still to be sent, in micro-USD: zero once all of it has been seen, or the invoice is closed. */
export function toBePaid(invoice: Pick<Invoice, 'status' | 'amount' | 'received' | 'pending'>): bigint {
  const missing = invoice.amount - invoice.received - invoice.pending
  return invoice.status === 'unpaid' && missing > 0n ? missing : 0n
}

/** Whether the credited deposits cover the invoice. */
export const isCovered = (invoice: Pick<Invoice, 'amount' | 'received'>) => invoice.received >= invoice.amount
