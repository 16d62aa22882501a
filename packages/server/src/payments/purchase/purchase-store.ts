import type { Queryable, Transaction } from '../../database/transaction.ts'
import type { PaymentKey, X402Payment } from '../x402/payment-store.ts'

export interface PurchaseRow extends PaymentKey {
  account_id: string
  digest: Buffer
  quote_hash: Buffer | null
  key_hash: Buffer | null
  order_id: string | null
  sandbox_id: string | null
  token_id: string | null
  token_text: Buffer | null
  token_expires_at: Date | null
  created_at: Date
}

const COLUMNS = `chain_id, token_address, payer, nonce, account_id, digest, quote_hash, key_hash, order_id, sandbox_id,
  token_id, token_text, (select expires_at from token where id = token_id) as token_expires_at, created_at`
const IS_IT = 'chain_id = $1 and token_address = $2 and payer = $3 and nonce = $4'
const keyOf = ({ chain_id, token_address, payer, nonce }: PaymentKey) => [
  chain_id,
  token_address,
  payer,
  nonce,
]

export async function findPurchase(db: Queryable, key: PaymentKey): Promise<PurchaseRow | undefined> {
  const { rows } = await db.query<PurchaseRow>(
    `select ${COLUMNS} from x402_purchase where ${IS_IT}`,
    keyOf(key),
  )
  return rows[0]
}

/** Locks the purchase until the transaction ends, so that its order or sandbox is started once. */
export async function lockPurchase(tx: Transaction, key: PaymentKey): Promise<PurchaseRow> {
  const { rows } = await tx.query<PurchaseRow>(
    `select ${COLUMNS} from x402_purchase where ${IS_IT} for update`,
    keyOf(key),
  )
  return rows[0]!
}

/** Stores the purpose of a payment; after the payment failed, replaces it. */
export async function savePurchase(
  tx: Transaction,
  row: Pick<
    PurchaseRow,
    keyof PaymentKey | 'account_id' | 'digest' | 'quote_hash' | 'key_hash' | 'created_at'
  >,
): Promise<void> {
  await tx.query(
    `insert into x402_purchase (chain_id, token_address, payer, nonce, account_id, digest, quote_hash, key_hash, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (chain_id, token_address, payer, nonce) do update set
       account_id = excluded.account_id, digest = excluded.digest, quote_hash = excluded.quote_hash,
       key_hash = excluded.key_hash, created_at = excluded.created_at`,
    [...keyOf(row), row.account_id, row.digest, row.quote_hash, row.key_hash, row.created_at],
  )
}

/** Stores the order or sandbox that the purchase started, or that it started none. */
export async function setBegun(
  tx: Transaction,
  key: PaymentKey,
  begun: Pick<PurchaseRow, 'order_id' | 'sandbox_id' | 'token_id' | 'token_text'>,
): Promise<void> {
  await tx.query(
    `update x402_purchase set order_id = $5, sandbox_id = $6, token_id = $7, token_text = $8 where ${IS_IT}`,
    [...keyOf(key), begun.order_id, begun.sandbox_id, begun.token_id, begun.token_text],
  )
}

/**
 * Another payment by the same wallet for the same request that took money or still may, and that either its payer was not
 * told of or has the same Idempotency-Key.
 * @param wanted.accountId limits the search to one account
 */
export async function earlierPurchase(
  db: Queryable,
  key: PaymentKey,
  wanted: { digest: Buffer; keyHash: Buffer | undefined; accountId?: string },
): Promise<X402Payment | undefined> {
  const { rows } = await db.query<X402Payment>(
    `select payment.*, payment.wallet_nonce::integer as wallet_nonce
     from x402_purchase purchase join x402_payment payment using (chain_id, token_address, payer, nonce)
     where payer = $3 and (chain_id, token_address, nonce) <> ($1, $2, $4) and digest = $5 and status <> 'failed'
       and (payment.told_at is null or purchase.key_hash = $6)
       and ($7::text is null or purchase.account_id = $7)
     order by payment.created_at desc limit 1`,
    [...keyOf(key), wanted.digest, wanted.keyHash ?? null, wanted.accountId ?? null],
  )
  return rows[0]
}
