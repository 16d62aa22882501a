import type { ErrorOptions } from '../platform/errors.ts'

/** The step after a refusal by the state of an invoice. */
export const seeInvoice = (id: string): ErrorOptions => ({
  nextSteps: [{ tool: 'get_invoice', why: 'See how far it is', arguments: { invoice_id: id } }],
})
