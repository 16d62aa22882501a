import { errors } from '@coinrack/contract/errors.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import type { PaymentRequired } from '@x402/core/types'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { type CheckoutView, checkoutView } from '../checkout/checkout-view.ts'
import { toBePaid } from '../invoice-state.ts'
import type { Invoice } from '../invoice-store.ts'
import { prepareToPay } from '../settle-invoice.ts'
import { checkoutUrl } from '../show-invoice.ts'
import { creditNow } from './credit-payment.ts'
import { demandStillWanted } from './invoice-wanted.ts'
import { paymentKey } from './payment-of.ts'
import { PaymentRefused } from './payment-refused.ts'
import { findPayment, markTold, type Wish, type X402Payment } from './payment-store.ts'
import { type PaymentTerms, paymentRequired, paymentTerms } from './payment-terms.ts'
import { signedBy } from './read-payment.ts'
import { settlementOf } from './settlement-view.ts'
import { takePayment } from './take-payment.ts'

/** The answer to the payer of an invoice: the invoice as its page shows it, and nothing about the account. */
export type PaidCheckout = CheckoutView & { settlement: ReturnType<typeof settlementOf> }

/**
 * Takes a payment by signature for one invoice, from anyone who has its secret: exactly the amount still due, to the
 * address of the invoice. The rules are those of a top-up by x402, except that the answer tells nothing about the
 * balance, about other invoices, or about payments for those.
 * @param payment the unparsed payment as it was presented; undefined asks for the terms
 * @param isGone whether the caller has hung up meanwhile
 * @throws OperationError with a code that `topupBalance` has too, `invoice_closed`, `payment_seen` or `capacity`
 */
export async function payInvoiceByX402(
  services: Services,
  invoice: Invoice,
  { payment: presented, isGone }: { payment: unknown; isGone(): boolean },
): Promise<PaidCheckout> {
  const known = await knownPayment(services, presented)
  if (known && known.invoice_id !== invoice.id)
    throw new OperationError('payment_arrived', 'This payment was taken before, and not for this invoice', {
      nextSteps: [],
    })
  const amount = known?.amount ?? toBePaid(invoice)
  if (!known) await checkWanted(services, invoice, amount)
  const terms = paymentTerms(services.chains, invoice.address, amount, {
    ...(invoice.network && { network: invoice.network }),
    ...(invoice.token && { token: invoice.token }),
  })
  if (terms.length === 0)
    throw new OperationError('payment_method_unavailable', 'This invoice cannot be paid by x402')
  try {
    if (presented === undefined)
      throw new PaymentRefused('payment_required', `Pay ${formatUsd(amount)} USD for this invoice by x402`)
    const wish: Wish = {
      ...{ accountId: invoice.account_id, keyHash: undefined, invoiceId: invoice.id },
      begun: (tx) => demandStillWanted(tx, invoice.id, amount),
    }
    const payment = await takePayment(services, presented, { terms, address: invoice.address, wish })
    await creditNow(services, payment)
    if (payment.status === 'settled' && !isGone()) await markTold(services.db, payment, services.clock.now())
    return { ...(await checkoutView(services, invoice.secret))!, settlement: settlementOf(payment) }
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error
    const { code, told } = error
    if (told) await creditNow(services, told)
    const message = told ? toldAs[told.status === 'settled' ? 'settled' : 'sent'] : error.message
    const isAskedToPay = errors[code].status === 402
    throw new OperationError(code, message, {
      nextSteps: [],
      fields: isAskedToPay ? { ...required(services, invoice, terms, message) } : {},
    })
  }
}

/** The messages about another payment for the same invoice, whose transfer the page shows. */
const toldAs = {
  settled: 'Another payment of this invoice arrived; this one was not taken',
  sent: 'Another payment of this invoice is on its way; this one was not taken',
}

/** The presented payment, if it was taken before: it is answered again, whatever is still due on the invoice. */
async function knownPayment(services: Services, presented: unknown): Promise<X402Payment | undefined> {
  const signed = presented === undefined ? undefined : signedBy(presented, services.chains)
  if (!signed) return undefined
  const { chainId, transfer } = signed
  const payment = await findPayment(services.db, paymentKey(chainId, transfer))
  const isIt = payment?.amount === transfer.value && payment.address === transfer.to.toLowerCase()
  return isIt && payment.status !== 'failed' ? payment : undefined
}

/**
 * Checks that the invoice needs another payment now.
 * @param amount the amount still due, in micro-USD
 * @throws OperationError `invoice_closed`, `payment_seen`, `capacity`
 */
async function checkWanted(services: Services, invoice: Invoice, amount: bigint): Promise<void> {
  const nextSteps = { nextSteps: [] }
  if (invoice.status !== 'unpaid')
    throw new OperationError('invoice_closed', `The invoice is ${invoice.status}`, nextSteps)
  if (amount === 0n)
    throw new OperationError('payment_seen', 'A payment of the whole amount waits for the network', nextSteps)
  const prepared = await prepareToPay(services, invoice, { begins: false })
  // The payer is not asked to pay for an order that no host has room for.
  if (prepared) await services.ordering.checkRoom(services.db, services, invoice.order_id!)
}

const required = (
  services: Services,
  invoice: Pick<Invoice, 'secret'>,
  terms: PaymentTerms[],
  message: string,
): PaymentRequired =>
  paymentRequired(terms, message, {
    url: `${checkoutUrl(services, invoice)}/x402`,
    description: 'An invoice',
  })
