import { type PaidPeriod, usedCost } from '@coinrack/money/index.ts'
import { announce } from '../../database/changes.ts'
import type { Call, Handler } from '../../dispatch/handler.ts'
import { hasRoomFor } from '../../hosts/free-share.ts'
import { lockHost } from '../../hosts/host-store.ts'
import { lockBalance } from '../../ledger/balance.ts'
import { balanceNow } from '../../ledger/balance-view.ts'
import { checkBudget, spendBudget } from '../../ledger/budget.ts'
import { judgeBalance } from '../../ledger/judge-balance.ts'
import { post } from '../../ledger/post.ts'
import type { AskedCall, Asking } from '../../platform/approval-needed.ts'
import { updateBilling } from '../billing/billing-store.ts'
import { cyclePrice } from '../billing/cycle-price.ts'
import { periodsFrom, ratePeriod } from '../billing/period-store.ts'
import { checkConfirmation } from '../machine/check-confirmation.ts'
import { updateMachine } from '../machine/machine-store.ts'
import { notifyChange } from '../machine/notify-change.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps, type VpsRow, vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { beginWork } from '../machine/work-store.ts'
import { noRoom } from '../orders/capacity.ts'
import { chargeFor, chargeNow, growthOf, isLarger, type Plan } from '../orders/upgrade.ts'
import { RECONCILE_VPS } from '../topics.ts'

/** Charges the difference and writes down the new size, in one transaction; the reconciler boots with it. */
export const changePlan: Handler<'changePlan'> = async (call) => {
  const { input, caller, db, services, fail } = call
  const id = input.service_id
  const row = await lockVps(db, id)
  const plan = checkPlan(call, row)
  checkConfirmation(call, row, input.confirm, `The VPS would become a ${plan.name}, and boot once`)
  if (!['active', 'stopped'].includes(row.status)) throw fail('service_busy', ...stateRefusal(row))

  const at = services.clock.now()
  const periods = await periodsFrom(db, id, at)
  const charged = chargeNow(plan, row, periods, at)
  const balance = await lockBalance(db, row.account_id)
  const asking = askingToGrow(call.asked, row, plan)
  await checkBudget(db, { tokenId: caller.tokenId, amount: charged, at, asking })
  // Before the money: a charge is not asked for what there is no room for.
  await lockHost(db, row.host_id)
  if (!(await hasRoomFor(db, services, row.host_id, growthOf(plan, row)))) {
    throw noRoom('There is no room for the VPS to grow', seeOptions(id))
  }
  const unpaid = judgeBalance(balance, charged, 'this change')
  if (unpaid) {
    throw fail(unpaid.code, unpaid.message, {
      fields: { ...unpaid.fields, invoice: null, checkout_url: null },
      nextSteps: [{ tool: 'topup_balance', why: 'Top up the balance and send the same change again' }],
    })
  }
  if (charged > 0n) await charge(call, row, plan, charged, asking)
  for (const period of periods) await ratePeriod(db, id, ratedAnew(period, row, plan, at))
  // It would be for the previous price.
  await services.invoicing.cancelRenewal(db, services, id)
  const boot = wantedBoot(row)
  const { vcpus, memory_mb, disk_gb, price, price_hourly } = plan
  await updateMachine(db, id, { vcpus, memory_mb, disk_gb, ...boot })
  await updateBilling(db, id, { product: plan.slug, price, price_hourly })
  if (boot) await notifyChange(db, services, row, boot)
  const operation = await beginWork(db, services, caller.accountId, id, 'change_plan')
  await announce(db, id)
  await announce(db, RECONCILE_VPS)
  return {
    service: vpsView(await vpsById(db, id)),
    operation,
    charged,
    ...(await balanceNow(db, services, caller.accountId)),
  }
}

const seeOptions = (id: string) => [
  { tool: 'get_upgrade_options', why: 'See the plans that it can grow to', arguments: { service_id: id } },
]

function checkPlan({ input, services, fail }: Call<'changePlan'>, row: VpsRow): Plan {
  const plan = services.catalog.plans.find(({ slug }) => slug === input.target_plan)
  if (!plan) throw fail('unknown_product', `There is no plan ${input.target_plan}`)
  if (isLarger(plan, row)) return plan
  throw fail(
    'plan_not_larger',
    `Plan ${plan.slug} is not larger than ${row.product} in every part: a VPS does not shrink`,
    { nextSteps: seeOptions(row.id) },
  )
}

/** What a person is asked to approve. */
function askingToGrow(asked: AskedCall, row: VpsRow, plan: Plan): Asking {
  const more = cyclePrice({ ...plan, cycle: row.cycle }) - cyclePrice(row)
  return {
    call: asked,
    subject: `VPS ${row.hostname}: from ${row.product} to ${plan.slug}, for the rest of the period`,
    afterwards:
      row.auto_renew && more > 0n
        ? { price: more, per: row.cycle === 'hourly' ? 'hour' : 'month' }
        : undefined,
  }
}

/** The customer's balance is locked. */
async function charge(
  { caller, db, services }: Call<'changePlan'>,
  row: VpsRow,
  plan: Plan,
  amount: bigint,
  asking: Asking,
) {
  const transactionId = services.newId('transaction')
  const at = services.clock.now()
  await spendBudget(db, { tokenId: caller.tokenId, amount, at, asking })
  await post(db, {
    id: transactionId,
    kind: 'charge',
    accountId: row.account_id,
    reference: `upgrade:${row.id}:${transactionId}`,
    description: `${row.hostname}: from ${row.product} to ${plan.slug}, for the rest of the period`,
    postings: [{ from: 'customer.available', to: 'revenue.vps', amount }],
    at,
  })
}

/** The facts on the time before that an immediate cancellation needs. A period ahead has none. */
function ratedAnew(period: PaidPeriod, row: VpsRow, plan: Plan, at: Date): PaidPeriod {
  const paid = period.paid + chargeFor(plan, row, period, at)
  if (period.from > at) return { ...period, paid }
  const usedMs = at.getTime() - period.ratedFrom.getTime()
  return {
    ...period,
    paid,
    used: period.used + usedCost(row.price_hourly, usedMs, period.paid - period.used),
    ratedFrom: at,
  }
}

/** A VPS that is off, or is going to be, has the new size from its next start on. */
const wantedBoot = (row: VpsRow) =>
  row.wanted === 'running'
    ? {
        status: 'resizing' as const,
        wanted_boot: Math.max(row.wanted_boot, row.done_boot + 1),
        forced: false,
        ssh_ready: false,
      }
    : undefined
