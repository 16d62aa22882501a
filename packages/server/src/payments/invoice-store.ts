import type { Network, TokenSymbol } from '../chain/chain-settings.ts'
import { announce } from '../database/changes.ts'
import type { Queryable, Transaction } from '../database/transaction.ts'

export interface InvoiceRow {
  id: string
  account_id: string
  kind: 'topup' | 'order' | 'renewal'
  order_id: string | null
  /** The VPS that it renews, for this number of months. */
  service_id: string | null
  months: number | null
  /** micro-USD */
  amount: bigint
  status: 'unpaid' | 'paid' | 'settled_to_balance' | 'expired' | 'cancelled'
  secret: string
  network: Network | null
  token: TokenSymbol | null
  created_at: Date
  expires_at: Date
  paid_at: Date | null
  /** Why it was settled to the balance; null for any other invoice. */
  closed_reason: string | null
}

/** An invoice with the payments for it, in micro-USD. */
export interface Invoice extends InvoiceRow {
  /** The deposit address where it is paid, lower-case. */
  address: string
  /** The VPS that its order became; null for another kind of invoice, and before it is paid. */
  ordered_id: string | null
  /** Credited so far. */
  received: bigint
  /** Seen on chain and not credited yet. */
  pending: bigint
}

const INVOICE = `
  select invoice.*, deposit_address.address, vps.id as ordered_id, paid.received, paid.pending
  from invoice
  join deposit_address on deposit_address.account_id = invoice.account_id
    and deposit_address.invoice_id is not distinct from case when invoice.kind <> 'topup' then invoice.id end
  left join vps on vps.order_id = invoice.order_id
  cross join lateral (
    select coalesce(sum(amount) filter (where status = 'credited'), 0)::bigint as received,
      coalesce(sum(amount) filter (where status = 'seen'), 0)::bigint as pending
    from deposit where deposit.invoice_id = invoice.id
  ) paid`

export async function invoiceById(db: Queryable, id: string): Promise<Invoice> {
  const { rows } = await db.query<Invoice>(`${INVOICE} where invoice.id = $1`, [id])
  if (!rows[0]) throw new Error(`There is no invoice ${id}`)
  return rows[0]
}

export async function invoiceBySecret(db: Queryable, secret: string): Promise<Invoice | undefined> {
  const { rows } = await db.query<Invoice>(`${INVOICE} where invoice.secret = $1`, [secret])
  return rows[0]
}

/** Locks the invoice: no other payment, expiry or cancellation of it happens before the transaction ends. */
export async function lockInvoice(tx: Transaction, id: string): Promise<Invoice> {
  await tx.query('select from invoice where id = $1 for update', [id])
  return invoiceById(tx, id)
}

/** The invoices of an account with ids below `before`, newest first. */
export async function invoicesOf(
  db: Queryable,
  accountId: string,
  page: { limit: number; before?: string; status?: string },
): Promise<Invoice[]> {
  const { rows } = await db.query<Invoice>(
    `select * from (${INVOICE} where invoice.account_id = $1 and ($2::text is null or invoice.id < $2)) found
     where $3::text is null
       or $3 = case when status = 'unpaid' and pending > 0 then 'confirming' else status end
     order by id desc limit $4`,
    [accountId, page.before ?? null, page.status ?? null, page.limit],
  )
  return rows
}

export async function unpaidTopup(db: Queryable, accountId: string): Promise<Invoice | undefined> {
  const { rows } = await db.query<Invoice>(
    `${INVOICE} where invoice.account_id = $1 and invoice.kind = 'topup' and invoice.status = 'unpaid'`,
    [accountId],
  )
  return rows[0]
}

/** Locks the unpaid renewal invoice of a service: no payment, expiry or cancellation of it happens meanwhile. */
export async function unpaidRenewal(tx: Transaction, serviceId: string): Promise<Invoice | undefined> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from invoice where service_id = $1 and status = 'unpaid' for update`,
    [serviceId],
  )
  return rows[0] && invoiceById(tx, rows[0].id)
}

/** The service that an invoice renews; undefined for an order or a top-up. */
export async function renewedBy(db: Queryable, invoiceId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ service_id: string | null }>(
    'select service_id from invoice where id = $1',
    [invoiceId],
  )
  return rows[0]?.service_id ?? undefined
}

/** @returns false when the account has an unpaid top-up already; waits for a concurrent transaction that is inserting one */
export async function insertInvoice(
  tx: Transaction,
  row: Omit<InvoiceRow, 'status' | 'paid_at' | 'closed_reason'>,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into invoice (id, account_id, kind, order_id, service_id, months, amount, secret, network, token,
       created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (account_id) where kind = 'topup' and status = 'unpaid' do nothing`,
    [
      row.id,
      row.account_id,
      row.kind,
      row.order_id,
      row.service_id,
      row.months,
      row.amount,
      row.secret,
      row.network,
      row.token,
      row.created_at,
      row.expires_at,
    ],
  )
  return rowCount === 1
}

/** Closes an unpaid invoice and notifies the calls that wait for it; one that is closed already stays as it is. */
export async function closeInvoice(
  tx: Transaction,
  id: string,
  status: Exclude<InvoiceRow['status'], 'unpaid'>,
  at: Date,
  reason?: string,
): Promise<void> {
  await tx.query(
    `update invoice set status = $2, paid_at = case when $2 = 'paid' then $3::timestamptz end, closed_reason = $4
     where id = $1 and status = 'unpaid'`,
    [id, status, at, reason ?? null],
  )
  await announce(tx, id)
}

/** Overdue unpaid invoices without a pending payment. */
export async function overdueInvoices(db: Queryable, now: Date): Promise<{ id: string }[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from invoice where status = 'unpaid' and expires_at <= $1
       and not exists (select from deposit where invoice_id = invoice.id and status = 'seen')
     order by expires_at limit 100`,
    [now],
  )
  return rows
}

/**
 * Deletes expired and cancelled invoices that were due before a moment and never paid. Their addresses stay, so that
 * money which still arrives there is credited.
 */
export async function forgetUnpaidInvoices(db: Queryable, before: Date): Promise<void> {
  await db.query(
    `delete from invoice where status in ('expired', 'cancelled') and expires_at < $1
       and not exists (select from deposit where deposit.invoice_id = invoice.id)
       and not exists (select from x402_payment where x402_payment.invoice_id = invoice.id)
       and not exists (select from vps_order where vps_order.invoice_id = invoice.id)`,
    [before],
  )
}

/** Whether the invoice has a payment, pending or credited, that the chain did not take back. */
export const isTouched = (invoice: Invoice) => invoice.received > 0n || invoice.pending > 0n
