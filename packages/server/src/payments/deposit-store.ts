import type { TransferLog } from '../chain/chain-port.ts'
import type { TokenSymbol } from '../chain/chain-settings.ts'
import type { ChainHeights, EarlyCredits } from '../chain/confirmation-policy.ts'
import type { Queryable, Transaction } from '../database/transaction.ts'
import type { DepositAddress } from './deposit-address-store.ts'

export interface Deposit {
  id: string
  chain_id: number
  tx_hash: `0x${string}`
  /** As in `TransferLog`. */
  ordinal: number
  /** Its index in the block where it was last seen. */
  log_index: number
  block_number: number
  block_hash: `0x${string}`
  token: TokenSymbol
  token_address: string
  address: string
  account_id: string
  invoice_id: string | null
  /** micro-USD */
  amount: bigint
  status: 'seen' | 'credited' | 'orphaned'
  credits: number
  /** Two endpoints have shown it, or the chain's only endpoint. */
  witnessed: boolean
}

/** Where a deposit arrives. */
export type DepositTo = Pick<DepositAddress, 'address' | 'invoice_id'> & { account_id: string }

/** The fields that identify a transfer on its chain, whichever block it is in. */
export type TransferKey = Pick<TransferLog, 'txHash' | 'token' | 'to' | 'value' | 'ordinal'>

/** Whether a transfer that the chain shows is this deposit. */
export const isTransferOf = (deposit: Deposit, transfer: TransferKey) =>
  transfer.txHash === deposit.tx_hash &&
  transfer.token === deposit.token_address &&
  transfer.to === deposit.address &&
  transfer.value === deposit.amount &&
  transfer.ordinal === deposit.ordinal

/** Whether a transfer is this deposit at the place where the deposit was last seen. */
export const isSeenAt = (deposit: Deposit, transfer: TransferLog) =>
  isTransferOf(deposit, transfer) &&
  transfer.blockHash === deposit.block_hash &&
  transfer.logIndex === deposit.log_index

const COLUMNS = `id, chain_id, tx_hash, ordinal, log_index, block_number::integer, block_hash, token, token_address, address,
  account_id, invoice_id, amount, status, credits, witnessed`

/**
 * Stores a transfer to one of our addresses. A known one is only updated: its current place, and that it is back when
 * the chain had dropped it. One to the address of a deleted invoice belongs to the account alone.
 * @returns the account and invoice of the deposit; undefined when nothing changed
 */
export async function recordDeposit(
  tx: Transaction,
  transfer: TransferLog,
  to: DepositTo,
  as: { id: string; chainId: number; token: TokenSymbol; at: Date },
): Promise<{ account_id: string; invoice_id: string | null } | undefined> {
  const { rows } = await tx.query<{ account_id: string; invoice_id: string | null }>(
    `insert into deposit (id, chain_id, tx_hash, log_index, block_number, block_hash, token, token_address, address,
       account_id, invoice_id, amount, seen_at, ordinal)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, (
       select id from invoice where case when $11::text is null then account_id = $10 and kind = 'topup' else id = $11 end
       order by id desc limit 1
     ), $12, $13, $14)
     on conflict (chain_id, tx_hash, token_address, address, amount, ordinal) do update set
       block_number = excluded.block_number,
       block_hash = excluded.block_hash,
       log_index = excluded.log_index,
       status = case when deposit.status = 'orphaned' then 'seen' else deposit.status end
     where not deposit.final
       and ((deposit.block_hash, deposit.log_index) <> (excluded.block_hash, excluded.log_index)
         or deposit.status = 'orphaned')
     returning account_id, invoice_id`,
    [
      as.id,
      as.chainId,
      transfer.txHash,
      transfer.logIndex,
      transfer.blockNumber,
      transfer.blockHash,
      as.token,
      transfer.token,
      to.address,
      to.account_id,
      to.invoice_id,
      transfer.value,
      as.at,
      transfer.ordinal,
    ],
  )
  return rows[0]
}

/** The deposits that a chain could still take back, in chain order. */
export async function openDeposits(db: Queryable, chainId: number): Promise<Deposit[]> {
  const { rows } = await db.query<Deposit>(
    `select ${COLUMNS} from deposit where chain_id = $1 and not final and status <> 'orphaned'
     order by block_number, log_index`,
    [chainId],
  )
  return rows
}

/** The deposit of this transfer, if it was seen. */
export async function depositOf(
  db: Queryable,
  chainId: number,
  { txHash, token, to, value, ordinal }: TransferKey,
): Promise<Deposit | undefined> {
  const { rows } = await db.query<Deposit>(
    `select ${COLUMNS} from deposit
     where (chain_id, tx_hash, token_address, address, amount, ordinal) = ($1, $2, $3, $4, $5, $6)`,
    [chainId, txHash, token, to, value, ordinal],
  )
  return rows[0]
}

export async function depositById(db: Queryable, id: string): Promise<Deposit | undefined> {
  const { rows } = await db.query<Deposit>(`select ${COLUMNS} from deposit where id = $1`, [id])
  return rows[0]
}

