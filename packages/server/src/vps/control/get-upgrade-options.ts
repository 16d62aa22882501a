import type { Handler } from '../../dispatch/handler.ts'
import { periodsFrom } from '../billing/period-store.ts'
import { vpsById } from '../machine/vps-store.ts'
import { askRoom } from '../orders/ask-host.ts'
import { fits, freeShare } from '../orders/capacity.ts'
import { chargeNow, growthOf, isLarger } from '../orders/upgrade.ts'

export const getUpgradeOptions: Handler<'getUpgradeOptions'> = async ({ input, db, services }) => {
  const row = await vpsById(db, input.service_id)
  const free = await freeShare(db, services, await askRoom(services))
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
        available: fits(growthOf(plan, row), free),
      })),
  }
}
