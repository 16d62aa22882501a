import type { Hash, Hex } from 'viem'
import type { Queryable, Transaction } from '../../database/transaction.ts'

/** The fields that identify one authorization, in lower case. */
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
  /** The transaction that used the authorization, as far as is known. */
  tx_hash: Hash
  /** Our transaction, signed by `wallet` with `wallet_nonce`; all three are null when a third party sent the payment. */
  raw_tx: Hex | null
  wallet: Hex | null
  wallet_nonce: number | null
  created_at: Date
  /** The hash of the Idempotency-Key that it came with. */
  key_hash: Buffer | null
  /** When the authorization ends; null when that was not stored. */
  holds_until: Date | null
}

/** A payment that was refused while the chain had not taken it. */
export type RefusedPayment = PaymentKey &
  Pick<X402Payment, 'account_id' | 'address' | 'amount' | 'key_hash'> & { holds_until: Date }

/**
 * One wish for money: the account whose balance it is for, its Idempotency-Key, and the invoice, when it is for that
 * one alone.
 */
export interface Wish {
  accountId: string
  keyHash: Buffer | undefined
  invoiceId?: string
  /**
   * Checks that the payment is still wanted and stores its purpose, in the transaction that stores the payment.
   * @throws PaymentRefused
   */
  begun?(tx: Transaction, payment: X402Payment): Promise<void>
}

/** The fields of a new payment that are compared with earlier ones. */
export type WantedPayment = PaymentKey & Pick<X402Payment, 'address' | 'amount'>
/** A wish to buy something with the payment itself. */
export interface PurchaseWish {
  /** Undefined for a wallet that has no account yet. */
  accountId: string | undefined
  keyHash: Buffer | undefined
  /** The account, which is created when there is none yet. Called in each attempt to store the payment. */
  account(tx: Transaction): Promise<string>
  /** Another payment for the same purchase that its payer was not told of. Called only once the payment is known to be good. */
  earlier(db: Queryable): Promise<X402Payment | undefined>
  /** Stores the purchase, in the transaction that stores the payment. */
  begun(tx: Transaction, payment: X402Payment): Promise<void>
}

export const isPurchase = (wish: Wish | PurchaseWish): wish is PurchaseWish => 'account' in wish

const COLUMNS = `chain_id, token_address, payer, nonce, account_id, address, amount, invoice_id, own_invoice, status,
  tx_hash, raw_tx, wallet, wallet_nonce::integer, created_at, key_hash, holds_until`
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
 * The next nonce of a wallet's transactions, locked until the database transaction ends.
 * @param minedCount how many transactions of the wallet the chain has
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

