import { errors } from '@coinrack/contract/errors.ts'
import type { OperationName, Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { formatUsd, type NextStep } from '@coinrack/contract/wire.ts'
import { payerAt } from '../../chain/wallet-that-signed.ts'
import type { PaidHandler } from '../../dispatch/handler.ts'
import { OperationError } from '../../platform/errors.ts'
import { createSealer, sha256 } from '../../platform/sealer.ts'
import { doorAddress, ensureDoorAddress } from '../deposit-address-store.ts'
import { awaitCredit } from '../x402/await-credit.ts'
import { paymentKey } from '../x402/payment-of.ts'
import { PaymentRefused } from '../x402/payment-refused.ts'
import {
  findPayment,
  markTold,
  type PaymentKey,
  type PurchaseWish,
  type X402Payment,
} from '../x402/payment-store.ts'
import { paymentRequired, paymentTerms } from '../x402/payment-terms.ts'
import { readSigned } from '../x402/read-payment.ts'
import { paymentTold, settlementOf } from '../x402/settlement-view.ts'
import { settle, takePayment } from '../x402/take-payment.ts'
import { beginPurchase, TOKEN_TEXT } from './begin-purchase.ts'
import type { Goods } from './goods.ts'
import { earlierPurchase, findPurchase, type PurchaseRow, savePurchase } from './purchase-store.ts'
import { makeQuote, readQuote } from './quote.ts'
import { isSecretKey } from './secret-key.ts'

type PurchaseCall = Pick<
  Parameters<PaidHandler<'buyVps'>>[0],
  'db' | 'services' | 'paidServices' | 'payment' | 'key' | 'digest' | 'isGone' | 'until' | 'client'
>

/** How a payment was presented. */
interface Presented {
  quoteHash: Buffer | undefined
  keyHash: Buffer | undefined
  /** Whether this call stored the payment, so that no chain can have shown it before. */
  isFirst: boolean
}

/** The part of the answer that stands beside the order or sandbox. */
interface Paid {
  token: string | null
  token_type: 'Bearer'
  token_expires_at: Date | null
  account_id: string
  settlement: ReturnType<typeof settlementOf>
}

/**
 * Sells something for one signed payment, to a caller without an account. The payment goes to the shared address of all
 * such purchases and is credited to the account of the wallet that signed, however it arrives; the goods are then paid
 * for from that balance.
 */
export async function purchase<N extends OperationName>(
  call: PurchaseCall,
  goods: Goods<N>,
): Promise<Output<Operations[N]> & Paid> {
  const { db, services, paidServices, payment: presented, key, digest, isGone } = call
  if (key !== undefined && !isSecretKey(key)) {
    const message = 'Expected at least 128 random bits: anyone who has the key is given the token'
    refuse('invalid_input', message, { fields: { details: [{ path: 'Idempotency-Key', message }] } })
  }
  const keyHash = key === undefined ? undefined : sha256(`purchase\n${key}`)
  const payTo = doorAddress(services)
  const price = () => goods.price(db)
  const termsOf = (amount: bigint, quote = makeQuote(services, { digest, amount, payTo })) => {
    const terms = paymentTerms(services.chains, payTo, amount, {}, { quote })
    if (terms.length === 0) refuse('payment_method_unavailable', 'Nothing can be paid by x402 here now')
    return terms
  }

  try {
    if (presented === undefined) {
      const amount = await price()
      throw new PaymentRefused('payment_required', `Pay ${formatUsd(amount)} USD for ${goods.description}`)
    }
    const signed = readSigned(presented, services.chains)
    const paymentId = paymentKey(signed.chain.settings.chainId, signed.transfer)
    const quoteHash = signed.quote === undefined ? undefined : sha256(signed.quote)
    const known = await findPurchase(db, paymentId)
    const knownPayment = known && (await findPayment(db, paymentId))
    if (known && knownPayment && knownPayment.status !== 'failed')
      return await finish(knownPayment, known, { quoteHash, keyHash, isFirst: false })

    const promised =
      signed.quote === undefined ? undefined : readQuote(services, signed.quote, { digest, payTo })
    if (signed.quote !== undefined && promised === undefined)
      throw new PaymentRefused(
        'payment_not_accepted',
        'The quote in "accepted" has expired, or was given for another request',
      )
    // A refusal is still possible here, since no money was taken.
    const priced = await price()
    let isFirst = false
    const wallet = await payerAt(signed.chain, signed.transfer.from)
    const wish: PurchaseWish = {
      accountId: await services.walletAccounts.find(db, wallet),
      keyHash,
      async account(tx) {
        isFirst = false
        await ensureDoorAddress(tx, services)
        return services.walletAccounts.ensure(tx, services, wallet)
      },
      earlier: (from) => earlierPurchase(from, paymentId, { digest, keyHash }),
      async begun(tx, { account_id }) {
        isFirst = true
        await savePurchase(tx, {
          ...paymentId,
          ...{ account_id, digest, quote_hash: quoteHash ?? null, key_hash: keyHash ?? null },
          created_at: services.clock.now(),
        })
      },
    }
    const terms = termsOf(promised ?? priced, signed.quote)
    const payment = await takePayment(services, presented, { terms, address: payTo, wish })
    const begun = await findPurchase(paidServices.db, payment)
    return await finish(payment, begun, { quoteHash, keyHash, isFirst })
  } catch (error) {
    if (!(error instanceof PaymentRefused)) throw error
    const { code, message, told } = error
    if (errors[code].status !== 402)
      return refuse(code, message, {
        fields: told && paymentTold(told),
        ...(errors[code].status === 409 ? { nextSteps: WAY_BACK } : {}),
      })
    const terms = termsOf(await price())
    return refuse(code, message, { fields: { ...paymentRequired(terms, message, goods) } })
  }

  /** Answers a stored payment with the order or sandbox that it bought, which is started now if it was not yet. */
  async function finish(
    payment: X402Payment,
    begun: PurchaseRow | undefined,
    how: Presented,
  ): Promise<Output<Operations[N]> & Paid> {
    if (!begun) throw new PaymentRefused('payment_arrived', 'This payment was taken for something else')
    if (!begun.digest.equals(digest))
      return refuse('payment_used', 'This payment was presented with another request before')
    const settled = payment.status === 'sent' ? await settle(paidServices, payment) : payment
    // The header can be rebuilt from data on the chain: a caller with no other secret learns nothing and starts nothing.
    if (!how.isFirst && !isOfBuyer(begun, how, paymentIdOf(payment)))
      return refuse('payment_arrived', 'This payment was taken for this request', {
        fields: { purchase: await statusOf(begun), ...paymentTold(settled) },
        nextSteps: WAY_BACK,
      })
    if (settled.status === 'sent') throw pending(settled)
    const isBegun = (begun.order_id ?? begun.sandbox_id) !== null
    if (!isBegun) {
      const deposit = await awaitCredit(paidServices, settled, call.until)
      if (deposit?.status !== 'credited') throw pending(settled)
    }
    const made = isBegun ? undefined : await begin(settled, begun)
    const paid = (await findPurchase(paidServices.db, payment))!
    if (!isGone()) await markTold(paidServices.db, payment, services.clock.now())
    const again = made ?? tokenAgain(paid, how)
    return {
      ...(made?.body ?? (await goods.show(paidServices.db, paidServices, paid))),
      token: again.token,
      token_type: 'Bearer',
      token_expires_at: again.expiresAt,
      account_id: paid.account_id,
      settlement: settlementOf(settled),
    }
  }

  async function begin(payment: X402Payment, row: PurchaseRow) {
    const { client, until } = call
    try {
      const buyer = { accountId: row.account_id, caller: undefined, client, key, until }
      return await beginPurchase(paidServices, goods, row, buyer)
    } catch (error) {
      if (!(error instanceof OperationError)) throw error
      // Never a 402 or a code that leads to another payment: the money is there.
      return refuse(
        'payment_arrived',
        `${formatUsd(payment.amount)} USD arrived and are on the balance of the wallet. ${error.message}`,
        {
          fix: 'Do not pay again: send the same request with the same payment once more, or log in by wallet and use the balance.',
          fields: { refused: error.code, ...paymentTold(payment) },
          nextSteps: WAY_BACK,
        },
      )
    }
  }

  /** The token once more, for a caller with the secret key that came with the purchase. */
  function tokenAgain(row: PurchaseRow, how: Presented): { token: string | null; expiresAt: Date | null } {
    const isSameKey = how.keyHash !== undefined && row.key_hash?.equals(how.keyHash)
    if (!isSameKey || row.token_text === null) return { token: null, expiresAt: null }
    return {
      token: createSealer(key!, services.random).open(row.token_text, TOKEN_TEXT),
      expiresAt: row.token_expires_at,
    }
  }

  async function statusOf({ order_id, sandbox_id }: PurchaseRow) {
    const isBegun = (order_id ?? sandbox_id) !== null
    return { order_id, sandbox_id, status: isBegun ? 'begun' : 'paid' }
  }

  /** Whether the caller is the buyer: it presents a secret that no chain shows, or a new signature for the same request. */
  function isOfBuyer(row: PurchaseRow, how: Presented, of: PaymentKey): boolean {
    const isSameQuote = how.quoteHash !== undefined && row.quote_hash?.equals(how.quoteHash)
    const isSameKey = how.keyHash !== undefined && row.key_hash?.equals(how.keyHash)
    const presentedNonce =
      presented === undefined ? undefined : readSigned(presented, services.chains).transfer.nonce
    const isSignedAnew = presentedNonce?.toLowerCase() !== of.nonce
    return isSameQuote === true || isSameKey === true || isSignedAnew
  }
}

const paymentIdOf = ({ chain_id, token_address, payer, nonce }: X402Payment): PaymentKey => ({
  chain_id,
  token_address,
  payer,
  nonce,
})

const pending = (payment: X402Payment) =>
  new PaymentRefused(
    'payment_pending',
    `The payment of ${formatUsd(payment.amount)} USD is on its way: send the same request with the same payment once more`,
    { told: payment },
  )

/** The next step by which a wallet reaches its account, even when an answer was lost. */
const WAY_BACK: NextStep[] = [
  {
    tool: 'request_wallet_challenge',
    why: 'Log in with the wallet that paid: its balance and machines are there',
  },
]

const refuse: (...refusal: ConstructorParameters<typeof OperationError>) => never = (...refusal) => {
  throw new OperationError(...refusal)
}
