import { periodsAfter, type Recurring } from '@coinrack/money/index.ts'
import type { Ordering } from '../../platform/slice-ports.ts'
import { cyclePrice } from '../billing/cycle-price.ts'
import type { VpsRow } from '../machine/vps-store.ts'

type ChargedVps = Pick<
  VpsRow,
  'id' | 'status' | 'cycle' | 'price' | 'price_hourly' | 'anchor_at' | 'paid_until'
> & {
  account_id: string
  renews: boolean
  months: number
}

const RENEWS = `vps.auto_renew and not cancel_at_period_end and vps.status <> 'suspended'`
const LIVE = `vps.status not in ('failed', 'deleted')`
const CHARGED = `
  select vps.id, vps.status, vps.account_id, cycle, vps.price, vps.price_hourly, anchor_at, paid_until, months, ${RENEWS} as renews
  from vps join vps_order on vps_order.id = order_id`

export const summary: Ordering['summary'] = async (db, { clock }, accountId) => {
  const { rows } = await db.query<ChargedVps>({
    name: 'vps_summary',
    text: `${CHARGED} where vps.account_id = $1 and ${LIVE}`,
    values: [accountId],
  })
  const making = rows
    .filter(({ status }) => status === 'provisioning')
    .map(({ id }) => id)
    .sort()
    .at(-1)
  return { live: rows.length, making, charges: chargesOf(rows, clock.now()) }
}

export const chargesOfThoseDue: Ordering['chargesOfThoseDue'] = async (db, { clock }, until) => {
  const { rows } = await db.query<ChargedVps>(
    `${CHARGED} where ${LIVE} and vps.account_id in (
       select account_id from vps where ${LIVE} and ${RENEWS} and (paid_until is null or paid_until <= $1)
     )`,
    [until],
  )
  const ofAccounts = Map.groupBy(rows, ({ account_id }) => account_id)
  return new Map([...ofAccounts].map(([accountId, own]) => [accountId, chargesOf(own, clock.now())]))
}

const chargesOf = (rows: ChargedVps[], now: Date): Recurring[] =>
  rows
    .filter(({ renews }) => renews)
    .map((row) => {
      const { cycle, months, anchor_at, paid_until } = row
      return {
        cycle,
        price: cyclePrice(row),
        // The first periods of one that is being made are held already, and begin soon.
        anchor: anchor_at ?? now,
        next: paid_until ?? periodsAfter(cycle, now, now, months).at(-1)!.until,
      }
    })

export const hasPaid: Ordering['hasPaid'] = async (db, accountId) => {
  const { rowCount } = await db.query(
    'select from vps where account_id = $1 and anchor_at is not null limit 1',
    [accountId],
  )
  return rowCount === 1
}
