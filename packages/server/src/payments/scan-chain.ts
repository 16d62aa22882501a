import type { BlockRef, Chain, TransferLog } from '../chain/chain-port.ts'
import { ChainUnavailableError } from '../chain/viem-chain.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../services.ts'
import { moveCursor } from './chain-cursor-store.ts'
import { knownAddresses } from './deposit-address-store.ts'
import { isSeenAt, openDeposits } from './deposit-store.ts'
import { MARGIN } from './recheck-deposits.ts'
import { recordTransfer } from './record-transfer.ts'

/** Blocks asked for at once. */
const RANGE = 500
/** Micro-dollars. Nobody pays a billion dollars: such a log is a token gone wrong. */
const LARGEST = 1_000_000_000_000_000n
/** Transfers that may be read again for each new block: where there are more, blocks are read again less often. */
const AGAIN_PER_BLOCK = 1_000

/**
 * Makes the scanner of one chain: each call writes down the deposits in all blocks after `scanned` up to the head, and
 * keeps what it got through at any stop. The newest blocks before those are read again, for logs that a node left out
 * and reorganisations that nobody saw; that changes nothing for what is known.
 * @returns of each call: the last block that was looked through
 */
export function chainScanner(services: Services, chain: Chain) {
  const { chainId, startBlock = 0 } = chain.settings
  const addresses = knownAddresses(services.db)
  /** Blocks are read again once the head is here. */
  let againAt = 0

  return async (scanned: BlockRef, head: number): Promise<BlockRef> => {
    await addresses.refresh()
    let reached = scanned
    while (reached.number < head) {
      const next = reached.number + 1
      const isAgain = reached === scanned && head >= againAt
      const from = isAgain ? Math.min(next, Math.max(startBlock, next - MARGIN)) : next
      const to = Math.min(from + RANGE - 1, head)
      const range = await readRange(chain, reached, from, to)
      const open = await openDeposits(services.db, chainId)
      const isNew = (transfer: TransferLog) => !open.some((deposit) => isSeenAt(deposit, transfer))
      const ours = range.transfers.flatMap((transfer) => {
        const address = addresses.find(transfer.to)
        return address && isPlausible(transfer) && isNew(transfer) ? [{ transfer, address }] : []
      })
      await inTransaction(services.db, async (tx) => {
        for (const { transfer, address } of ours) await recordTransfer(tx, services, chain, transfer, address)
        await moveCursor(tx, chainId, range.last)
      })
      if (isAgain) againAt = to + Math.min(MARGIN / 2, Math.ceil(range.transfers.length / AGAIN_PER_BLOCK))
      reached = range.last
    }
    return reached

    /** Transfers of nothing are spam. */
    function isPlausible({ value, txHash, blockNumber }: TransferLog): boolean {
      if (value > LARGEST && blockNumber > scanned.number)
        services.log.error({ transfer: txHash }, 'A deposit is too large to be one')
      return value > 0n && value <= LARGEST
    }
  }
}

/**
 * The transfers in these blocks, and the last of the blocks.
 * @param after the block behind which new ones begin
 * @throws ChainUnavailableError when the nodes showed no single chain that goes on after that block; where it was
 * reorganised between two questions, the next look goes back
 */
async function readRange(
  { port }: Chain,
  after: BlockRef,
  from: number,
  to: number,
): Promise<{ last: BlockRef; transfers: TransferLog[] }> {
  const last = await port.block(to)
  const first = after.number + 1 === to ? last : await port.block(after.number + 1)
  if (last && first?.parentHash === after.hash) {
    const transfers = await port.transfers(from, to)
    // The last block was there before and after, so what was read between is of its chain.
    if ((await port.block(to))?.hash === last.hash) return { last, transfers }
  }
  throw new ChainUnavailableError(
    `The nodes of ${port.network} show no single chain from block ${after.number} to ${to}: it was reorganised while it was read, or they disagree`,
  )
}
