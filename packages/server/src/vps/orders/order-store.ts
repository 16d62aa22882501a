import type { Order } from '@coinrack/contract/orders.ts'
import type { Cycle } from '@coinrack/money/index.ts'
import type { z } from 'zod'
import type { Queryable, Transaction } from '../../database/transaction.ts'

export interface OrderRow {
  id: string
  account_id: string
  status: 'awaiting_payment' | 'provisioning' | 'active' | 'failed' | 'cancelled' | 'expired'
  product: string
  os_id: number
  hostname: string
  ssh_key: string | null
  service_id: string
  /** Sealed, until the order begins. */
  user_data: Buffer | null
  price: bigint
  price_hourly: bigint
  billing_cycle: Cycle
  /** Paid in advance, of a monthly one. */
  months: number
  auto_renew: boolean
  invoice_id: string | null
  hold_id: string | null
  failure_reason: string | null
  /** The token whose budget it counts for. */
  token_id: string | null
  created_at: Date
  expires_at: Date
  boot: 'auto' | 'cold'
  /** Null: any. */
  region: string | null
}

const COLUMNS =
  'id, account_id, status, product, os_id, hostname, ssh_key, service_id, user_data, price, price_hourly, billing_cycle, months, auto_renew, invoice_id, hold_id, failure_reason, token_id, created_at, expires_at, boot, region'

