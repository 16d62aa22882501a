import type { Hex } from 'viem'
import type { Chain } from '../../chain/chain-port.ts'
import type { AuthorizedTransfer, Fees, GasWallet } from '../../chain/gas-wallet.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Services } from '../../services.ts'
import { createTopupInvoice } from '../create-invoice.ts'
import { unpaidTopup } from '../invoice-store.ts'
import { checkPayment } from './check-payment.ts'
import { PaymentRefused } from './payment-refused.ts'
import {
  findPayment,
  type PaymentKey,
  savePayment,
  takeWalletNonce,
  type X402Payment,
} from './payment-store.ts'

/**
 * Writes down that a payment is to be settled, with the transaction that does it, signed. Nothing is sent before that
 * is committed, so that a service that is killed leaves no money on its way that the next one does not know of.
 * The same payment again is the one that was begun.
 * @throws PaymentRefused when the chain would not take it; nothing was written then
 */
export async function beginPayment(
  services: Services,
  chain: Chain,
  transfer: AuthorizedTransfer,
  accountId: string,
): Promise<X402Payment> {
  const wallet = chain.gasWallet!
  const key: PaymentKey = {
    chain_id: chain.settings.chainId,
    token_address: lower(transfer.token),
    payer: lower(transfer.from),
    nonce: lower(transfer.nonce),
  }
  const begun = (found: X402Payment | undefined) => {
    if (!found || found.status === 'failed') return undefined
    if (found.account_id === accountId && found.amount === transfer.value) return found
    throw new PaymentRefused('payment_nonce_used', 'The nonce is used by another payment')
  }
  const before = begun(await findPayment(services.db, key))
  if (before) return before

  let ready: Awaited<ReturnType<typeof prepare>>
  try {
    await checkPayment(services, chain, transfer)
    ready = await prepare(services, wallet, transfer)
  } catch (refused) {
    // A copy of it that was faster has used the nonce.
    const faster = begun(await findPayment(services.db, key))
    if (faster) return faster
    throw refused
  }
  const { fees, minedCount } = ready
  return inTransaction(services.db, async (tx) => {
    const { chain_id: chainId } = key
    const walletNonce = await takeWalletNonce(tx, { chainId, wallet: wallet.address, minedCount })
    const meanwhile = begun(await findPayment(tx, key))
    if (meanwhile) return meanwhile

    const { hash, raw } = await wallet.sign(transfer, fees, walletNonce)
    const wanted = { accountId, amount: transfer.value, network: null, token: null }
    const own = await createTopupInvoice(tx, services, wanted)
    const invoice = own ?? (await unpaidTopup(tx, accountId))
    if (!invoice) throw new Error('The top-up that was in the way is closed meanwhile')
    const payment = {
      ...key,
      account_id: accountId,
      address: lower(transfer.to),
      amount: transfer.value,
      invoice_id: invoice.id,
      own_invoice: own !== undefined,
      tx_hash: hash,
      raw_tx: raw,
      wallet: wallet.address,
      wallet_nonce: walletNonce,
      created_at: services.clock.now(),
    }
    await savePayment(tx, payment)
    return { ...payment, status: 'sent' as const }
  })
}

const lower = (text: Hex) => text.toLowerCase() as Hex

/** What the transaction costs, and that it can be paid. */
async function prepare(
  { log }: Services,
  wallet: GasWallet,
  transfer: AuthorizedTransfer,
): Promise<{ fees: Fees; minedCount: number }> {
  let asked: [Fees, bigint, number]
  try {
    asked = await Promise.all([wallet.fees(transfer), wallet.funds(), wallet.minedCount()])
  } catch (error) {
    log.error({ err: error }, 'A payment by x402 could not be prepared')
    throw new PaymentRefused('settlement_unavailable', 'The chain does not answer')
  }
  const [fees, funds, minedCount] = asked
  if (funds < fees.gas * fees.maxFeePerGas) {
    log.error({ wallet: wallet.address, funds: String(funds) }, 'The gas wallet is empty')
    throw new PaymentRefused(
      'settlement_unavailable',
      'The service cannot send transfers on this network now',
    )
  }
  return { fees, minedCount }
}
