import type { Hex } from 'viem'
import type { Chain } from '../../chain/chain-port.ts'
import type { AuthorizedTransfer, Fees, GasWallet } from '../../chain/gas-wallet.ts'
import { inTransaction, type Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { checkPayment } from './check-payment.ts'
import { earlierPayment } from './earlier-payment.ts'
import { endOf, invoiceOf, paymentKey } from './payment-of.ts'
import { PaymentRefused } from './payment-refused.ts'
import {
  findPayment,
  isPurchase,
  lockPayments,
  type PurchaseWish,
  savePayment,
  takeWalletNonce,
  untoldPayments,
  type WantedPayment,
  type Wish,
  type X402Payment,
} from './payment-store.ts'

/**
 * Stores a payment to be settled, with the signed transaction that settles it. Nothing is sent before that is committed,
 * so that a service that is killed leaves no money in flight that the next process does not know of.
 * Presenting the same payment again returns the stored one, and so does another one under the same Idempotency-Key.
 * @throws PaymentRefused when the chain would refuse it, or when an earlier one for the same top-up came or may come;
 * nothing was written then
 */
export async function beginPayment(
  services: Services,
  chain: Chain,
  transfer: AuthorizedTransfer,
  wish: Wish | PurchaseWish,
): Promise<X402Payment> {
  const { accountId } = wish
  const purchase = isPurchase(wish) ? wish : undefined
  const wallet = chain.gasWallet!
  const key = paymentKey(chain.settings.chainId, transfer)
  const begun = (found: X402Payment | undefined) => {
    if (!found || found.status === 'failed') return undefined
    const isOfAccount = accountId === undefined || found.account_id === accountId
    if (isOfAccount && found.amount === transfer.value) return found
    throw new PaymentRefused('payment_nonce_used', 'The nonce is used by another payment')
  }
  const before = begun(await findPayment(services.db, key))
  if (before) return before
  const wanted = { ...key, amount: transfer.value, address: transfer.to.toLowerCase() as Hex }
  const earlier = isPurchase(wish) ? undefined : await earlierPayment(services, wanted, wish)
  if (earlier) return earlier

  let ready: Awaited<ReturnType<typeof prepare>>
  try {
    await checkPayment(services, chain, transfer)
    const same = await purchase?.earlier(services.db)
    if (same) return same
    ready = await prepare(services, wallet, transfer)
  } catch (refused) {
    // A faster copy of this payment may have used the nonce.
    const faster = begun(await findPayment(services.db, key))
    if (faster) return faster
    throw refused
  }
  const { fees, minedCount } = ready
  const saved = await inTransaction(services.db, async (tx) => {
    const account = isPurchase(wish) ? await wish.account(tx) : wish.accountId
    await lockPayments(tx, account)
    const { chain_id: chainId } = key
    const walletNonce = await takeWalletNonce(tx, { chainId, wallet: wallet.address, minedCount })
    const meanwhile = begun(await findPayment(tx, key))
    if (meanwhile) return meanwhile
    // Another payment for the same purpose was faster: its outcome is looked up outside this transaction.
    const faster = isPurchase(wish) ? await wish.earlier(tx) : await fasterTopup(tx, wish, wanted)
    if (faster) return undefined

    const { hash, raw } = await wallet.sign(transfer, fees, walletNonce)
    const payment: X402Payment = {
      ...key,
      account_id: account,
      address: wanted.address,
      amount: transfer.value,
      ...(await invoiceOf(tx, services, { ...wish, accountId: account }, transfer.value)),
      status: 'sent',
      tx_hash: hash,
      raw_tx: raw,
      wallet: wallet.address,
      wallet_nonce: walletNonce,
      created_at: services.clock.now(),
      key_hash: wish.keyHash ?? null,
      holds_until: endOf(services, transfer),
    }
    await savePayment(tx, payment)
    await wish.begun?.(tx, payment)
    return payment
  })
  return saved ?? beginPayment(services, chain, transfer, wish)
}

async function fasterTopup(tx: Transaction, wish: Wish, wanted: WantedPayment) {
  return (await untoldPayments(tx, wish, wanted)).find(({ status }) => status !== 'failed')
}

/** Reads the fees of the transaction, and checks that the gas wallet can pay them. */
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
