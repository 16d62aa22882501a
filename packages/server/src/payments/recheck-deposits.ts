import type { Chain } from '../chain/chain-port.ts'
import type { ChainHeights } from '../chain/confirmation-policy.ts'
import type { Services } from '../platform/services.ts'
import { type Deposit, markFinal, markWitnessed, moveDeposit, openDeposits } from './deposit-store.ts'
import { reverseDeposit } from './reverse-deposit.ts'
import { testimonyOf } from './testimony.ts'

/**
 * Blocks that are not believed to be final before the chain grew by so many, whatever its endpoints promise. For as long
 * they are read again.
 */
export const MARGIN = 64

/**
 * Looks again at every deposit that the chain could still take back: moved to another block, dropped, or final. One
 * that was seen and never was there is dropped when its block is final, and one that was credited on the word of a single
 * endpoint waits for another one's.
 * Only a block of another hash at the deposit's height is a reason to doubt it: an endpoint that lags shows none.
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
      const isCredited = deposit.status === 'credited'
      const isDoubted = block.hash !== deposit.block_hash || (isCredited && !deposit.witnessed)
      if (isDoubted || (!isCredited && number <= final)) await judge(services, chain, deposit)
      else if (number <= final) await end(services, chain, deposit)
    }
  }
}

/** Its block is final: its place in it is for good what its receipts say, whatever the logs of one endpoint said last. */
async function end(services: Services, chain: Chain, deposit: Deposit): Promise<void> {
  const verdict = await testimonyOf(chain, deposit)
  if (verdict.kind === 'proven') await moveDeposit(services.db, deposit.id, verdict.transfer)
  await markFinal(services.db, deposit)
}

/** Follows what the endpoints say of a deposit: it takes two of them to take one back, as it takes two to credit it. */
async function judge(services: Services, chain: Chain, deposit: Deposit): Promise<void> {
  const verdict = await testimonyOf(chain, deposit)
  if (verdict.kind === 'moved') await moveDeposit(services.db, deposit.id, verdict.transfer)
  if (verdict.kind === 'gone') await reverseDeposit(services, chain, deposit)
  if (verdict.kind === 'proven') await markWitnessed(services.db, deposit)
}
