import { errors } from '@coinrack/contract/errors.ts'
import { basePath } from '@coinrack/contract/index.ts'
import { formatUsd, type NextStep } from '@coinrack/contract/wire.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { PaidHandler } from '../../dispatch/handler.ts'
import { balanceNow } from '../../ledger/balance-view.ts'
import type { Services } from '../../platform/services.ts'
import { checkTopup } from '../check-topup.ts'
import { accountAddress, ensureAccountAddress } from '../deposit-address-store.ts'
import { invoiceById } from '../invoice-store.ts'
import { checkoutUrl, showInvoice } from '../show-invoice.ts'
import { awaitCredit } from './await-credit.ts'
import { creditNow } from './credit-payment.ts'
import { PaymentRefused } from './payment-refused.ts'
import { markTold, type X402Payment } from './payment-store.ts'
import { paymentRequired, paymentTerms } from './payment-terms.ts'
import { paymentTold, settlementOf } from './settlement-view.ts'
import { takePayment } from './take-payment.ts'

export const topupByX402: PaidHandler<'topupBalance'> = async (call) => {
  const { input, caller, db, services, payment: presented, keyHash, isGone, until, fail } = call
  const { accountId } = caller
  checkTopup(services.config, input.amount)
  const address = await addressOf(services, accountId)
  const terms = paymentTerms(services.chains, address, input.amount, input)
  if (terms.length === 0)
    fail('payment_method_unavailable', 'Nothing that was asked for can be paid by x402 here')

  /** Records that the payer is told of a payment that has come, unless the caller has hung up. */
  const tell = async (payment: X402Payment) => {
    if (!isGone()) await markTold(db, payment, services.clock.now())
  }
  try {
    if (presented === undefined) {
      throw new PaymentRefused(
        'payment_required',
        `Pay ${formatUsd(input.amount)} USD to your balance by x402`,
      )
    }
    const payment = await takePayment(services, presented, { terms, address, wish: { accountId, keyHash } })
    await awaitCredit(services, payment, until)
    const invoice = await invoiceById(db, payment.invoice_id)
    const answer = {
      invoice: await showInvoice(db, services, invoice),
      checkout_url: checkoutUrl(services, invoice),
      ...(await balanceNow(db, services, accountId)),
      settlement: settlementOf(payment),
    }
    if (payment.status === 'settled') await tell(payment)
    return answer
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error
    const { code, message, told } = error
    if (code === 'payment_arrived' || code === 'payment_pending') {
      if (told?.status === 'settled') {
        await creditNow(services, told)
        await tell(told)
      }
      const { balance } = await balanceNow(db, services, accountId)
      return fail(code, message, {
        fields: { balance: formatUsd(balance), ...(told && paymentTold(told)) },
        nextSteps: stepsAfter(told),
      })
    }
    const fields = errors[code].status === 402 && {
      ...paymentRequired(terms, message, {
        url: `${services.config.publicUrl}${basePath}/balance/topup`,
        description: 'Prepaid balance of your account',
      }),
    }
    return fail(code, message, { fields: { ...fields } })
  }
}

/** The next steps after a payment that came or may come; none leads to another payment. */
const stepsAfter = (told: X402Payment | undefined): NextStep[] => [
  ...(told
    ? [
        {
          tool: 'get_invoice',
          why: 'Wait until the payment that came is credited',
          arguments: { invoice_id: told.invoice_id, wait: 'paid', timeout: 50 },
        },
      ]
    : []),
  { tool: 'get_balance', why: 'See the balance: what arrives is credited there' },
  { tool: 'list_transactions', why: 'See the deposits, each with its amount' },
]

/** The deposit address of an account's top-ups, created when there is none. */
async function addressOf(services: Services, accountId: string): Promise<string> {
  const known = await accountAddress(services.db, accountId)
  if (known !== undefined) return known
  await inTransaction(services.db, (tx) => ensureAccountAddress(tx, services, accountId))
  return (await accountAddress(services.db, accountId))!
}
