import type { Hash } from 'viem'
import type { Chain } from '../../chain/chain-port.ts'
import { inTransaction, type Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { type Deposit, depositOf } from '../deposit-store.ts'
import { lockPayment } from '../lock-payment.ts'
import { settleWhenCovered } from '../settle-invoice.ts'
import { transferOf } from './follow-payment.ts'
import { paidBy } from './paid-by.ts'
import { invoiceOf } from './payment-of.ts'
import {
  findPayment,
  lockPayments,
  type RefusedPayment,
  savePayment,
  type X402Payment,
} from './payment-store.ts'

/**
 * Stores a payment that a third party sent as a settled one of ours, with the top-up that it was meant for, so that it
 * is answered like any other.
 * @param txHash the transaction in which it paid us
 * @param invoiceId the invoice that it was meant for, unless any top-up will do
 * @returns undefined when the chain no longer shows it
 */
export async function adoptPayment(
  services: Services,
  chain: Chain,
  refused: RefusedPayment,
  txHash: Hash,
  invoiceId?: string,
): Promise<X402Payment | undefined> {
  const log = await paidBy(chain, txHash, transferOf(refused))
  if (!log) return undefined
  const accountId = refused.account_id
  return inTransaction(services.db, async (tx) => {
    await lockPayments(tx, accountId)
    const known = await findPayment(tx, refused)
    if (known && known.status !== 'failed') return known.account_id === accountId ? known : undefined

    await lockPayment(tx, services, { accountId, invoiceId: null })
    // The watcher of the chain may have recorded the deposit already, before there was a top-up.
    const deposit = await depositOf(tx, refused.chain_id, log)
    const invoice = deposit?.invoice_id
      ? { invoice_id: deposit.invoice_id, own_invoice: false }
      : await invoiceOf(tx, services, { accountId, ...(invoiceId && { invoiceId }) }, refused.amount)
    const payment: X402Payment = {
      ...refused,
      ...invoice,
      status: 'settled',
      tx_hash: txHash,
      raw_tx: null,
      wallet: null,
      wallet_nonce: null,
      created_at: services.clock.now(),
    }
    await savePayment(tx, payment)
    if (deposit) await giveInvoice(tx, services, deposit, payment.invoice_id)
    return payment
  })
}

async function giveInvoice(tx: Transaction, services: Services, deposit: Deposit, invoiceId: string) {
  await tx.query('update deposit set invoice_id = $2 where id = $1 and invoice_id is null', [
    deposit.id,
    invoiceId,
  ])
  await settleWhenCovered(tx, services, invoiceId, undefined)
}
