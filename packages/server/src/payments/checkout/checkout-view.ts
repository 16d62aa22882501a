import { Invoice as InvoiceSchema } from '@coinrack/contract/invoices.ts'
import type { z } from 'zod'
import { decideConfirmation } from '../../chain/confirmation-policy.ts'
import type { Services } from '../../platform/services.ts'
import { depositsOfInvoices, earlyCredits } from '../deposit-store.ts'
import { type Invoice, invoiceBySecret } from '../invoice-store.ts'
import { showInvoice } from '../show-invoice.ts'

/** The content of an invoice's checkout page, as JSON. */
export interface CheckoutView {
  /**
   * `waiting` for a transfer, `seen` on chain with confirmations running, `credited`; `settled_to_balance` when the money
   * came but its order or renewal could not begin; or ended without payment.
   */
  state: 'waiting' | 'seen' | 'credited' | 'settled_to_balance' | 'expired' | 'cancelled'
  /** The `confirmations` of `required` for the pending payment that has furthest to go; null when none is pending. */
  progress: { confirmations: number; required: number } | null
  invoice: z.input<typeof InvoiceSchema>
}

/** How often a stream checks at least, in case an announcement is lost. */
const HEARTBEAT_MS = 15_000

/** The invoice with this secret; undefined when there is none. */
export const checkoutInvoice = async ({ db }: Services, secret: string): Promise<Invoice | undefined> =>
  /^[\w-]{1,64}$/.test(secret) ? invoiceBySecret(db, secret) : undefined

/** The checkout view of the invoice with this secret; undefined when there is none. */
export async function checkoutView(services: Services, secret: string): Promise<CheckoutView | undefined> {
  const invoice = await checkoutInvoice(services, secret)
  return invoice && viewOf(services, invoice)
}

/** Whether there is a receipt for the payment: not when the chain took it back. */
export function isReceipted({ state, invoice }: CheckoutView): boolean {
  const isTakenBack = invoice.payments.some(({ status }) => status === 'orphaned')
  return state === 'credited' && (!isTakenBack || Number(invoice.received) >= Number(invoice.amount))
}

/**
 * Yields the checkout view now, and again whenever it changes, until the invoice is closed without a pending payment.
 * @param signal ends the stream when the reader is gone
 */
export async function* checkoutEvents(
  services: Services,
  secret: string,
  signal: AbortSignal,
): AsyncGenerator<CheckoutView, void> {
  const ended = aborted(signal)
  let shown = ''
  while (!signal.aborted) {
    const invoice = await invoiceBySecret(services.db, secret)
    if (!invoice) return
    // Listening starts before the view is made, so that no change in between is missed.
    const changed = services.changes.wait(invoice.id, HEARTBEAT_MS)
    const view = await viewOf(services, invoice)
    const text = JSON.stringify(view)
    if (text !== shown) yield view
    shown = text
    if (invoice.status !== 'unpaid' && invoice.pending === 0n) return
    await Promise.race([changed, ended])
  }
}

async function viewOf(services: Services, invoice: Invoice): Promise<CheckoutView> {
  return {
    state: stateOf(invoice),
    progress: await progressOf(services, invoice),
    invoice: InvoiceSchema.encode(await showInvoice(services.db, services, invoice)),
  }
}

function stateOf({ status, pending }: Invoice): CheckoutView['state'] {
  if (pending > 0n) return 'seen'
  if (status === 'unpaid') return 'waiting'
  return status === 'paid' ? 'credited' : status
}

async function progressOf({ db, chains }: Services, invoice: Invoice): Promise<CheckoutView['progress']> {
  const seen = (await depositsOfInvoices(db, [invoice.id])).filter(({ status }) => status === 'seen')
  if (seen.length === 0) return null
  const early = await earlyCredits(db, invoice.account_id)
  return seen
    .flatMap((deposit) => {
      const chain = chains.find(({ settings }) => settings.chainId === deposit.chain_id)
      if (!chain) return []
      const at = { amount: deposit.amount, block: deposit.block_number }
      const { confirmations, required } = decideConfirmation(chain.settings.confirmation, at, deposit, early)
      return [{ confirmations: Math.min(confirmations, required), required }]
    })
    .reduce<CheckoutView['progress']>((worst, next) => {
      const left = (progress: { confirmations: number; required: number }) =>
        progress.required - progress.confirmations
      return worst === null || left(next) > left(worst) ? next : worst
    }, null)
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
