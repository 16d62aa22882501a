import { periodsAfter, type Recurring } from '@coinrack/money/index.ts'
import type { Ordering } from '../seams.ts'
import { cyclePrice } from './billing/cycle-price.ts'
import type { VpsRow } from './vps-store.ts'

export const summary: Ordering['summary'] = async (db, { clock }, accountId) => {
  const { rows } = await db.query<
    Pick<VpsRow, 'cycle' | 'price' | 'price_hourly' | 'anchor_at' | 'paid_until'> & {
      renews: boolean
      months: number
    }
  >({
    name: 'vps_summary',
    text: `select cycle, vps.price, vps.price_hourly, anchor_at, paid_until, months,
             vps.auto_renew and not cancel_at_period_end and vps.status <> 'suspended' as renews
           from vps join vps_order on vps_order.id = order_id
           where vps.account_id = $1 and vps.status not in ('failed', 'deleted')`,
    values: [accountId],
  })
  const now = clock.now()
  const charges = rows
    .filter(({ renews }) => renews)
    .map((row): Recurring => {
      const { cycle, months, anchor_at, paid_until } = row
      return {
        cycle,
        price: cyclePrice(row),
        // The first periods of one that is being made are held already, and begin soon.
        anchor: anchor_at ?? now,
        next: paid_until ?? periodsAfter(cycle, now, now, months).at(-1)!.until,
      }
    })
  return { live: rows.length, charges }
}

export const hasPaid: Ordering['hasPaid'] = async (db, accountId) => {
  const { rowCount } = await db.query(
    'select from vps where account_id = $1 and anchor_at is not null limit 1',
    [accountId],
  )
  return rowCount === 1
}
