import type { Handler } from '../../dispatch/handler.ts'
import { fits } from '../../hosts/choose-host.ts'
import { candidates } from '../../hosts/free-share.ts'
import { periodsFrom } from '../billing/period-store.ts'
import { vpsById } from '../machine/vps-store.ts'
import { chargeNow, growthOf, isLarger } from '../orders/upgrade.ts'

export const getUpgradeOptions: Handler<'getUpgradeOptions'> = async ({ input, db, services }) => {
  const row = await vpsById(db, input.service_id)
  const [host] = await candidates(db, services, { hostIds: [row.host_id], isThere: true })
  const at = services.clock.now()
  const periods = await periodsFrom(db, row.id, at)
  const isLive = row.status !== 'deleted' && row.status !== 'failed'
  return {
    current_plan: row.product,
    paid_until: row.paid_until,
    options: services.catalog.plans
      .filter((plan) => isLive && isLarger(plan, row))
      .map((plan) => ({
        target_plan: plan.slug,
        name: plan.name,
        vcpus: plan.vcpus,
        memory_mb: plan.memory_mb,
        disk_gb: plan.disk_gb,
        price: plan.price,
        price_hourly: plan.price_hourly,
        charge_now: chargeNow(plan, row, periods, at),
        available: host !== undefined && fits(growthOf(plan, row), host),
      })),
  }
}
