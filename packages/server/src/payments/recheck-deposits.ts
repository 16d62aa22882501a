import type { Chain } from '../chain/chain-port.ts'
import type { ChainHeights } from '../chain/confirmation-policy.ts'
import type { Services } from '../platform/services.ts'
import { type Deposit, markFinal, markWitnessed, moveDeposit, openDeposits } from './deposit-store.ts'
import { reverseDeposit } from './reverse-deposit.ts'
import { testimonyOf } from './testimony.ts'

/**
 * A block counts as final only after the chain has grown by this many blocks, whatever its endpoints promise. Until then
 * it is read again.
 */
export const MARGIN = 64

/**
 * Checks every deposit that the chain could still take back: it may have moved to another block, been dropped, or become
 * final. A seen deposit that was never there is dropped when its block is final, and one credited on the word of a single
 * endpoint waits for a second endpoint.
 * Only a block with another hash at its height casts doubt on a deposit: an endpoint that lags shows no block there.
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

/** The block is final: the receipts settle the place of the deposit in it, whatever the logs of one endpoint said last. */
async function end(services: Services, chain: Chain, deposit: Deposit): Promise<void> {
  const verdict = await testimonyOf(chain, deposit)
  if (verdict.kind === 'proven') await moveDeposit(services.db, deposit.id, verdict.transfer)
  await markFinal(services.db, deposit)
}

/** Applies what the endpoints report about a deposit: reversing it takes two of them, just as crediting it does. */
async function judge(services: Services, chain: Chain, deposit: Deposit): Promise<void> {
  const verdict = await testimonyOf(chain, deposit)
  if (verdict.kind === 'moved') await moveDeposit(services.db, deposit.id, verdict.transfer)
  if (verdict.kind === 'gone') await reverseDeposit(services, chain, deposit)
  if (verdict.kind === 'proven') await markWitnessed(services.db, deposit)
}
