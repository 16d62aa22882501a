import type { TransferLog } from '../../chain/chain-port.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'

/** The blocks whose transfers to the treasury were read, both included. */
export interface ReadBlocks {
  from: number
  to: number
}

export async function flushesRead(db: Queryable, chainId: number): Promise<ReadBlocks | undefined> {
  const { rows } = await db.query<ReadBlocks>(
    'select from_number::integer as from, to_number::integer as to from treasury_cursor where chain_id = $1',
    [chainId],
  )
  return rows[0]
}

/** Writes down the transfers from deposit addresses in final blocks that follow those that were read. */
export async function keepFlushes(
  tx: Transaction,
  chainId: number,
  flushes: TransferLog[],
  read: ReadBlocks,
): Promise<void> {
  for (const { txHash, token, from, value, ordinal, blockNumber } of flushes)
    await tx.query(
      `insert into treasury_flush (chain_id, tx_hash, token_address, address, amount, ordinal, block_number)
       values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
      [chainId, txHash, token, from, value, ordinal, blockNumber],
    )
  await tx.query(
    `insert into treasury_cursor (chain_id, from_number, to_number) values ($1, $2, $3)
     on conflict (chain_id) do update set from_number = excluded.from_number, to_number = excluded.to_number`,
    [chainId, read.from, read.to],
  )
}
