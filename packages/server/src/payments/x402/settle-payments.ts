import type { Chain } from '../../chain/chain-port.ts'
import type { Services } from '../../platform/services.ts'
import { followPayment } from './follow-payment.ts'
import { openPayments, unminedPayments } from './payment-store.ts'

/**
 * Sends again the transactions that the chain does not have, those of settled payments too: a reorg drops transactions,
 * and those of the gas wallet wait for each other. Then stores the outcome of open payments. The watcher of the chain
 * credits the money that arrived. Takes no input, and can be killed at any point.
 */
export async function settlePayments(services: Services, chain: Chain): Promise<void> {
  const wallet = chain.gasWallet
  if (!wallet) return
  const { chainId } = chain.settings
  const sent = await unminedPayments(services.db, {
    chainId,
    wallet: wallet.address,
    minedCount: await wallet.minedCount(),
  })
  for (const { raw_tx } of sent) await wallet.broadcast(raw_tx)
  for (const payment of await openPayments(services.db, chainId))
    await followPayment(services, chain, payment)
}