export async function insertOrder(tx: Transaction, row: OrderRow): Promise<void> {
  await tx.query(
    `insert into vps_order (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
    [
      row.id,
      row.account_id,
      row.status,
      row.product,
      row.os_id,
      row.hostname,
      row.ssh_key,
      row.service_id,
      row.user_data,
      row.price,
      row.price_hourly,
      row.billing_cycle,
      row.months,
      row.auto_renew,
      row.invoice_id,
      row.hold_id,
      row.failure_reason,
      row.token_id,
      row.created_at,
      row.expires_at,
      row.boot,
      row.region,
    ],
  )
}

/** The same order, asked for before and not paid yet: what continues instead of being made twice. */
export async function findAwaitingOrder(
  tx: Transaction,
  wanted: {
    accountId: string
    product: string
    osId: number
    sshKey: string | null
    /** Undefined: the default name of the service. */
    hostname: string | undefined
    billingCycle: Cycle
    months: number
    /** The prices of a quote; undefined: whatever was previously agreed. */
    prices: { price: bigint; price_hourly: bigint } | undefined
    boot: OrderRow['boot']
    region: string | undefined
    /** Whether it would be handed the same. */
    isSame(order: OrderRow): boolean
    now: Date
  },
): Promise<OrderRow | undefined> {
  const { rows } = await tx.query<OrderRow>(
    `select ${COLUMNS} from vps_order
     where account_id = $1 and status = 'awaiting_payment' and expires_at > $6
       and product = $2 and os_id = $3 and ssh_key is not distinct from $4
       and hostname = coalesce($5, 'vps-' || right(service_id, 6)) and billing_cycle = $7 and months = $8
       and ($9::bigint is null or (price = $9 and price_hourly = $10::bigint)) and boot = $11
       and region is not distinct from $12
     order by id for update`,
    [
      wanted.accountId,
      wanted.product,
      wanted.osId,
      wanted.sshKey,
      wanted.hostname ?? null,
      wanted.now,
      wanted.billingCycle,
      wanted.months,
      wanted.prices?.price ?? null,
      wanted.prices?.price_hourly ?? null,
      wanted.boot,
      wanted.region ?? null,
    ],
  )
  return rows.find(wanted.isSame)
}

/** How many orders of an account wait for money, and how many were made since a moment and never paid. */
export async function countUnpaidOrders(
  tx: Transaction,
  accountId: string,
  { now, since }: { now: Date; since: Date },
): Promise<{ open: number; recent: number; invoiceId: string | null }> {
  const { rows } = await tx.query<{ open: number; recent: number; invoice_id: string | null }>(
    `select count(*) filter (where is_open)::integer as open, count(*) filter (where created_at > $3)::integer as recent,
       (array_agg(invoice_id order by created_at, id) filter (where is_open))[1] as invoice_id
     from (
       select id, invoice_id, created_at, status = 'awaiting_payment' and expires_at > $2 as is_open from vps_order
       where account_id = $1 and hold_id is null and status in ('awaiting_payment', 'expired', 'cancelled')
     ) unpaid`,
    [accountId, now, since],
  )
  const { open, recent, invoice_id: invoiceId } = rows[0]!
  return { open, recent, invoiceId }
}

/** Ends an order that still awaits payment. */
export async function cancelUnpaidOrder(tx: Transaction, id: string): Promise<void> {
  await tx.query(
    `update vps_order set status = 'cancelled', user_data = null where id = $1 and status = 'awaiting_payment'`,
    [id],
  )
}

/**
 * Forgets orders that ended unpaid before a moment, and that a token which ended before it ordered a machine that is
 * gone since before it.
 */
export async function forgetUnpaidOrders(db: Queryable, before: Date): Promise<void> {
  await db.query(
    `delete from vps_order where status in ('expired', 'cancelled') and expires_at < $1 and hold_id is null
       and not exists (select from vps where vps.order_id = vps_order.id)`,
    [before],
  )
  await db.query(
    `update vps_order set token_id = null from token, vps
     where vps.order_id = vps_order.id and token.id = vps_order.token_id
       and least(token.expires_at, token.revoked_at) < $1
       and vps.status in ('failed', 'deleted') and vps.machine_gone_at < $1`,
    [before],
  )
}

export async function orderById(db: Queryable, id: string): Promise<OrderRow | undefined> {
  const { rows } = await db.query<OrderRow>(`select ${COLUMNS} from vps_order where id = $1`, [id])
  return rows[0]
}

export async function lockOrder(tx: Transaction, id: string): Promise<OrderRow | undefined> {
  const { rows } = await tx.query<OrderRow>(`select ${COLUMNS} from vps_order where id = $1 for update`, [id])
  return rows[0]
}

/** Newest first, one more than `limit` when there are more. */
export async function ordersOf(
  db: Queryable,
  accountId: string,
  limit: number,
  cursor: string | undefined,
): Promise<OrderRow[]> {
  const { rows } = await db.query<OrderRow>(
    `select ${COLUMNS} from vps_order where account_id = $1 and ($3::text is null or id < $3)
     order by id desc limit $2`,
    [accountId, limit + 1, cursor ?? null],
  )
  return rows
}

/** The VPS has it now. */
export async function forgetOrderUserData(tx: Transaction, id: string): Promise<void> {
  await tx.query('update vps_order set user_data = null where id = $1', [id])
}

export async function setOrderAutoRenew(tx: Transaction, id: string, autoRenew: boolean): Promise<void> {
  await tx.query('update vps_order set auto_renew = $2 where id = $1', [id, autoRenew])
}

export async function setOrderInvoice(tx: Transaction, id: string, invoiceId: string): Promise<void> {
  await tx.query('update vps_order set invoice_id = $2 where id = $1', [id, invoiceId])
}

export async function setOrderStatus(
  tx: Transaction,
  id: string,
  status: OrderRow['status'],
  change: { holdId?: string; failureReason?: string; tokenId?: string | null } = {},
): Promise<void> {
  await tx.query(
    `update vps_order set status = $2, hold_id = coalesce($3, hold_id), failure_reason = coalesce($4, failure_reason),
       token_id = coalesce($5, token_id), user_data = case when $2 = 'failed' then null else user_data end
     where id = $1`,
    [id, status, change.holdId ?? null, change.failureReason ?? null, change.tokenId ?? null],
  )
}

/** Live machines that a token and all below it have ordered. */
export async function liveVpsOf(db: Queryable, tokenId: string): Promise<bigint> {
  const { rows } = await db.query<{ live: bigint }>(
    `select count(*) as live
     from vps join vps_order on vps_order.id = vps.order_id join token on token.id = vps_order.token_id
     where vps.account_id = (select account_id from token where id = $1) and $1 = any(token.lineage)
       and vps.status not in ('failed', 'deleted')`,
    [tokenId],
  )
  return rows[0]!.live
}

/** The amount that is held and charged for an order: its months, or the first hour. */
export const orderTotal = (
  row: Pick<OrderRow, 'billing_cycle' | 'months' | 'price' | 'price_hourly'>,
): bigint => (row.billing_cycle === 'hourly' ? row.price_hourly : row.price * BigInt(row.months))

/** The order as its owner sees it. */
export const orderView = (row: Omit<OrderRow, 'auto_renew'>): z.output<typeof Order> => ({
  id: row.id,
  status: row.status,
  product: row.product,
  os_id: row.os_id,
  hostname: row.hostname,
  total: orderTotal(row),
  currency: 'USD',
  // An order that never began has no machine.
  service_id: row.hold_id === null ? null : row.service_id,
  invoice_id: row.invoice_id,
  failure_reason: row.failure_reason,
  created_at: row.created_at,
})
