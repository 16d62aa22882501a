import type { Hash, Hex } from 'viem'
import type { Queryable, Transaction } from '../../database/transaction.ts'

/** What tells one authorization from all others. In lower case. */
export interface PaymentKey {
  chain_id: number
  token_address: Hex
  payer: Hex
  nonce: Hex
}

export interface X402Payment extends PaymentKey {
  account_id: string
  address: Hex
  /** micro-USD */
  amount: bigint
  invoice_id: string
  own_invoice: boolean
  status: 'sent' | 'settled' | 'failed'
  tx_hash: Hash
  raw_tx: Hex
  wallet: Hex
  wallet_nonce: number
  created_at: Date
}

const COLUMNS = `chain_id, token_address, payer, nonce, account_id, address, amount, invoice_id, own_invoice, status,
  tx_hash, raw_tx, wallet, wallet_nonce::integer, created_at`
const keyOf = ({ chain_id, token_address, payer, nonce }: PaymentKey) => [
  chain_id,
  token_address,
  payer,
  nonce,
]
const IS_IT = 'chain_id = $1 and token_address = $2 and payer = $3 and nonce = $4'

export async function findPayment(db: Queryable, key: PaymentKey): Promise<X402Payment | undefined> {
  const { rows } = await db.query<X402Payment>(
    `select ${COLUMNS} from x402_payment where ${IS_IT}`,
    keyOf(key),
  )
  return rows[0]
}

/**
 * The next number of a wallet's transactions, locked until the transaction ends.
 * @param minedCount how many the chain has
 */
export async function takeWalletNonce(
  tx: Transaction,
  { chainId, wallet, minedCount }: { chainId: number; wallet: string; minedCount: number },
): Promise<number> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('x402 wallet', $1))`, [chainId])
  const { rows } = await tx.query<{ next: number }>(
    `select greatest($3, coalesce(max(wallet_nonce) + 1, 0))::integer as next from x402_payment
     where chain_id = $1 and wallet = $2`,
    [chainId, wallet, minedCount],
  )
  return rows[0]!.next
}

/** Writes a payment down, or anew after it failed. */
export async function savePayment(tx: Transaction, row: Omit<X402Payment, 'status'>): Promise<void> {
  await tx.query(
    `insert into x402_payment (chain_id, token_address, payer, nonce, account_id, address, amount, invoice_id,
       own_invoice, tx_hash, raw_tx, wallet, wallet_nonce, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     on conflict (chain_id, token_address, payer, nonce) do update set
       account_id = excluded.account_id, address = excluded.address, amount = excluded.amount,
       invoice_id = excluded.invoice_id, own_invoice = excluded.own_invoice, status = 'sent',
       tx_hash = excluded.tx_hash, raw_tx = excluded.raw_tx, wallet = excluded.wallet,
       wallet_nonce = excluded.wallet_nonce, created_at = excluded.created_at
     where x402_payment.status = 'failed'`,
    [
      ...keyOf(row),
      row.account_id,
      row.address,
      row.amount,
      row.invoice_id,
      row.own_invoice,
      row.tx_hash,
      row.raw_tx,
      row.wallet,
      row.wallet_nonce,
      row.created_at,
    ],
  )
}

/** Those of which is not known yet what came of them, oldest first. */
export async function openPayments(db: Queryable, chainId: number): Promise<X402Payment[]> {
  const { rows } = await db.query<X402Payment>(
    `select ${COLUMNS} from x402_payment where chain_id = $1 and status = 'sent' order by created_at limit 100`,
    [chainId],
  )
  return rows
}

/** Those whose transactions the chain does not have, in the order of the wallet. */
export async function unminedPayments(
  db: Queryable,
  { chainId, wallet, minedCount }: { chainId: number; wallet: string; minedCount: number },
): Promise<X402Payment[]> {
  const { rows } = await db.query<X402Payment>(
    `select ${COLUMNS} from x402_payment where chain_id = $1 and wallet = $2 and wallet_nonce >= $3
     order by wallet_nonce limit 100`,
    [chainId, wallet, minedCount],
  )
  return rows
}

/** @returns false when that was written down before */
export async function closePayment(
  tx: Transaction,
  key: PaymentKey,
  outcome: { status: 'settled' | 'failed'; txHash: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update x402_payment set status = $5, tx_hash = $6 where ${IS_IT} and status = 'sent'`,
    [...keyOf(key), outcome.status, outcome.txHash],
  )
  return rowCount === 1
}
