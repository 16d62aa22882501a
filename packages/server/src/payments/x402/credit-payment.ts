import type { Chain } from '../../chain/chain-port.ts'
import type { ConfirmationPolicy } from '../../chain/confirmation-policy.ts'
import { inTransaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { readCursor } from '../chain-cursor-store.ts'
import { chainHeights } from '../chain-heights.ts'
import { creditDeposit } from '../credit-deposit.ts'
import { type Deposit, depositOf } from '../deposit-store.ts'
import { recordTransfer } from '../record-transfer.ts'
import { transferOf } from './follow-payment.ts'
import { paidBy } from './paid-by.ts'
import type { X402Payment } from './payment-store.ts'

/**
 * Credits a settled payment. A failure here loses nothing: the money has come, and the watcher of the chain credits it
 * later.
 */
export async function creditNow(services: Services, payment: X402Payment): Promise<Deposit | undefined> {
  const chain = services.chains.find(({ settings }) => settings.chainId === payment.chain_id)
  if (payment.status !== 'settled' || !chain) return undefined
  return creditPayment(services, chain, payment).catch((error) => {
    services.log.error({ err: error }, 'A payment by x402 that has settled could not be credited at once')
    return undefined
  })
}

/**
 * Credits a settled payment as a deposit, at once up to the configured amount. The watcher finds the same deposit, and
 * the first of the two credits it.
 * @returns the current deposit; undefined while the chain does not show it
 */
async function creditPayment(
  services: Services,
  chain: Chain,
  payment: X402Payment,
): Promise<Deposit | undefined> {
  const transfer = await paidBy(chain, payment.tx_hash, transferOf(payment))
  if (!transfer) return undefined
  await inTransaction(services.db, (tx) => recordTransfer(tx, services, chain, transfer, payment))
  const seen = () => depositOf(services.db, payment.chain_id, transfer)
  const deposit = await seen()
  if (deposit?.status !== 'seen') return deposit
  const policy = atOnce(chain.settings.confirmation, services.config.x402AtOnce)
  const cursor = await readCursor(services.db, payment.chain_id)
  const promised = cursor && { safe: cursor.safe_number, finalized: cursor.finalized_number }
  const heights = await chainHeights(chain, await chain.port.newest(), promised)
  // The endpoint that has the receipt may be a moment ahead of the others.
  const head = Math.max(heights.head, transfer.blockNumber)
  await creditDeposit(services, chain, deposit, { ...heights, head }, policy)
  return seen()
}

/**
 * The policy of a chain, preceded by a tier for which one block is enough.
 * @param upTo the limit in micro-USD for the sum of the account's early credits
 */
const atOnce = (policy: ConfirmationPolicy, upTo: bigint): ConfirmationPolicy => ({
  ...policy,
  tiers: [{ upTo, needs: 1 }, ...policy.tiers],
})
