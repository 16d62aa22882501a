import { upgradeCharge } from '@coinrack/money/index.ts'
import type { Services } from '../services.ts'
import type { ShownVps } from './shown-vps.ts'
import type { VpsRow } from './vps-store.ts'

export type Plan = Services['catalog']['plans'][number]
type Size = Pick<VpsRow, 'product' | 'vcpus' | 'memory_mb' | 'disk_gb' | 'ipv4'>

/** Whether a VPS can become one of this plan: nothing of it shrinks, and its address stays. */
export const isLarger = (plan: Plan, now: Size) =>
  plan.slug !== now.product &&
  plan.network === (now.ipv4 === null ? 'nat' : 'dedicated') &&
  plan.vcpus >= now.vcpus &&
  plan.memory_mb >= now.memory_mb &&
  plan.disk_gb >= now.disk_gb

/** What the change costs now. */
export const chargeNow = (
  plan: Plan,
  row: Pick<ShownVps, 'price' | 'paid_until'> & { period_from: Date | null },
  at: Date,
): bigint =>
  row.period_from && row.paid_until
    ? upgradeCharge({
        oldPrice: row.price,
        newPrice: plan.price,
        periodFrom: row.period_from,
        paidUntil: row.paid_until,
        at,
      })
    : 0n

/** What it takes of the host beyond what the VPS has. */
export const growthOf = (plan: Plan, now: Size) => ({
  memory_mb: plan.memory_mb - now.memory_mb,
  disk_gb: plan.disk_gb - now.disk_gb,
})
