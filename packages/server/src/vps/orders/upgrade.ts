import { type PaidPeriod, type Period, upgradeCharge } from '@coinrack/money/index.ts'
import type { Services } from '../../platform/services.ts'
import { cyclePrice } from '../billing/cycle-price.ts'
import type { VpsRow } from '../machine/vps-store.ts'

export type Plan = Services['catalog']['plans'][number]
type Size = Pick<VpsRow, 'product' | 'vcpus' | 'memory_mb' | 'disk_gb' | 'ipv4'>

/** Whether a VPS can become one of this plan: nothing of it shrinks, and its address stays. */
export const isLarger = (plan: Plan, now: Size) =>
  plan.slug !== now.product &&
  plan.network === (now.ipv4 === null ? 'nat' : 'dedicated') &&
  plan.vcpus >= now.vcpus &&
  plan.memory_mb >= now.memory_mb &&
  plan.disk_gb >= now.disk_gb

type Priced = Pick<VpsRow, 'cycle' | 'price' | 'price_hourly'>

/** The cost of the change now: for the rest of the current period, and for those that are paid ahead. */
export const chargeNow = (plan: Plan, row: Priced, periods: readonly PaidPeriod[], at: Date): bigint =>
  periods.reduce((sum, period) => sum + chargeFor(plan, row, period, at), 0n)

/** The part of that charge that is for one period. */
export const chargeFor = (plan: Plan, row: Priced, period: Period, at: Date): bigint =>
  upgradeCharge({
    oldPrice: cyclePrice(row),
    newPrice: cyclePrice({ ...plan, cycle: row.cycle }),
    periodFrom: period.from,
    paidUntil: period.until,
    at,
  })

/** How much more of the host it takes than the VPS has now. */
export const growthOf = (plan: Plan, now: Size) => ({
  memory_mb: plan.memory_mb - now.memory_mb,
  disk_gb: plan.disk_gb - now.disk_gb,
})
