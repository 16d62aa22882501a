import { setTimeout as sleep } from 'node:timers/promises'
import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Hash } from 'viem'
import type { Chain } from '../../chain/chain-port.ts'
import type { AuthorizedTransfer } from '../../chain/gas-wallet.ts'
import type { Services } from '../../platform/services.ts'
import { adoptPayment } from './adopt-payment.ts'
import { beginPayment } from './begin-payment.ts'
import { followPayment } from './follow-payment.ts'
import { endOf, paymentKey } from './payment-of.ts'
import { PaymentRefused } from './payment-refused.ts'
import {
  isPurchase,
  type PurchaseWish,
  type RefusedPayment,
  saveRefusal,
  type Wish,
  type X402Payment,
} from './payment-store.ts'
import type { PaymentTerms } from './payment-terms.ts'
import { readPayment } from './read-payment.ts'
import { type Came, whatCame } from './what-came.ts'

/** How often, and at which interval, the answer checks for the block of a payment. */
const LOOKS = 40
const LOOK_MS = 500
/** A refusal that no check explains is looked at again: nodes do not learn of a block at the same moment. */
const LOOKS_AGAIN = 4
const LOOK_AGAIN_MS = 250

/**
 * Takes a payment as it was presented: settles it, and waits for its block. When that fails, the chain is asked once more
 * whether the money came in another way, since anyone may send a signed transfer.
 * @param address the address to which the money has to go
 * @returns the payment, or another one under the same Idempotency-Key; still `sent` while its outcome is unknown
 * @throws PaymentRefused with 402 only when the chain says that the authorization is not used
 */
export async function takePayment(
  services: Services,
  presented: unknown,
  { terms, address, wish }: { terms: PaymentTerms[]; address: string; wish: Wish | PurchaseWish },
): Promise<X402Payment> {
  let wanted: ReturnType<typeof readPayment> | undefined
  try {
    wanted = readPayment(presented, terms)
    return await settle(services, await beginPayment(services, wanted.chain, wanted.transfer, wish))
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error
    if (wanted) return lookAgain(services, wanted, wish, error)
    if (error.signed) await lookForOther(services, error.signed, address)
    throw error
  }
}

/**
 * Sends a payment and waits for its block.
 * @returns the payment, still `sent` while its outcome is unknown
 * @throws PaymentRefused `payment_failed`
 */
export async function settle(services: Services, begun: X402Payment): Promise<X402Payment> {
  if (begun.status !== 'sent') return begun
  const chain = services.chains.find(({ settings }) => settings.chainId === begun.chain_id)!
  await chain.gasWallet!.broadcast(begun.raw_tx!)
  let payment = begun
  for (let look = 0; look < LOOKS && payment.status === 'sent'; look++) {
    if (look > 0) await sleep(LOOK_MS)
    // A node that does not answer says nothing about the payment.
    payment = await followPayment(services, chain, payment).catch(() => payment)
  }
  if (payment.status === 'failed') {
    throw new PaymentRefused('payment_failed', `The transfer was refused by the chain in ${payment.tx_hash}`)
  }
  return payment
}

/**
 * Decides on the answer in place of a refusal.
 * @returns the payment, when it came nevertheless
 * @throws PaymentRefused the refusal when nothing came, `payment_pending` when it may have come
 */
async function lookAgain(
  services: Services,
  { chain, transfer }: { chain: Chain; transfer: AuthorizedTransfer },
  wish: Wish | PurchaseWish,
  refusal: PaymentRefused,
): Promise<X402Payment> {
  const refused: RefusedPayment = {
    ...paymentKey(chain.settings.chainId, transfer),
    account_id: wish.accountId ?? '',
    address: transfer.to.toLowerCase() as RefusedPayment['address'],
    amount: transfer.value,
    key_hash: wish.keyHash ?? null,
    holds_until: endOf(services, transfer),
  }
  const isExplained = !['payment_failed', 'payment_nonce_used', 'settlement_unavailable'].includes(
    refusal.code,
  )
  let came: Came | undefined
  for (let look = 0; look < (isExplained ? 1 : LOOKS_AGAIN); look++) {
    if (look > 0) await sleep(LOOK_AGAIN_MS)
    came = await whatCame(chain, transfer).catch(() => undefined)
    if (came?.state === 'paid' && isPurchase(wish)) throw cameBefore(transfer, came.txHash)
    if (came?.state === 'paid') {
      const payment = await adoptPayment(services, chain, refused, came.txHash, wishedInvoice(wish))
      if (payment) return payment
    }
    if (came?.state === 'spent') throw refusal
  }
  // A third party may still send it.
  if (!isPurchase(wish)) await saveRefusal(services.db, refused, services.clock.now())
  const amount = formatUsd(transfer.value)
  if (came === undefined)
    throw new PaymentRefused(
      'settlement_unavailable',
      `The chain does not say whether this payment of ${amount} USD has come`,
    )
  if (came.state === 'unused') throw refusal
  throw new PaymentRefused(
    'payment_pending',
    `This payment of ${amount} USD was sent by somebody else, and the chain does not show yet what came of it`,
  )
}

const wishedInvoice = (wish: Wish | PurchaseWish) => (isPurchase(wish) ? undefined : wish.invoiceId)

/**
 * A payment that came before it was stored for this purchase buys nothing: anyone who has read it on the chain can present
 * it.
 */
const cameBefore = ({ value }: AuthorizedTransfer, txHash: Hash) =>
  new PaymentRefused(
    'payment_arrived',
    `This payment of ${formatUsd(value)} USD arrived in ${txHash}, before it was taken here: it is on the balance of its wallet`,
  )

/**
 * Checks whether a payment that does not match the terms, such as one of another amount, came nevertheless.
 * @throws PaymentRefused `payment_arrived`, `payment_pending`; returns when nothing came
 */
async function lookForOther(
  services: Services,
  { chainId, transfer }: NonNullable<PaymentRefused['signed']>,
  address: string,
): Promise<void> {
  const chain = services.chains.find(({ settings }) => settings.chainId === chainId)
  if (!chain?.gasWallet?.domains.has(transfer.token.toLowerCase())) return
  if (transfer.to.toLowerCase() !== address.toLowerCase()) return
  const came = await whatCame(chain, transfer).catch(() => undefined)
  const amount = formatUsd(transfer.value)
  if (came?.state === 'paid')
    throw new PaymentRefused('payment_arrived', `A payment of ${amount} USD arrived in ${came.txHash}`)
  if (came?.state === 'unknown')
    throw new PaymentRefused('payment_pending', `A payment of ${amount} USD may still come`)
}
