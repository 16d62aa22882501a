import type { Queryable, Transaction } from '../database/transaction.ts'
import type { Wallet } from '../platform/slice-ports.ts'

/** The account of a wallet; undefined when it has none. */
export async function accountOfWallet(
  db: Queryable,
  { address, chainId }: Wallet,
): Promise<string | undefined> {
  const { rows } = await db.query<{ account_id: string }>(
    'select account_id from wallet where address = $1 and chain_id is not distinct from $2',
    [address.toLowerCase(), chainId],
  )
  return rows[0]?.account_id
}

/** Keeps other calls from creating an account for this wallet until the transaction ends. */
export async function lockWallet(tx: Transaction, { address, chainId }: Wallet): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('wallet ' || $1, $2))`, [
    address.toLowerCase(),
    chainId ?? 0,
  ])
}

export async function insertWallet(
  tx: Transaction,
  accountId: string,
  { address, chainId }: Wallet,
  at: Date,
): Promise<void> {
  await tx.query('insert into wallet (account_id, address, chain_id, created_at) values ($1, $2, $3, $4)', [
    accountId,
    address.toLowerCase(),
    chainId,
    at,
  ])
}

/**
 * Uses up a message that a wallet has signed, and forgets those that have ended.
 * @returns false when it was used before
 */
export async function useMessage(
  tx: Transaction,
  { nonceHash, expiresAt, now }: { nonceHash: Buffer; expiresAt: Date; now: Date },
): Promise<boolean> {
  await tx.query('delete from used_wallet_message where expires_at < $1', [now])
  const { rowCount } = await tx.query(
    'insert into used_wallet_message (nonce_hash, expires_at) values ($1, $2) on conflict do nothing',
    [nonceHash, expiresAt],
  )
  return rowCount === 1
}
