import type { refunds } from '@coinrack/contract/refunds.ts'
import type { z } from 'zod'
import type { TokenSymbol } from '../../chain/chain-settings.ts'
import { chainIds, type Network } from '../../chain/chain-settings.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'

export interface RefundRow {
  id: string
  account_id: string
  chain_id: number
  token: TokenSymbol
  /** Lower-case, like `address`. */
  token_address: `0x${string}`
  address: `0x${string}`
  /** micro-USD */
  amount: bigint
  status: z.output<typeof refunds.getRefund.output>['status']
  hold_id: string
  cancel_until: Date
  reason: string | null
  tx_hash: string | null
  created_at: Date
  closed_at: Date | null
}

const COLUMNS = `id, account_id, chain_id, token, token_address, address, amount, status, hold_id, cancel_until, reason,
  tx_hash, created_at, closed_at`

export async function refundById(db: Queryable, id: string): Promise<RefundRow> {
  const { rows } = await db.query<RefundRow>(`select ${COLUMNS} from refund where id = $1`, [id])
  return rows[0]!
}

/** The refunds of an account with ids below `before`, newest first. */
export async function refundsOf(
  db: Queryable,
  accountId: string,
  page: { limit: number; before: string | undefined },
): Promise<RefundRow[]> {
  const { rows } = await db.query<RefundRow>(
    `select ${COLUMNS} from refund where account_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
    [accountId, page.before ?? null, page.limit],
  )
  return rows
}

/** Locks the refund until the transaction ends; undefined when there is none. */
export async function lockRefund(tx: Transaction, id: string): Promise<RefundRow | undefined> {
  const { rows } = await tx.query<RefundRow>(`select ${COLUMNS} from refund where id = $1 for update`, [id])
  return rows[0]
}

/** The open refund of an account, neither paid nor closed, and whether any refund was requested with this signature. */
export async function earlierRefund(
  tx: Transaction,
  accountId: string,
  signature: string,
): Promise<{ open: string | null; isUsed: boolean }> {
  const { rows } = await tx.query<{ open: string | null; is_used: boolean }>(
    `select (select id from refund where account_id = $1 and status in ('requested', 'approved')) as open,
       exists (select from refund where signature = $2) as is_used`,
    [accountId, signature],
  )
  return { open: rows[0]!.open, isUsed: rows[0]!.is_used }
}

export async function insertRefund(
  tx: Transaction,
  row: Omit<RefundRow, 'status' | 'reason' | 'tx_hash' | 'closed_at'> & { signature: string },
): Promise<void> {
  await tx.query(
    `insert into refund (id, account_id, chain_id, token, token_address, address, amount, signature, hold_id, cancel_until, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      row.id,
      row.account_id,
      row.chain_id,
      row.token,
      row.token_address,
      row.address,
      row.amount,
      row.signature,
      row.hold_id,
      row.cancel_until,
      row.created_at,
    ],
  )
}

export async function approveRefundRow(tx: Transaction, id: string): Promise<void> {
  await tx.query(`update refund set status = 'approved' where id = $1`, [id])
}

export async function closeRefundRow(
  tx: Transaction,
  id: string,
  as: { status: 'cancelled' | 'rejected'; reason?: string; at: Date },
): Promise<void> {
  await tx.query('update refund set status = $2, reason = $3, closed_at = $4 where id = $1', [
    id,
    as.status,
    as.reason ?? null,
    as.at,
  ])
}

/** How many refunds were already paid by equal transfers of this transaction. */
export async function paidByTransaction(tx: Transaction, refund: RefundRow, txHash: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::integer as count from refund
     where (chain_id, tx_hash, token_address, address, amount) = ($1, $2, $3, $4, $5)`,
    [refund.chain_id, txHash, refund.token_address, refund.address, refund.amount],
  )
  return rows[0]!.count
}

export async function markRefundSent(
  tx: Transaction,
  id: string,
  as: { txHash: string; ordinal: number; at: Date },
): Promise<void> {
  await tx.query(
    `update refund set status = 'sent', tx_hash = $2, ordinal = $3, closed_at = $4 where id = $1`,
    [id, as.txHash, as.ordinal, as.at],
  )
}

export const networkOf = (chainId: number): Network =>
  (Object.keys(chainIds) as Network[]).find((network) => chainIds[network] === chainId)!

/** A refund as its owner sees it. */
export const refundView = (row: RefundRow) => ({
  id: row.id,
  status: row.status,
  amount: row.amount,
  network: networkOf(row.chain_id),
  token: row.token,
  address: row.address,
  cancel_until: row.cancel_until,
  reason: row.reason,
  tx_hash: row.tx_hash,
  created_at: row.created_at,
  closed_at: row.closed_at,
})
