import type { Chain, TransferLog } from '../chain/chain-port.ts'
import type { ChainHeights } from '../chain/confirmation-policy.ts'
import type { Services } from '../services.ts'
import { type Deposit, isTransferOf, markFinal, moveDeposit, openDeposits } from './deposit-store.ts'
import { reverseDeposit } from './reverse-deposit.ts'

/**
 * Blocks that are not believed to be final before the chain grew by so many: `finalized` is what one node says. For as
 * long they are read again.
 */
export const MARGIN = 64

/**
 * Looks again at every deposit that the chain could still take back: moved to another block, dropped, or final. One
 * that was seen and never was there is dropped when its block is final.
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
      else if (number > final) continue
      else if (deposit.status === 'credited') await markFinal(services.db, deposit)
      else await dropUnproven(services, chain, deposit)
    }
  }
}

async function followDeposit(services: Services, chain: Chain, deposit: Deposit): Promise<void> {
  const receipt = await chain.port.receipt(deposit.tx_hash)
  const transfer = receipt?.transfers.find((shown) => isTransferOf(deposit, shown))
  if (receipt?.succeeded && transfer) await moveDeposit(services.db, deposit.id, transfer)
  else await reverseDeposit(services, chain, deposit)
}

/**
 * A deposit that was seen in a block that is final now: when no receipt of any node shows it, the log was false, and
 * nobody has to wait for it. A node that has no receipt at all may have forgotten old ones: then its logs decide.
 */
async function dropUnproven(services: Services, chain: Chain, deposit: Deposit): Promise<void> {
  const { port } = chain
  const isAmong = (transfers: TransferLog[]) => transfers.some((shown) => isTransferOf(deposit, shown))
  const receipts = await port.receipts(deposit.tx_hash)
  if (receipts.length < port.nodes) return
  if (receipts.some((receipt) => receipt?.succeeded && isAmong(receipt.transfers))) return
  const { block_number: block } = deposit
  if (receipts.includes(undefined) && isAmong(await port.transfers(block, block))) return
  await reverseDeposit(services, chain, deposit)
}
