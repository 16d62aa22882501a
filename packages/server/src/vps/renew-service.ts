import { periodsAfter } from '@coinrack/money/index.ts'
import { announce } from '../database/changes.ts'
import type { Call, Handler } from '../handler.ts'
import { lockBalance } from '../ledger/balance.ts'
import { balanceNow } from '../ledger/balance-view.ts'
import { checkBudget } from '../ledger/budget.ts'
import { chargePeriods, lengthOf } from './billing/charge-periods.ts'
import { cyclePrice } from './billing/cycle-price.ts'
import { resumeVps } from './billing/suspend-vps.ts'
import { judgeBalance } from './unpaid.ts'
import { lockVps, updateVps, type VpsRow, vpsById } from './vps-store.ts'
import { vpsView } from './vps-view.ts'

/** Periods that can be paid beyond the present one. */
const MOST_AHEAD = 12

/** Charges more time and writes it down, in one transaction; a suspended VPS goes on from now. */
export const renewService: Handler<'renewService'> = async (call) => {
  const { input, caller, db, services, fail } = call
  const row = await lockVps(db, input.service_id)
  if (!row.anchor_at || row.status === 'deleted') throw fail('service_busy', `The VPS is ${row.status}`)
  if (row.cycle === 'hourly' && input.months !== 1) {
    const message = 'An hourly VPS is renewed by one hour: leave months out'
    throw fail('invalid_input', message, { fields: { details: [{ path: 'months', message }] } })
  }
  checkLimit(call, row)
  const amount = cyclePrice(row) * BigInt(input.months)
  const what = lengthOf(row.cycle, input.months)
  const now = services.clock.now()
  const balance = await lockBalance(db, row.account_id)
  await checkBudget(db, { tokenId: caller.tokenId, amount, at: now })
  const unpaid = judgeBalance(balance, amount, what)
  if (unpaid) {
    throw fail(unpaid.code, unpaid.message, {
      fields: { ...unpaid.fields, invoice: null, checkout_url: null },
      nextSteps: [{ tool: 'topup_balance', why: 'Top up the balance and send the same renewal again' }],
    })
  }
  const isSuspended = row.status === 'suspended'
  const charge = {
    row,
    periods: isSuspended
      ? periodsAfter(row.cycle, now, now, input.months)
      : periodsAfter(row.cycle, row.anchor_at, row.paid_until!, input.months),
    tokenId: caller.tokenId,
  }
  const charged = await (isSuspended ? resumeVps : chargePeriods)(db, services, charge)
  await updateVps(db, row.id, { cancel_at_period_end: false })
  await announce(db, row.id)
  return {
    service: vpsView(await vpsById(db, row.id)),
    charged,
    ...(await balanceNow(db, services, caller.accountId)),
  }
}

function checkLimit({ input, services, fail }: Call<'renewService'>, row: VpsRow): void {
  const now = services.clock.now()
  if (row.status === 'suspended' || row.paid_until! <= now) return
  const limit = periodsAfter(row.cycle, now, now, MOST_AHEAD + 1).at(-1)!
  const until = periodsAfter(row.cycle, row.anchor_at!, row.paid_until!, input.months).at(-1)!.until
  if (until <= limit.until) return
  throw fail('renewal_limit', `It is paid until ${row.paid_until!.toISOString()}`)
}
