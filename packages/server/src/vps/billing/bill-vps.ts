import { type BillingStep, DEBT_MS, planBilling } from '@coinrack/money/index.ts'
import { inTransaction, type Queryable, type Transaction } from '../../database/transaction.ts'
import { mayAutoRenew } from '../../ledger/auto-renew.ts'
import { lockBalance, owedSince } from '../../ledger/balance.ts'
import { judgeSpending } from '../../ledger/budget.ts'
import type { PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { lockVps, type VpsRow } from '../machine/vps-store.ts'
import { orderById } from '../orders/order-store.ts'
import { updateBilling } from './billing-store.ts'
import { chargePeriods } from './charge-periods.ts'
import { cyclePrice } from './cycle-price.ts'
import { type Coverage, notifyOwner } from './notify-owner.ts'
import { openRenewalInvoice } from './renewal-invoice.ts'
import { endVps, releaseVps, resumeVps, suspendVps } from './suspend-vps.ts'

/** Steps of one VPS in one pass: hours of three weeks that are charged after the service was away. */
const MOST_STEPS = 500

/**
 * Brings the paid time of every VPS up to now: renews, suspends, resumes, deletes and tells. Takes no input, and may be
 * killed at any step; each is one transaction, decided under the locks of VPS and balance, so that of two replicas the
 * second one finds nothing to do.
 */
export async function billVps(services: Services): Promise<PassReport> {
  const report = { seen: 0, done: 0, failed: 0 }
  for (const { id } of await dueVps(services.db, services.clock.now())) {
    report.seen++
    try {
      for (let steps = 0; steps < MOST_STEPS; steps++) {
        const step = await inTransaction(services.db, (tx) => billOne(tx, services, id))
        if (step !== 'nothing') report.done++
        if (step === 'nothing' || step === 'suspend' || step === 'delete') break
      }
    } catch (error) {
      report.failed++
      services.log.error({ err: error, vps: id }, 'Billing a VPS failed; it is tried again')
    }
  }
  return report
}

/** One step with one VPS. */
async function billOne(tx: Transaction, services: Services, id: string): Promise<BillingStep['do']> {
  const row = await lockVps(tx, id)
  if (!row.anchor_at || !row.paid_until || row.status === 'deleted') return 'nothing'
  const { token_id: tokenId } = (await orderById(tx, row.order_id))!
  const covered = await coverageOf(tx, row, tokenId, services.clock.now())
  const step = planBilling(
    {
      cycle: row.cycle,
      anchor: row.anchor_at,
      paidUntil: row.paid_until,
      autoRenew: row.auto_renew,
      endsThen: row.cancel_at_period_end,
      deleteAt: row.status === 'suspended' ? row.delete_at : null,
      noticedDays: row.noticed_days,
      owesSince: covered === 'debt' ? ((await owedSince(tx, row.account_id)) ?? null) : null,
    },
    covered === 'covered',
    services.clock.now(),
  )
  if (step.do !== 'nothing') services.log.info({ vps: id, step }, 'Billing')
  switch (step.do) {
    case 'renew':
      await chargePeriods(tx, services, { row, periods: [step.period], tokenId, renewerId: row.renewer_id })
      await services.invoicing.markRenewed(tx, services, id, 1)
      break
    case 'resume':
      await resumeVps(tx, services, { row, periods: [step.period], tokenId, renewerId: row.renewer_id })
      await services.invoicing.markRenewed(tx, services, id, 1)
      break
    case 'release':
      await releaseVps(tx, services, row)
      break
    case 'suspend': {
      const invoice = await invoiceOf(tx, services, { ...row, delete_at: step.deleteAt }, covered)
      await suspendVps(tx, services, row, { deleteAt: step.deleteAt, covered, invoice })
      break
    }
    case 'delete':
      await endVps(tx, services, row)
      break
    case 'notice': {
      const invoice = await invoiceOf(tx, services, row, covered)
      await updateBilling(tx, id, { noticed_days: step.days })
      await notifyOwner(tx, services, row, { kind: 'renewal_due', days: step.days, covered, invoice })
    }
  }
  return step.do
}

/** The invoice by which a renewal can be paid where the balance does not cover it. */
const invoiceOf = async (tx: Transaction, services: Services, row: VpsRow, covered: Coverage) =>
  covered === 'balance' && row.auto_renew && !row.cancel_at_period_end
    ? openRenewalInvoice(tx, services, row, 1)
    : undefined

/**
 * Tells whether one more period is covered: by the balance, which is locked by this, by the budget of the token that
 * ordered the VPS, and by the token by which it renews itself, if that still allows it. Above the limit of either nobody
 * can approve it in the background.
 */
async function coverageOf(tx: Transaction, row: VpsRow, tokenId: string | null, at: Date): Promise<Coverage> {
  const amount = cyclePrice(row)
  const { available, owed } = await lockBalance(tx, row.account_id)
  if (owed > 0n) return 'debt'
  if (available < amount) return 'balance'
  const { renewer_id } = row
  if (renewer_id !== null && !(await mayAutoRenew(tx, { tokenId: renewer_id, at }))) return 'permission'
  if (tokenId === null) return 'covered'
  const verdict = await judgeSpending(tx, { tokenId, amount, at, renewerId: renewer_id })
  return verdict === 'within' ? 'covered' : verdict
}

/** The VPS that a step may be due for, the longest due first; the decision itself is made under their locks. */
async function dueVps(db: Queryable, now: Date): Promise<{ id: string }[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from vps
     where status not in ('provisioning', 'failed', 'deleted') and case
       when status = 'suspended' then delete_at <= $1 or cancel_at_period_end
         or paid_until > $1 and account_id not in (select account_id from customer_balance where owed < 0)
         or auto_renew and exists (
           select from customer_balance balance where balance.account_id = vps.account_id and owed = 0
             and available >= case cycle when 'hourly' then price_hourly else price end
         )
       when account_id in (select account_id from customer_balance where owed_since <= $2) then true
       else paid_until <= $1 or cycle = 'monthly' and (
         noticed_days is null and paid_until <= $1 + interval '7 days'
         or noticed_days > 3 and paid_until <= $1 + interval '3 days'
         or noticed_days > 1 and paid_until <= $1 + interval '1 day'
       )
     end
     order by paid_until, id`,
    [now, new Date(now.getTime() - DEBT_MS)],
  )
  return rows
}
