import { refundOfPeriods } from '@coinrack/money/index.ts'
import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { balanceNow } from '../../ledger/balance-view.ts'
import { releaseHold } from '../../ledger/hold.ts'
import { post } from '../../ledger/post.ts'
import type { Services } from '../../platform/services.ts'
import { updateBilling } from '../billing/billing-store.ts'
import { periodsFrom } from '../billing/period-store.ts'
import { checkConfirmation } from '../machine/check-confirmation.ts'
import { giveUpMachine } from '../machine/machine-store.ts'
import { notifyChange } from '../machine/notify-change.ts'
import { lockVps, type VpsRow, vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { beginWork } from '../machine/work-store.ts'
import { orderById, orderTotal, setOrderStatus } from '../orders/order-store.ts'
import { keepDisk } from '../snapshot/keep-disk.ts'
import { RECONCILE_VPS } from '../topics.ts'

export const cancelService: Handler<'cancelService'> = async (call) => {
  const { input, caller, db, services } = call
  const id = input.service_id
  const row = await lockVps(db, id)
  const gone = row.status === 'deleted' || row.status === 'failed'
  if (input.mode === 'immediate' && !gone)
    checkConfirmation(call, row, input.confirm, 'The VPS and its disk would be deleted')
  let credited = 0n
  if (!gone && input.mode === 'end_of_period') await updateBilling(db, id, { cancel_at_period_end: true })
  if (!gone && input.mode === 'immediate') credited = await endNow(db, services, row)
  const operation = await beginWork(db, services, caller.accountId, id, 'cancel')
  await announce(db, id)
  await announce(db, RECONCILE_VPS)
  return {
    service: vpsView(await vpsById(db, id)),
    operation,
    credited,
    ...(await balanceNow(db, services, caller.accountId)),
  }
}

/**
 * Ends a VPS: what was not used is credited in the same transaction that wants the machine deleted.
 * @returns micro-USD
 */
async function endNow(tx: Transaction, services: Services, row: VpsRow): Promise<bigint> {
  const at = services.clock.now()
  await keepDisk(tx, services, row, 'cancel')
  await giveUpMachine(tx, row.id)
  await services.invoicing.cancelRenewal(tx, services, row.id)
  await notifyChange(tx, services, row, { status: 'deleted' })
  const transactionId = services.newId('transaction')
  const description = `Order ${row.order_id}: ${row.hostname} was cancelled`
  if (row.status === 'provisioning') {
    const order = (await orderById(tx, row.order_id))!
    await releaseHold(tx, { holdId: order.hold_id!, transactionId, description, reason: 'cancelled', at })
    await setOrderStatus(tx, order.id, 'cancelled')
    return orderTotal(order)
  }
  await setOrderStatus(tx, row.order_id, 'cancelled')
  const refund = refundOfPeriods(await periodsFrom(tx, row.id, at), row.price_hourly, at)
  if (refund === 0n) return 0n
  await post(tx, {
    id: transactionId,
    kind: 'refund',
    accountId: row.account_id,
    reference: `cancel:${row.id}:${row.anchor_at!.toISOString()}`,
    description,
    postings: [{ from: 'revenue.vps', to: 'customer.available', amount: refund }],
    at,
  })
  return refund
}
