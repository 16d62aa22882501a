import {
  type BlockRef,
  type Chain,
  type ChainNode,
  ChainUnavailableError,
  type TransferLog,
} from '../chain/chain-port.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { moveCursor } from './chain-cursor-store.ts'
import type { KnownAddresses } from './deposit-address-store.ts'
import { isSeenAt, openDeposits } from './deposit-store.ts'
import { ourTransfers } from './our-transfers.ts'
import { MARGIN } from './recheck-deposits.ts'
import { recordOurTransfer } from './record-transfer.ts'

/** How many blocks are requested at once, at first and at most. */
const FIRST_BLOCKS = 128
export const MOST_BLOCKS = 512
/** About how many transfers to our addresses are held in memory and written in one transaction at most. */
const MOST_OURS = 3_000
/** How many transfers may be read again for each new block: with more of them, blocks are read again less often. */
const AGAIN_PER_BLOCK = 1_000

/** How many blocks are requested at once: fewer when very many transfers are ours, since those are held in memory. */
export function scanSteps() {
  let blocks = FIRST_BLOCKS
  return {
    get blocks() {
      return blocks
    },
    /** @param ours how many transfers of the last step were to our addresses */
    found(ours: number): void {
      if (ours > MOST_OURS) blocks = Math.max(1, Math.floor((blocks * MOST_OURS) / ours))
      else if (ours * 2 <= MOST_OURS) blocks = Math.min(blocks * 2, MOST_BLOCKS)
    },
  }
}

/**
 * Makes the scanner of one chain: each call stores the deposits in all blocks after `scanned` up to the head, and keeps
 * its progress wherever it is stopped. The newest blocks before those are read again, to find logs that a node left out
 * and reorgs that went unnoticed; this changes nothing for known deposits.
 * @returns a function that returns the last block it scanned
 */
export function chainScanner(services: Services, chain: Chain, addresses: KnownAddresses) {
  const { chainId, startBlock = 0 } = chain.settings
  /** Blocks are read again once the head reaches this number. */
  let againAt = 0
  const steps = scanSteps()

  return async (scanned: BlockRef, head: number): Promise<BlockRef> => {
    await addresses.refresh()
    let reached = scanned
    while (reached.number < head) {
      const next = reached.number + 1
      const isAgain = reached === scanned && head >= againAt
      const from = isAgain ? Math.min(next, Math.max(startBlock, next - MARGIN)) : next
      const to = Math.min(Math.max(next, from + steps.blocks - 1), head)
      let count = 0
      const range = await readRange(chain, reached, { from, to }, (address) => {
        count++
        return addresses.find(address) !== undefined
      })
      const open = await openDeposits(services.db, chainId)
      const isNew = (transfer: TransferLog) => !open.some((deposit) => isSeenAt(deposit, transfer))
      const ours = await ourTransfers(
        chain,
        range.transfers.filter((transfer) => addresses.find(transfer.to) && isNew(transfer)),
        addresses,
      )
      await inTransaction(services.db, async (tx) => {
        for (const each of ours) await recordOurTransfer(tx, services, chain, each)
        await moveCursor(tx, chainId, range.last)
      })
      steps.found(ours.length)
      if (isAgain) againAt = to + Math.min(MARGIN / 2, Math.ceil(count / AGAIN_PER_BLOCK))
      reached = range.last
    }
    return reached
  }
}

/**
 * The transfers to our addresses in these blocks, and the last of the blocks: all from one node, since answers of several
 * might belong to different branches. When a node fails, or shows no chain that continues `after`, the next one is read.
 * @param after the block behind which new ones begin
 * @throws ChainUnavailableError when no node shows such a chain; after a reorg the next look goes back
 */
async function readRange(
  { port }: Chain,
  after: BlockRef,
  { from, to }: { from: number; to: number },
  keeps: (address: string) => boolean,
): Promise<{ last: BlockRef; transfers: TransferLog[] }> {
  for (const node of port.readers()) {
    const range = await readFrom(node, after, { from, to }, keeps).catch(() => undefined)
    if (range) return range
  }
  throw new ChainUnavailableError(
    `The endpoints of ${port.network} show no single chain from block ${after.number} to ${to}: it was reorganised while it was read, or they disagree`,
  )
}

/** @returns undefined when the chain was reorganised between two requests, or does not continue `after` */
async function readFrom(
  node: ChainNode,
  after: BlockRef,
  { from, to }: { from: number; to: number },
  keeps: (address: string) => boolean,
) {
  const last = await node.block(to)
  const first = after.number + 1 === to ? last : await node.block(after.number + 1)
  if (!last || first?.parentHash !== after.hash) return undefined
  const transfers = await node.transfers(from, to, keeps)
  // The last block was the same before and after the read, so the transfers belong to its chain.
  return (await node.block(to))?.hash === last.hash ? { last, transfers } : undefined
}