/** Updates the place of a deposit to that of the transfer: another block, or another index in the same one. */
export async function moveDeposit(
  db: Queryable,
  id: string,
  { blockNumber, blockHash, logIndex }: TransferLog,
): Promise<void> {
  await db.query('update deposit set block_number = $2, block_hash = $3, log_index = $4 where id = $1', [
    id,
    blockNumber,
    blockHash,
    logIndex,
  ])
}

/**
 * @param as.witnessed whether two endpoints, or the chain's only endpoint, have shown it
 * @returns how often it has been credited, including this time; undefined when the deposit has changed since it was judged
 */
export async function markCredited(
  tx: Transaction,
  deposit: Deposit,
  as: { witnessed: boolean; at: Date },
): Promise<number | undefined> {
  const { rows } = await tx.query<{ credits: number }>(
    `update deposit set status = 'credited', credits = credits + 1, credited_at = $3, witnessed = $4
     where id = $1 and block_hash = $2 and status = 'seen' returning credits`,
    [deposit.id, deposit.block_hash, as.at, as.witnessed],
  )
  return rows[0]?.credits
}

/** @returns its previous status; undefined when the deposit has changed since it was judged */
export async function markOrphaned(
  tx: Transaction,
  deposit: Deposit,
): Promise<{ status: Deposit['status']; credits: number } | undefined> {
  const { rows } = await tx.query<{ status: Deposit['status']; credits: number }>(
    `update deposit set status = 'orphaned'
     from (select id, status from deposit where id = $1 for update) before
     where deposit.id = before.id and deposit.block_hash = $2 and before.status <> 'orphaned'
     returning before.status, deposit.credits`,
    [deposit.id, deposit.block_hash],
  )
  return rows[0]
}

/** Records that two endpoints have now shown a deposit that was credited on the word of one. */
export async function markWitnessed(db: Queryable, deposit: Deposit): Promise<void> {
  await db.query(
    `update deposit set witnessed = true where id = $1 and block_hash = $2 and status = 'credited'`,
    [deposit.id, deposit.block_hash],
  )
}

/** Records that the block of a deposit is final, so that it is never checked again. */
export async function markFinal(db: Queryable, deposit: Deposit): Promise<void> {
  await db.query(
    `update deposit set final = true where id = $1 and block_hash = $2 and status = 'credited' and witnessed`,
    [deposit.id, deposit.block_hash],
  )
}

/** The sum of the account's credits that a chain could still take back, over all chains. */
export async function earlyCredits(db: Queryable, accountId: string): Promise<EarlyCredits> {
  const { rows } = await db.query<{ not_safe: bigint; not_finalized: bigint }>(
    `select coalesce(sum(amount) filter (where block_number > safe_number), 0)::bigint as not_safe,
       coalesce(sum(amount) filter (where block_number > finalized_number), 0)::bigint as not_finalized
     from deposit join chain_cursor using (chain_id)
     where account_id = $1 and status = 'credited' and not final`,
    [accountId],
  )
  return { notSafe: rows[0]!.not_safe, notFinalized: rows[0]!.not_finalized }
}

/**
 * The sums credited on the word of a single endpoint and not yet shown by another: to this account, and to all accounts
 * on this chain. The chain's cursor stays locked until the end of the transaction, so that no other transaction counts
 * at the same time.
 */
export async function unwitnessedCredits(
  tx: Transaction,
  { account_id, chain_id }: Deposit,
): Promise<{ account: bigint; chain: bigint }> {
  await tx.query('select 1 from chain_cursor where chain_id = $1 for update', [chain_id])
  const { rows } = await tx.query<{ account: bigint; chain: bigint }>(
    `select coalesce(sum(amount) filter (where account_id = $1), 0)::bigint as account,
       coalesce(sum(amount) filter (where chain_id = $2), 0)::bigint as chain
     from deposit
     where status = 'credited' and not final and not witnessed and (account_id = $1 or chain_id = $2)`,
    [account_id, chain_id],
  )
  return rows[0]!
}

/** A deposit as its invoice shows it, with the heights of its chain at the last look. */
export type DepositWithHeights = Deposit & ChainHeights

export async function depositsOfInvoices(db: Queryable, invoiceIds: string[]): Promise<DepositWithHeights[]> {
  const { rows } = await db.query<DepositWithHeights>(
    `select ${COLUMNS}, head_number::integer as head, safe_number::integer as safe, finalized_number::integer as finalized
     from deposit join chain_cursor using (chain_id)
     where invoice_id = any($1::text[]) order by seen_at, id`,
    [invoiceIds],
  )
  return rows
}

/**
 * Handles a demo chain that lost the blocks after this one, with the machine it ran on. Credited deposits stay credited
 * for good; deposits that were only seen never count.
 */
export async function writeOffBlocksAfter(db: Queryable, chainId: number, block: number): Promise<void> {
  await db.query(
    `update deposit set final = status = 'credited', status = case status when 'seen' then 'orphaned' else status end
     where chain_id = $1 and block_number > $2 and not final`,
    [chainId, block],
  )
}
