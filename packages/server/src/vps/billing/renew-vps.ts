import { periodsAfter } from '@coinrack/money/index.ts'
import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import type { AskedCall, Asking } from '../../platform/approval-needed.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import type { Ordering } from '../../platform/slice-ports.ts'
import { lockVps, type VpsRow } from '../machine/vps-store.ts'
import { orderById } from '../orders/order-store.ts'
import { updateBilling } from './billing-store.ts'
import { chargePeriods, lengthOf, type PeriodCharge } from './charge-periods.ts'
import { resumeVps } from './suspend-vps.ts'

/** Periods that can be paid beyond the present one. */
const MOST_AHEAD = 12

/** Whether its time can be paid for: it was delivered, and is not gone. */
export const isRenewable = (row: VpsRow): boolean => row.anchor_at !== null && row.status !== 'deleted'

/** @throws OperationError `renewal_limit` when so much time more would be paid too far ahead */
export function checkRenewalLimit(row: VpsRow, count: number, now: Date): void {
  if (row.paid_until! <= now) return
  const limit = periodsAfter(row.cycle, now, now, MOST_AHEAD + 1).at(-1)!
  const until = periodsAfter(row.cycle, row.anchor_at!, row.paid_until!, count).at(-1)!.until
  if (until <= limit.until) return
  throw new OperationError('renewal_limit', `It is paid until ${row.paid_until!.toISOString()}`, {
    nextSteps: [
      {
        tool: 'get_vps_status',
        why: 'See until when it is paid',
        arguments: { service_id: row.id, reveal: false },
      },
    ],
  })
}

/**
 * Charges more time of a VPS and writes it down; one whose time was over goes on from now. Withdraws a cancellation to
 * the end of the period. Under the locks of VPS and balance.
 * @returns micro-USD
 * @throws InsufficientFunds
 * @throws OperationError `budget_exceeded`, `approval_needed`
 */
export async function renewVps(
  tx: Transaction,
  services: Services,
  {
    row,
    count,
    ...spender
  }: { row: VpsRow; count: number } & Pick<PeriodCharge, 'tokenId' | 'asking' | 'invoiceId'>,
): Promise<bigint> {
  const now = services.clock.now()
  const isOver = row.status === 'suspended' && row.paid_until! <= now
  const periods = isOver
    ? periodsAfter(row.cycle, now, now, count)
    : periodsAfter(row.cycle, row.anchor_at!, row.paid_until!, count)
  const charged = await (isOver ? resumeVps : chargePeriods)(tx, services, {
    row,
    periods,
    ...spender,
  })
  await updateBilling(tx, row.id, { cancel_at_period_end: false })
  await announce(tx, row.id)
  return charged
}

/** What a person is asked to approve. */
export const askingToRenew = (call: AskedCall, row: VpsRow, count: number): Asking => ({
  call,
  subject: `VPS ${row.hostname} (${row.product}), ${lengthOf(row.cycle, count)} more`,
})

/** Pays what an invoice was made for, when money for it arrived or it is paid from the balance. */
export const renewFromBalance: Ordering['renewFromBalance'] = async (
  tx,
  services,
  { serviceId, months },
  { invoiceId, payer },
) => {
  const row = await lockVps(tx, serviceId)
  if (!isRenewable(row)) return 'closed'
  checkRenewalLimit(row, months, services.clock.now())
  const tokenId = payer?.tokenId ?? (await orderById(tx, row.order_id))!.token_id
  await renewVps(tx, services, {
    row,
    count: months,
    tokenId,
    invoiceId,
    asking: payer && askingToRenew(payer.asked, row, months),
  })
  return 'paid'
}
