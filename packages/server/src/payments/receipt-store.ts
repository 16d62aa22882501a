import type { Queryable } from '../database/transaction.ts'
import type { Invoice } from './invoice-store.ts'

export interface ChargeRow {
  id: string
  description: string
  /** micro-USD */
  amount: bigint
  created_at: Date
}

/** The charges for an invoice: for an order when it was delivered, for a renewal in the transaction that paid it. */
export async function chargesOf(db: Queryable, invoice: Invoice): Promise<ChargeRow[]> {
  const { rows } = await db.query<ChargeRow>(
    `select id, description, -(available_change + held_change) as amount, created_at from ledger_transaction
     where account_id = $1 and kind = 'charge' and case
       when $2::text is not null then reference = 'capture:' || $2
       else starts_with(reference, 'period:' || $3 || ':') and created_at = $4 and available_change = -$5::bigint
     end order by position`,
    [invoice.account_id, invoice.order_id, invoice.service_id, invoice.paid_at, invoice.amount],
  )
  return rows
}

export interface CreditedRow {
  chain_id: number
  token: string
  tx_hash: string
  log_index: number
  /** micro-USD */
  amount: bigint
  credited_at: Date
}

/** The credited deposits of an invoice, in the order in which they were credited. */
export async function creditedFor(db: Queryable, invoiceId: string): Promise<CreditedRow[]> {
  const { rows } = await db.query<CreditedRow>(
    `select chain_id, token, tx_hash, log_index, amount, credited_at from deposit
     where invoice_id = $1 and status = 'credited' order by credited_at, id`,
    [invoiceId],
  )
  return rows
}

/** The email address and the name of an account. */
export async function payerOf(db: Queryable, accountId: string) {
  const { rows } = await db.query<{
    email: string | null
    first_name: string | null
    last_name: string | null
  }>('select email, first_name, last_name from account where id = $1', [accountId])
  return rows[0]!
}
