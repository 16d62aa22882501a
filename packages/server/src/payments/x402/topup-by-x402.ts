import { setTimeout as sleep } from 'node:timers/promises'
import { errors } from '@coinrack/contract/errors.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Chain } from '../../chain/chain-port.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { PaidHandler } from '../../handler.ts'
import { balanceNow } from '../../ledger/balance-view.ts'
import type { Services } from '../../services.ts'
import { checkTopup } from '../check-topup.ts'
import { accountAddress, ensureAccountAddress } from '../deposit-address-store.ts'
import { depositById } from '../deposit-store.ts'
import { invoiceById } from '../invoice-store.ts'
import { checkoutUrl, showInvoice } from '../show-invoice.ts'
import { beginPayment } from './begin-payment.ts'
import { creditPayment } from './credit-payment.ts'
import { followPayment } from './follow-payment.ts'
import { PaymentRefused } from './payment-refused.ts'
import type { X402Payment } from './payment-store.ts'
import { paymentRequired, paymentTerms } from './payment-terms.ts'
import { readPayment } from './read-payment.ts'

/** How long the answer waits for the block of a payment, and then for its credit: together less than 50 s. */
const LOOKS = 40
const LOOK_MS = 500
const CREDIT_S = 25

export const topupByX402: PaidHandler<'topupBalance'> = async (call) => {
  const { input, caller, db, services, payment: presented, until, fail } = call
  const { accountId } = caller
  checkTopup(services.config, input.amount)
  const terms = paymentTerms(services.chains, await addressOf(services, accountId), input.amount, input)
  if (terms.length === 0) fail('payment_method_unavailable', 'Nothing asked for can be paid by x402 here')

  try {
    if (presented === undefined) {
      throw new PaymentRefused(
        'payment_required',
        `Pay ${formatUsd(input.amount)} USD to your balance by x402`,
      )
    }
    const { chain, requirements, transfer } = readPayment(presented, terms)
    const payment = await settle(services, chain, await beginPayment(services, chain, transfer, accountId))
    const deposit = payment.status === 'settled' && (await creditPayment(services, chain, payment))
    if (deposit && deposit.status === 'seen') {
      const read = () => depositById(db, deposit.id)
      await until(accountId, CREDIT_S, read, (now) => now?.status !== 'seen')
    }
    const invoice = await invoiceById(db, payment.invoice_id)
    return {
      invoice: await showInvoice(db, services, invoice),
      checkout_url: checkoutUrl(services, invoice),
      ...(await balanceNow(db, services, accountId)),
      settlement: {
        ...(payment.status === 'settled'
          ? { success: true }
          : { success: false, errorReason: 'settlement_pending' }),
        transaction: payment.tx_hash,
        network: requirements.network,
        payer: transfer.from,
        amount: requirements.amount,
      },
    }
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error
    const fields = errors[error.code].status === 402 && {
      ...paymentRequired(services.config.publicUrl, terms, error.message),
    }
    return fail(error.code, error.message, { fields: { ...fields } })
  }
}

/** Where the money of an account's top-ups goes. */
async function addressOf(services: Services, accountId: string): Promise<string> {
  const known = await accountAddress(services.db, accountId)
  if (known !== undefined) return known
  await inTransaction(services.db, (tx) => ensureAccountAddress(tx, services, accountId))
  return (await accountAddress(services.db, accountId))!
}

/**
 * Sends a payment and waits for its block.
 * @returns the payment: still `sent` when nobody knows yet what came of it
 * @throws PaymentRefused `payment_failed`: the chain took nothing
 */
async function settle(services: Services, chain: Chain, begun: X402Payment): Promise<X402Payment> {
  if (begun.status === 'sent') await chain.gasWallet!.broadcast(begun.raw_tx)
  let payment = begun
  for (let look = 0; look < LOOKS && payment.status === 'sent'; look++) {
    if (look > 0) await sleep(LOOK_MS)
    // A node that does not answer says nothing of the payment.
    payment = await followPayment(services, chain, payment).catch(() => payment)
  }
  if (payment.status === 'failed') {
    throw new PaymentRefused('payment_failed', `The transfer was refused by the chain in ${payment.tx_hash}`)
  }
  return payment
}
