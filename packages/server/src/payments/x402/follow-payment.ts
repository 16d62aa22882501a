import type { Chain } from '../../chain/chain-port.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Services } from '../../services.ts'
import { closeInvoice, isTouched, lockInvoice } from '../invoice-store.ts'
import { paidBy } from './paid-by.ts'
import { closePayment, type X402Payment } from './payment-store.ts'

/** A node may lag: what it does not show is believed after this. */
const LAG_MS = 60_000

/**
 * Looks what came of a payment, and writes it down once that is certain. A transaction that nobody has seen is not one
 * that failed: it stays `sent`.
 * @returns the payment as it is now
 */
export async function followPayment(
  services: Services,
  chain: Chain,
  payment: X402Payment,
): Promise<X402Payment> {
  if (payment.status !== 'sent') return payment
  const wallet = chain.gasWallet!
  const transfer = transferOf(payment)
  if (await paidBy(chain, payment.tx_hash, transfer)) return close('settled', payment.tx_hash)

  const isLate = services.clock.now().getTime() - payment.created_at.getTime() > LAG_MS
  const reverted = (await chain.port.receipt(payment.tx_hash))?.succeeded === false
  if (!reverted && !(isLate && (await wallet.minedCount()) > payment.wallet_nonce)) return payment
  // Ours took nothing. It may be that another was faster with the same authorization.
  if (!(await wallet.payerOf(transfer)).isUsed) return close('failed', payment.tx_hash)
  const used = await wallet.usedIn(transfer)
  if (used && (await paidBy(chain, used, transfer))) return close('settled', used)
  return used || isLate ? close('failed', payment.tx_hash) : payment

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

/** What is to be seen on the chain of a payment. */
export const transferOf = (payment: X402Payment) => ({
  token: payment.token_address,
  from: payment.payer,
  to: payment.address,
  value: payment.amount,
  nonce: payment.nonce,
})
