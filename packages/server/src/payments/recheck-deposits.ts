import type { Chain } from '../chain/chain-port.ts'
import type { ChainHeights } from '../chain/confirmation-policy.ts'
import type { Services } from '../services.ts'
import { type Deposit, isTransferOf, markFinal, moveDeposit, openDeposits } from './deposit-store.ts'
import { reverseDeposit } from './reverse-deposit.ts'

/** Blocks that are not believed to be final before the chain grew by so many: `finalized` is what one node says. */
export const MARGIN = 64

/**
 * Looks again at every deposit that the chain could still take back: moved to another block, dropped, or final.
 * Only a block of another hash at the deposit's height is a reason to doubt it: a node that lags shows none.
 */
export async function recheckDeposits(
  services: Services,
  chain: Chain,
  heights: ChainHeights,
): Promise<void> {
  const deposits = await openDeposits(services.db, chain.settings.chainId)
  const final = Math.min(heights.finalized, heights.head - MARGIN)
  for (const [number, inBlock] of Map.groupBy(deposits, (deposit) => deposit.block_number)) {
    const block = await chain.port.block(number)
    if (!block) continue
    for (const deposit of inBlock) {
      if (block.hash !== deposit.block_hash) await followDeposit(services, chain, deposit)
      else if (deposit.status === 'credited' && number <= final) await markFinal(services.db, deposit)
    }
  }
}

async function followDeposit(services: Services, chain: Chain, deposit: Deposit): Promise<void> {
  const receipt = await chain.port.receipt(deposit.tx_hash)
  const transfer = receipt?.transfers.find((shown) => isTransferOf(deposit, shown))
  if (receipt?.succeeded && transfer) await moveDeposit(services.db, deposit.id, transfer)
  else await reverseDeposit(services, chain, deposit)
}
