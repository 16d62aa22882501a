import type { BlockRef, Chain } from '../chain/chain-port.ts'
import type { ChainHeights } from '../chain/confirmation-policy.ts'
import { announce } from '../database/changes.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { beginCursor, type ChainCursor, moveCursor, readCursor, saveHeights } from './chain-cursor-store.ts'
import { chainHeights } from './chain-heights.ts'
import { creditDeposit } from './credit-deposit.ts'
import { type KnownAddresses, knownAddresses } from './deposit-address-store.ts'
import { openDeposits, writeOffBlocksAfter } from './deposit-store.ts'
import { MARGIN, recheckDeposits } from './recheck-deposits.ts'
import { chainScanner } from './scan-chain.ts'
import { witnessBlocks } from './witness-blocks.ts'

/** The chain behind the endpoints is not the one that was watched before. */
export class OtherChainError extends Error {
  override name = 'OtherChainError'
}

/** The result of one look at a chain. */
export interface ChainReport {
  /** How many of the blocks that were scanned already its endpoints lack; when above zero, nothing was done. */
  behind: number
  /** The chain no longer finalizes, and nothing is credited. */
  stalled: boolean
}

/**
 * Makes the reconciler of one chain: each call looks once, and brings deposits, credits and invoices in line with the
 * chain. It takes no input and can be killed at any step: its progress is in the database alone, and every step but the
 * last is idempotent; the last, the credit, happens once. When the chain has not changed since the last look and no
 * deposit waits to be credited, a call costs one request to each endpoint and no query.
 * @param addresses those of all chains, so that they are in memory once
 * @throws ChainUnavailableError, OtherChainError; the next call continues
 */
export function depositWatcher(
  services: Services,
  chain: Chain,
  addresses: KnownAddresses = knownAddresses(services),
) {
  const { db } = services
  const { port } = chain
  const { chainId } = chain.settings
  const scan = chainScanner(services, chain, addresses)
  let genesis: string | undefined
  /** The hash of the newest block at the last look if no work was left; it stands for all blocks before it. */
  let settledAt: string | undefined

  return async (): Promise<ChainReport> => {
    await chain.prove?.()
    const newest = await port.newest()
    if (newest.hash === settledAt) return { behind: 0, stalled: false }
    settledAt = undefined
    const before = await readCursor(db, chainId)
    const heights = await chainHeights(chain, newest, before && promisedBefore(before))
    genesis ??= (await blockAt(chain, 0)).hash
    const cursor = await placeCursor(services, chain, { genesis, heights, cursor: before })
    const behind = cursor.scanned_number - heights.head
    if (behind > 0) return { behind, stalled: false }

    const grown = await saveHeights(db, chainId, heights)
    await recheckDeposits(services, chain, heights)
    const reached = await scan(scannedBy(cursor), heights.head)
    if (port.endpoints().length > 1) {
      const to = Math.min(heights.finalized, heights.head - MARGIN)
      await witnessBlocks(services, chain, addresses, { from: cursor.witnessed_number, to })
    }

    let [waiting, stalled] = [false, false]
    const open = await openDeposits(db, chainId)
    for (const deposit of open) {
      if (deposit.status !== 'seen') continue
      const confirmation = await creditDeposit(services, chain, deposit, heights)
      stalled ||= confirmation.stalled
      waiting ||= !confirmation.enough
      if (grown && deposit.invoice_id) await announce(db, deposit.invoice_id)
    }
    if (waiting) await port.mine?.()
    // Once no deposit waits, only a change of the chain can bring new work.
    if (reached.hash === newest.hash && open.every(({ status }) => status !== 'seen')) settledAt = newest.hash
    return { behind: 0, stalled }
  }
}

/**
 * Decides where to continue: after the last scanned block, or further back when the chain has replaced that block: at
 * the last finalized block, and at least a margin below the scanned one. Or as far back as the operator wants.
 */
async function placeCursor(
  services: Services,
  chain: Chain,
  { genesis, heights, cursor }: { genesis: string; heights: ChainHeights; cursor: ChainCursor | undefined },
): Promise<ChainCursor> {
  const { chainId, demo } = chain.settings
  if (!cursor) return begin(services, chain, genesis, heights)

  if (cursor.genesis_hash !== genesis) {
    if (!demo)
      throw new OtherChainError(`Chain ${chainId} has genesis ${genesis}, not ${cursor.genesis_hash}`)
    services.log.error({ chainId }, 'The demo chain began anew: deposits on the old one stay as they are')
    await writeOffBlocksAfter(services.db, chainId, -1)
    return begin(services, chain, genesis, heights)
  }
  if (heights.head < cursor.scanned_number) {
    if (!demo) return cursor
    services.log.error({ chainId, head: heights.head }, 'The demo chain lost its newest blocks')
    return goBack(services, chain, cursor, heights.head, { writeOff: true })
  }
  if (cursor.rescan_from !== null) {
    services.log.info({ chainId, from: cursor.rescan_from }, 'The chain is looked through again')
    return goBack(services, chain, cursor, cursor.rescan_from - 1, { writeOff: false })
  }
  const scanned = await chain.port.block(cursor.scanned_number)
  if (!scanned || scanned.hash === cursor.scanned_hash) return cursor
  services.log.warn({ chainId, block: cursor.scanned_number }, 'The chain was reorganised')
  const kept = Math.min(cursor.finalized_number, heights.finalized, cursor.scanned_number - MARGIN)
  return goBack(services, chain, cursor, Math.max(0, kept), { writeOff: false })
}

async function begin(
  services: Services,
  chain: Chain,
  genesis: string,
  heights: ChainHeights,
): Promise<ChainCursor> {
  const { chainId, startBlock } = chain.settings
  const block = await blockAt(chain, startBlock === undefined ? heights.head : Math.max(0, startBlock - 1))
  await beginCursor(services.db, chainId, genesis, block, heights)
  return (await readCursor(services.db, chainId))!
}

async function goBack(
  services: Services,
  chain: Chain,
  cursor: ChainCursor,
  to: number,
  { writeOff }: { writeOff: boolean },
): Promise<ChainCursor> {
  const block = await blockAt(chain, to)
  const { chainId } = chain.settings
  await inTransaction(services.db, async (tx) => {
    if (writeOff) await writeOffBlocksAfter(tx, chainId, to)
    await moveCursor(tx, chainId, block)
  })
  const witnessed = Math.min(cursor.witnessed_number, to)
  return { ...cursor, scanned_number: block.number, scanned_hash: block.hash, witnessed_number: witnessed }
}

const promisedBefore = ({ safe_number, finalized_number }: ChainCursor) => ({
  safe: safe_number,
  finalized: finalized_number,
})

const scannedBy = (cursor: ChainCursor): BlockRef => ({
  number: cursor.scanned_number,
  hash: cursor.scanned_hash,
})

async function blockAt({ port }: Chain, number: number): Promise<BlockRef> {
  const block = await port.block(number)
  if (!block) throw new Error(`A node of chain ${port.chainId} lacks block ${number}`)
  return block
}