/** Locks the payments of this account: no other call begins or adopts one until the transaction ends. */
export async function lockPayments(tx: Transaction, accountId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('x402 account ' || $1, 0))`, [accountId])
}

/** Stores a payment; after it failed, replaces it. */
export async function savePayment(tx: Transaction, row: X402Payment): Promise<void> {
  await tx.query(
    `insert into x402_payment (chain_id, token_address, payer, nonce, account_id, address, amount, invoice_id,
       own_invoice, status, tx_hash, raw_tx, wallet, wallet_nonce, created_at, key_hash, holds_until)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     on conflict (chain_id, token_address, payer, nonce) do update set
       account_id = excluded.account_id, address = excluded.address, amount = excluded.amount,
       invoice_id = excluded.invoice_id, own_invoice = excluded.own_invoice, status = excluded.status,
       tx_hash = excluded.tx_hash, raw_tx = excluded.raw_tx, wallet = excluded.wallet,
       wallet_nonce = excluded.wallet_nonce, created_at = excluded.created_at, key_hash = excluded.key_hash,
       holds_until = excluded.holds_until, told_at = null
     where x402_payment.status = 'failed'`,
    [
      ...keyOf(row),
      row.account_id,
      row.address,
      row.amount,
      row.invoice_id,
      row.own_invoice,
      row.status,
      row.tx_hash,
      row.raw_tx,
      row.wallet,
      row.wallet_nonce,
      row.created_at,
      row.key_hash,
      row.holds_until,
    ],
  )
  await tx.query(`delete from x402_refusal where ${IS_IT}`, keyOf(row))
}

/** Records that the payer was told that a payment had come. */
export async function markTold(db: Queryable, key: PaymentKey, at: Date): Promise<void> {
  await db.query(`update x402_payment set told_at = $5 where ${IS_IT} and told_at is null`, [
    ...keyOf(key),
    at,
  ])
}

/**
 * Other payments for the same top-up, newest first: those under the same Idempotency-Key, even if their payer was told of
 * them, and those of the same payer and amount that their payer was not told of.
 * For a wish for one invoice alone: those for that invoice, by any payer, that are not yet among its deposits.
 */
export async function untoldPayments(
  db: Queryable,
  { accountId, keyHash, invoiceId }: Wish,
  wanted: WantedPayment,
): Promise<X402Payment[]> {
  const key = [...keyOf(wanted), accountId]
  const { rows } =
    invoiceId === undefined
      ? await db.query<X402Payment>(
          `select ${COLUMNS} from x402_payment
           where account_id = $5 and not (${IS_IT}) and address = $8
             and (key_hash = $6 or (payer = $3 and amount = $7 and told_at is null))
           order by created_at desc limit 20`,
          [...key, keyHash ?? null, wanted.amount, wanted.address],
        )
      : await db.query<X402Payment>(
          `select ${COLUMNS} from x402_payment
           where account_id = $5 and not (${IS_IT}) and invoice_id = $6 and status <> 'failed'
             and not exists (
               select from deposit where deposit.invoice_id = $6 and deposit.tx_hash = x402_payment.tx_hash
                 and deposit.status in ('seen', 'credited')
             )
           order by created_at desc limit 20`,
          [...key, invoiceId],
        )
  return rows
}

/** Refused payments for the same top-up, matched by key or by payer and amount, that may have come since. */
export async function refusedPayments(
  db: Queryable,
  { accountId, keyHash }: Wish,
  wanted: WantedPayment,
): Promise<RefusedPayment[]> {
  const { rows } = await db.query<RefusedPayment>(
    `select chain_id, token_address, payer, nonce, account_id, address, amount, key_hash, holds_until
     from x402_refusal
     where account_id = $5 and not (${IS_IT}) and address = $8 and (key_hash = $6 or (payer = $3 and amount = $7))
     order by refused_at desc limit 20`,
    [...keyOf(wanted), accountId, keyHash ?? null, wanted.amount, wanted.address],
  )
  return rows
}

/** Stores a refused payment, and deletes those of the account whose authorization ended more than a day ago. */
export async function saveRefusal(db: Queryable, row: RefusedPayment, at: Date): Promise<void> {
  await db.query(
    `with over as (
       delete from x402_refusal where account_id = $5 and holds_until < $10::timestamptz - interval '1 day'
     )
     insert into x402_refusal (chain_id, token_address, payer, nonce, account_id, address, amount, key_hash,
       holds_until, refused_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (account_id, chain_id, token_address, payer, nonce) do update set refused_at = $10`,
    [...keyOf(row), row.account_id, row.address, row.amount, row.key_hash, row.holds_until, at],
  )
}

/** The payments whose outcome is not known yet, oldest first. */
export async function openPayments(db: Queryable, chainId: number): Promise<X402Payment[]> {
  const { rows } = await db.query<X402Payment>(
    `select ${COLUMNS} from x402_payment where chain_id = $1 and status = 'sent' order by created_at limit 100`,
    [chainId],
  )
  return rows
}

/** The payments whose transactions the chain does not have, in order of the wallet's nonces. */
export async function unminedPayments(
  db: Queryable,
  { chainId, wallet, minedCount }: { chainId: number; wallet: string; minedCount: number },
): Promise<(X402Payment & { raw_tx: Hex })[]> {
  const { rows } = await db.query<X402Payment & { raw_tx: Hex }>(
    `select ${COLUMNS} from x402_payment where chain_id = $1 and wallet = $2 and wallet_nonce >= $3
     order by wallet_nonce limit 100`,
    [chainId, wallet, minedCount],
  )
  return rows
}

/** @returns false when the outcome was stored already */
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
