import type { Queryable, Transaction } from '../database/transaction.ts'
import type { AskedCall, Asking, PassedLimit } from '../platform/approval-needed.ts'

/** A charge that a person is asked to approve, as it is stored. Amounts in micro-USD. */
export interface ApprovalRow {
  id: string
  account_id: string
  token_id: string
  operation: AskedCall['operation']
  digest: Buffer
  price: bigint
  subject: string
  afterwards_price: bigint | null
  afterwards_per: 'month' | 'hour' | null
  holder_id: string
  limit_kind: PassedLimit['kind']
  limit_amount: bigint
  limit_used: bigint
  /** `replaced`: the same call costs more now, and was asked for anew. */
  status: 'pending' | 'approved' | 'denied' | 'spent' | 'replaced'
  proven_at: Date | null
  created_at: Date
  expires_at: Date
  decided_at: Date | null
  spent_at: Date | null
}

export const APPROVAL_COLUMNS = `id, account_id, token_id, operation, digest, price, subject, afterwards_price, afterwards_per,
  holder_id, limit_kind, limit_amount, limit_used, status, proven_at, created_at, expires_at, decided_at, spent_at`

/** The approval that a call has been asked for, or was given or denied, and that is not over. */
export async function liveApproval(
  db: Queryable,
  { tokenId, operation, digest }: AskedCall,
  now: Date,
): Promise<ApprovalRow | undefined> {
  const { rows } = await db.query<ApprovalRow>({
    name: 'ledger_live_approval',
    text: `select ${APPROVAL_COLUMNS} from approval
     where token_id = $1 and operation = $2 and digest = $3 and status in ('pending', 'approved', 'denied') and expires_at > $4
     order by id desc limit 1`,
    values: [tokenId, operation, digest, now],
  })
  return rows[0]
}

/** @param row `mailed`: the owner is written to */
export async function insertApproval(
  tx: Transaction,
  row: Pick<ApprovalRow, 'id' | 'account_id' | 'token_id' | 'price' | 'created_at' | 'expires_at'> & {
    asking: Asking
    limit: PassedLimit
    mailed: boolean
  },
): Promise<void> {
  const { asking, limit } = row
  await tx.query(
    `insert into approval (id, account_id, token_id, operation, digest, price, subject, afterwards_price, afterwards_per,
       holder_id, limit_kind, limit_amount, limit_used, created_at, expires_at, mailed)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    [
      row.id,
      row.account_id,
      row.token_id,
      asking.call.operation,
      asking.call.digest,
      row.price,
      asking.subject,
      asking.afterwards?.price ?? null,
      asking.afterwards?.per ?? null,
      limit.holderId,
      limit.kind,
      limit.limit,
      limit.used,
      row.created_at,
      row.expires_at,
      row.mailed,
    ],
  )
}

/** Ends an approval that is of no use, since the same call costs more now. */
export async function replaceApproval(tx: Transaction, id: string): Promise<void> {
  await tx.query(
    `update approval set status = 'replaced' where id = $1 and status in ('pending', 'approved')`,
    [id],
  )
}

/** @returns whether it was still pending */
export async function decideApproval(
  tx: Transaction,
  id: string,
  decided: Pick<ApprovalRow, 'proven_at' | 'expires_at'> & { status: 'approved' | 'denied'; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update approval set status = $2, proven_at = $3, expires_at = $4, decided_at = $5
     where id = $1 and status = 'pending' and expires_at > $5`,
    [id, decided.status, decided.proven_at, decided.expires_at, decided.at],
  )
  return rowCount === 1
}

/** The approval that the payment of an invoice may use. */
export async function approvalOfInvoice(
  db: Queryable,
  invoiceId: string,
  now: Date,
): Promise<ApprovalRow | undefined> {
  const { rows } = await db.query<ApprovalRow>(
    `select ${APPROVAL_COLUMNS} from approval where invoice_id = $1 and status = 'approved' and expires_at > $2
     order by id desc limit 1`,
    [invoiceId, now],
  )
  return rows[0]
}

/**
 * Keeps an approval for as long as an invoice can be paid: the call that it is for was refused for want of money alone.
 * Whichever comes first uses it, the money or the same call again.
 */
export async function keepForInvoice(
  tx: Transaction,
  id: string,
  { invoiceId, until }: { invoiceId: string; until: Date },
): Promise<void> {
  await tx.query(
    `update approval set invoice_id = $2, expires_at = greatest(expires_at, $3) where id = $1 and status = 'approved'`,
    [id, invoiceId, until],
  )
}

/** Uses up an approval. @returns false when it was used before, or is over */
export async function useApproval(tx: Transaction, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update approval set status = 'spent', spent_at = $2 where id = $1 and status = 'approved' and expires_at > $2`,
    [id, at],
  )
  return rowCount === 1
}

/** Takes no input but a moment: forgets what was asked for before it. */
export async function forgetApprovals(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from approval where created_at < $1', [before])
}
