import type { Chain } from '../../chain/chain-port.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { closeInvoice, isTouched, lockInvoice } from '../invoice-store.ts'
import { transferIn } from './paid-by.ts'
import { closePayment, type PaymentKey, type X402Payment } from './payment-store.ts'
import { whatCame } from './what-came.ts'

/** A node may lag: only after this time does a transaction that it does not show count as absent. */
const LAG_MS = 60_000
/** An authorization that expired this long ago cannot be used by any future block. */
const OVER_MS = 600_000

/**
 * Looks up the outcome of a payment, and stores it once it is certain. A transaction that no node shows has not failed:
 * its payment stays `sent`.
 * @returns the current payment
 */
export async function followPayment(
  services: Services,
  chain: Chain,
  payment: X402Payment,
): Promise<X402Payment> {
  if (payment.status !== 'sent') return payment
  const wallet = chain.gasWallet!
  const transfer = transferOf(payment)
  const receipt = await chain.port.receipt(payment.tx_hash)
  if (transferIn(receipt, transfer)) return close('settled', payment.tx_hash)

  const now = services.clock.now().getTime()
  const isLate = now - payment.created_at.getTime() > LAG_MS
  const isOver = payment.holds_until !== null && now - payment.holds_until.getTime() > OVER_MS
  const reverted = receipt?.succeeded === false
  const isReplaced = async () => isLate && (await wallet.minedCount()) > payment.wallet_nonce!
  if (!reverted && !isOver && !(await isReplaced())) return payment
  // Our transaction took nothing, but another one may have used the same authorization first; a node that lags behind
  // the block of our transaction cannot tell, and is not asked.
  const block = reverted && !isLate ? receipt.block.number : undefined
  if (!(await wallet.payerOf(transfer, block)).isUsed) return close('failed', payment.tx_hash)
  const came = await whatCame(chain, transfer)
  if (came.state === 'paid') return close('settled', came.txHash)
  return came.state === 'spent' || isLate ? close('failed', payment.tx_hash) : payment

  async function close(status: 'settled' | 'failed', txHash: X402Payment['tx_hash']): Promise<X402Payment> {
    await inTransaction(services.db, async (tx) => {
      if (!(await closePayment(tx, payment, { status, txHash }))) return
      if (status === 'failed' && payment.own_invoice) {
        const invoice = await lockInvoice(tx, payment.invoice_id)
        if (!isTouched(invoice)) await closeInvoice(tx, invoice.id, 'cancelled', services.clock.now())
      }
    })
    return { ...payment, status, tx_hash: txHash }
  }
}

/** The transfer of a payment as the chain shows it. */
export const transferOf = (payment: Pick<X402Payment, keyof PaymentKey | 'address' | 'amount'>) => ({
  token: payment.token_address,
  from: payment.payer,
  to: payment.address,
  value: payment.amount,
  nonce: payment.nonce,
})
