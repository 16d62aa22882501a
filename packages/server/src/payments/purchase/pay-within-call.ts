import { errors } from '@coinrack/contract/errors.ts'
import type { OperationName, Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { formatUsd, type NextStep } from '@coinrack/contract/wire.ts'
import { inTransaction, type Queryable } from '../../database/transaction.ts'
import type { PaidHandler } from '../../dispatch/handler.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { toBePaid } from '../invoice-state.ts'
import { type Invoice, invoiceById } from '../invoice-store.ts'
import { awaitCredit } from '../x402/await-credit.ts'
import { demandStillWanted } from '../x402/invoice-wanted.ts'
import { paymentKey } from '../x402/payment-of.ts'
import { PaymentRefused } from '../x402/payment-refused.ts'
import {
  findPayment,
  lockPayments,
  markTold,
  type PaymentKey,
  type X402Payment,
} from '../x402/payment-store.ts'
import { paymentRequired, paymentTerms } from '../x402/payment-terms.ts'
import { signedBy } from '../x402/read-payment.ts'
import { paymentTold, settlementOf } from '../x402/settlement-view.ts'
import { settle, takePayment } from '../x402/take-payment.ts'
import { earlierPurchase, findPurchase, savePurchase } from './purchase-store.ts'

/** The part of the call that is used here; the whole call is passed on to the handler. */
type CallThatPays = Pick<
  Parameters<PaidHandler<'orderVps'>>[0],
  'caller' | 'services' | 'payment' | 'keyHash' | 'digest' | 'isGone' | 'until'
>

/** An order or renewal that an account buys and pays for in one call. */
export interface Sold<N extends OperationName> {
  /** The URL in the terms. */
  url: string
  description: string
  /** Sells it from the balance, or refuses with an invoice. */
  handler: unknown
  /** The answer once the invoice is paid. */
  show(db: Queryable, services: Services, invoice: Invoice): Promise<Output<Operations[N]>>
}

/**
 * Answers an account's call with a signed payment, after the same call was refused for lack of money: the payment is for
 * the invoice in the refusal. When the balance now covers the price, the sale is made from the balance, and the payment
 * is not taken. A payment that was taken before gets its answer again, and buys nothing else.
 */
export async function payWithinCall<N extends OperationName>(
  call: CallThatPays,
  sold: Sold<N>,
): Promise<Output<Operations[N]>> {
  const { caller, services, payment: presented, keyHash, digest, isGone, until } = call
  const { accountId } = caller
  const earlier = await paidBefore(services.db)
  if (earlier) return finish(earlier)

  const outcome = await sellFromBalance()
  if ('answer' in outcome) return outcome.answer
  if ('paid' in outcome) return finish(outcome.paid)
  const invoiceId = (outcome.refused.options.fields?.invoice as { id: string } | null | undefined)?.id
  if (invoiceId === undefined) throw outcome.refused
  const invoice = await invoiceById(services.db, invoiceId)
  const amount = toBePaid(invoice)
  const terms = paymentTerms(services.chains, invoice.address, amount, {})
  try {
    if (amount === 0n)
      throw new PaymentRefused('payment_pending', 'A payment of the whole amount waits for the network')
    if (terms.length === 0)
      throw new PaymentRefused('payment_method_unavailable', 'Nothing can be paid by x402 here now')
    const payment = await takePayment(services, presented, {
      terms,
      address: invoice.address,
      wish: {
        ...{ accountId, keyHash, invoiceId },
        async begun(tx, payment) {
          await demandStillWanted(tx, invoiceId, amount)
          await savePurchase(tx, {
            ...keyOf(payment),
            ...{ account_id: accountId, digest, quote_hash: null, key_hash: keyHash ?? null },
            created_at: services.clock.now(),
          })
        },
      },
    })
    return await finish(payment)
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error
    const { code, message, told } = error
    const isAskedToPay = errors[code].status === 402
    throw new OperationError(code, message, {
      fields: {
        ...(isAskedToPay && paymentRequired(terms, message, sold)),
        ...(told && paymentTold(told)),
      },
      ...(errors[code].status === 409 && { nextSteps: waitFor(invoiceId) }),
    })
  }

  /** The payment that was taken before: this one, or another one for the same call. */
  async function paidBefore(db: Queryable): Promise<X402Payment | undefined> {
    const signed = signedBy(presented, services.chains)
    if (!signed) return undefined
    const key = paymentKey(signed.chainId, signed.transfer)
    const known = await findPayment(db, key)
    if (!known || known.status === 'failed' || known.account_id !== accountId)
      return earlierPurchase(db, key, { digest, keyHash, accountId })
    const purchase = await findPurchase(db, key)
    if (purchase?.digest.equals(digest)) return known
    throw new OperationError('payment_used', 'This payment was presented with another request before', {
      fields: paymentTold(known),
      nextSteps: waitFor(known.invoice_id),
    })
  }

  /** Runs the call without its payment and keeps the effects of a refusal, unless a copy of this call was faster. */
  async function sellFromBalance(): Promise<
    { answer: Output<Operations[N]> } | { refused: OperationError } | { paid: X402Payment }
  > {
    // The types tie each handler to its own call, but here it may be either of two.
    const handler = sold.handler as AnyHandler<N>
    const prepared = await handler.prepare?.({ ...call, db: services.db })
    return inTransaction(services.db, async (tx) => {
      await lockPayments(tx, accountId)
      const faster = await paidBefore(tx)
      if (faster) return { paid: faster }
      try {
        return { answer: await handler({ ...call, db: tx }, prepared) }
      } catch (error) {
        if (error instanceof OperationError && error.options.keepEffects) return { refused: error }
        throw error
      }
    })
  }

  async function finish(payment: X402Payment): Promise<Output<Operations[N]>> {
    const settled = payment.status === 'sent' ? await settle(services, payment) : payment
    const deposit = settled.status === 'settled' ? await awaitCredit(services, settled, until) : undefined
    const paidFor = await invoiceById(services.db, settled.invoice_id)
    if (deposit?.status !== 'credited')
      throw new OperationError(
        'payment_pending',
        `The payment of ${formatUsd(payment.amount)} USD is on its way: send the same request with the same payment once more`,
        { fields: paymentTold(settled), nextSteps: waitFor(paidFor.id) },
      )
    if (!isGone()) await markTold(services.db, settled, services.clock.now())
    if (paidFor.status !== 'paid')
      throw new OperationError(
        'payment_arrived',
        `${formatUsd(payment.amount)} USD arrived and are on the balance. ${paidFor.closed_reason ?? ''}`.trim(),
        {
          fix: 'Do not pay again: send the same request without a payment, and it is paid from the balance.',
          fields: paymentTold(settled),
          nextSteps: [{ tool: 'get_balance', why: 'See the balance, where the money is' }],
        },
      )
    return {
      ...(await sold.show(services.db, services, paidFor)),
      settlement: settlementOf(settled),
    }
  }
}

interface AnyHandler<N extends OperationName> {
  (call: object, prepared: unknown): Promise<Output<Operations[N]>>
  prepare?(call: object): Promise<unknown>
}

const keyOf = ({ chain_id, token_address, payer, nonce }: X402Payment): PaymentKey => ({
  chain_id,
  token_address,
  payer,
  nonce,
})

const waitFor = (invoiceId: string): NextStep[] => [
  {
    tool: 'get_invoice',
    why: 'Wait until the payment that came is credited, and see what the invoice is for',
    arguments: { invoice_id: invoiceId, wait: 'paid', timeout: 50 },
  },
]
