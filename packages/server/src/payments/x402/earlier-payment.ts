import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Chain } from '../../chain/chain-port.ts'
import type { Services } from '../../platform/services.ts'
import { adoptPayment } from './adopt-payment.ts'
import { followPayment, transferOf } from './follow-payment.ts'
import { PaymentRefused } from './payment-refused.ts'
import {
  type RefusedPayment,
  refusedPayments,
  untoldPayments,
  type WantedPayment,
  type Wish,
  type X402Payment,
} from './payment-store.ts'
import { whatCame } from './what-came.ts'

/**
 * Checks, before a payment is sent, whether another one for the same top-up has come or may still come: one under the
 * same Idempotency-Key, or one of the same payer and amount that was refused or whose answer was lost.
 * @returns the payment under the same key, to be answered in place of this one
 * @throws PaymentRefused `payment_arrived`, `payment_pending`, `settlement_unavailable`
 */
export async function earlierPayment(
  services: Services,
  wanted: WantedPayment,
  wish: Wish,
): Promise<X402Payment | undefined> {
  const { db } = services
  const payments = await untoldPayments(db, wish, wanted)
  const refused = await refusedPayments(db, wish, wanted)
  for (const earlier of [...payments, ...refused]) {
    const chain = services.chains.find(({ settings }) => settings.chainId === earlier.chain_id)
    if (!chain?.gasWallet) continue
    const now = await lookAt(services, chain, earlier, wish.invoiceId)
    if (!now) continue
    const isSameKey = wish.keyHash !== undefined && earlier.key_hash?.equals(wish.keyHash)
    if (isSameKey && earlier.amount === wanted.amount) return now
    throw toldOf(now)
  }
  return undefined
}

/** @returns the payment as it is now; undefined when it took nothing */
async function lookAt(
  services: Services,
  chain: Chain,
  earlier: X402Payment | RefusedPayment,
  invoiceId: string | undefined,
): Promise<X402Payment | undefined> {
  try {
    if ('status' in earlier) {
      const now = await followPayment(services, chain, earlier)
      if (now.status !== 'failed') return now
    }
    const came = await whatCame(chain, transferOf(earlier))
    if (came.state === 'paid')
      return await adoptPayment(
        services,
        chain,
        { ...earlier, holds_until: earlier.holds_until ?? services.clock.now() },
        came.txHash,
        invoiceId,
      )
    if (came.state !== 'unknown') return undefined
  } catch (error) {
    services.log.error({ err: error }, 'An earlier payment by x402 could not be looked at')
    throw new PaymentRefused(
      'settlement_unavailable',
      'The chain does not say whether an earlier payment of this top-up has come',
    )
  }
  const amount = formatUsd(earlier.amount)
  throw new PaymentRefused(
    'payment_pending',
    `An earlier payment of ${amount} USD to this balance may still come; this one was not taken`,
  )
}

function toldOf(earlier: X402Payment): PaymentRefused {
  const amount = formatUsd(earlier.amount)
  return earlier.status === 'settled'
    ? new PaymentRefused(
        'payment_arrived',
        `An earlier payment of ${amount} USD to this balance arrived in ${earlier.tx_hash}; this one was not taken`,
        { told: earlier },
      )
    : new PaymentRefused(
        'payment_pending',
        `An earlier payment of ${amount} USD to this balance is on its way in ${earlier.tx_hash}; this one was not taken`,
        { told: earlier },
      )
}
