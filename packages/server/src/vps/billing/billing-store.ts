import type { Cycle } from '@coinrack/money/index.ts'
import { assignments } from '../../database/columns.ts'
import type { Queryable } from '../../database/transaction.ts'

/** The agreed terms of a VPS, and its payments. Prices in micro-USD. */
export interface BillingRow {
  product: string
  price: bigint
  price_hourly: bigint
  cycle: Cycle
  auto_renew: boolean
  /** The token by which it renews itself; null: it is older than budgets. */
  renewer_id: string | null
  /** Months end at its day and time. */
  anchor_at: Date | null
  paid_until: Date | null
  noticed_days: number | null
  /** When a suspended VPS is deleted. */
  delete_at: Date | null
  cancel_at_period_end: boolean
}

export const BILLING_COLUMNS = `product, price, price_hourly, cycle, auto_renew, renewer_id, anchor_at, paid_until, noticed_days,
  delete_at, cancel_at_period_end`

export type NewBilling = Pick<
  BillingRow,
  'product' | 'price' | 'price_hourly' | 'cycle' | 'auto_renew' | 'renewer_id'
>

/** Changes what is agreed or paid. Fields that are left out stay. */
export async function updateBilling(db: Queryable, id: string, change: Partial<BillingRow>): Promise<void> {
  await db.query(`update vps_billing set ${assignments(change, 2)} where id = $1`, [
    id,
    ...Object.values(change),
  ])
}

/** Forgets the tokens by which machines renewed themselves that are gone, where both ended before a moment. */
export async function forgetRenewers(db: Queryable, before: Date): Promise<void> {
  await db.query(
    `update vps_billing set renewer_id = null from token, vps_machine machine
     where token.id = renewer_id and least(token.expires_at, token.revoked_at) < $1
       and machine.id = vps_billing.id and machine.status in ('failed', 'deleted') and machine.machine_gone_at < $1`,
    [before],
  )
}
