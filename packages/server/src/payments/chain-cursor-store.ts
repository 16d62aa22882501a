import type { Hash } from 'viem'
import type { ChainHeights } from '../chain/confirmation-policy.ts'
import type { Queryable } from '../database/transaction.ts'

/** How far a chain has been scanned. */
export interface ChainCursor {
  genesis_hash: string
  /** All blocks up to this one have been scanned. */
  scanned_number: number
  scanned_hash: Hash
  safe_number: number
  finalized_number: number
  /** Two endpoints have shown the logs of all blocks up to this one. */
  witnessed_number: number
  /** The block from which the operator wants the chain scanned again. */
  rescan_from: number | null
}

export async function readCursor(db: Queryable, chainId: number): Promise<ChainCursor | undefined> {
  const { rows } = await db.query<ChainCursor>(
    `select genesis_hash, scanned_number::integer, scanned_hash, safe_number::integer,
       finalized_number::integer, witnessed_number::integer, rescan_from::integer
     from chain_cursor where chain_id = $1`,
    [chainId],
  )
  return rows[0]
}

/** Starts watching a chain after this block, or starts over on a chain with another genesis. */
export async function beginCursor(
  db: Queryable,
  chainId: number,
  genesisHash: string,
  block: { number: number; hash: string },
  heights: ChainHeights,
): Promise<void> {
  await db.query(
    `insert into chain_cursor
       (chain_id, genesis_hash, scanned_number, scanned_hash, head_number, safe_number, finalized_number,
        witnessed_number)
     values ($1, $2, $3, $4, $5, $6, $7, $3)
     on conflict (chain_id) do update set genesis_hash = excluded.genesis_hash,
       scanned_number = excluded.scanned_number, scanned_hash = excluded.scanned_hash,
       head_number = excluded.head_number, safe_number = excluded.safe_number,
       finalized_number = excluded.finalized_number, witnessed_number = excluded.witnessed_number`,
    [chainId, genesisHash, block.number, block.hash, heights.head, heights.safe, heights.finalized],
  )
}

export async function moveCursor(
  db: Queryable,
  chainId: number,
  block: { number: number; hash: string },
): Promise<void> {
  await db.query(
    `update chain_cursor set scanned_number = $2, scanned_hash = $3, witnessed_number = least(witnessed_number, $2),
       rescan_from = case when rescan_from <= $2 then rescan_from end
     where chain_id = $1`,
    [chainId, block.number, block.hash],
  )
}

/**
 * Requests that a chain be scanned again from a block that was scanned already; see `placeCursor`.
 * @returns how far the chain has been scanned; undefined when it never was
 */
export async function demandRescan(
  db: Queryable,
  chainId: number,
  from: number,
): Promise<number | undefined> {
  const { rows } = await db.query<{ scanned: number }>(
    `update chain_cursor set rescan_from = case when scanned_number >= $2 then least(rescan_from, $2) else rescan_from end
     where chain_id = $1 returning scanned_number::integer as scanned`,
    [chainId, from],
  )
  return rows[0]?.scanned
}

/** Records that two endpoints have shown the logs of all blocks up to this one. */
export async function moveWitnessed(db: Queryable, chainId: number, block: number): Promise<void> {
  await db.query(
    'update chain_cursor set witnessed_number = $2 where chain_id = $1 and witnessed_number < $2',
    [chainId, block],
  )
}

/** @returns whether any of the heights changed */
export async function saveHeights(db: Queryable, chainId: number, heights: ChainHeights): Promise<boolean> {
  const { rowCount } = await db.query(
    `update chain_cursor set head_number = $2, safe_number = $3, finalized_number = $4
     where chain_id = $1 and (head_number, safe_number, finalized_number) is distinct from ($2, $3, $4)`,
    [chainId, heights.head, heights.safe, heights.finalized],
  )
  return rowCount === 1
}
