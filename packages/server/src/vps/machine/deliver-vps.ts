import { periodsAfter } from '@coinrack/money/index.ts'
import { announce } from '../../database/changes.ts'
import { inTransaction } from '../../database/transaction.ts'
import { captureHold, releaseHold } from '../../ledger/hold.ts'
import type { Services } from '../../platform/services.ts'
import { updateBilling } from '../billing/billing-store.ts'
import { lengthOf } from '../billing/charge-periods.ts'
import { cyclePrice } from '../billing/cycle-price.ts'
import { insertPeriods } from '../billing/period-store.ts'
import { endOrder } from '../orders/fail-order.ts'
import { orderById, setOrderStatus } from '../orders/order-store.ts'
import { giveUpMachine, updateMachine } from './machine-store.ts'
import { notifyChange } from './notify-change.ts'
import { lockVps } from './vps-store.ts'

/** Charges an order whose machine answered by SSH, once: the paid period begins now. */
export async function deliverVps(services: Services, id: string): Promise<void> {
  await inTransaction(services.db, async (tx) => {
    const row = await lockVps(tx, id)
    if (row.status !== 'provisioning') return
    const at = services.clock.now()
    const order = (await orderById(tx, row.order_id))!
    await captureHold(tx, {
      holdId: order.hold_id!,
      transactionId: services.newId('transaction'),
      description: `${row.hostname} (${row.product}), ${lengthOf(row.cycle, order.months)}`,
      at,
    })
    const periods = periodsAfter(row.cycle, at, at, order.months)
    await insertPeriods(tx, id, periods, cyclePrice(row))
    await updateMachine(tx, id, {
      status: 'active',
      ssh_ready: true,
      user_data: null,
      failure_reason: null,
    })
    await updateBilling(tx, id, { anchor_at: at, paid_until: periods.at(-1)!.until })
    await setOrderStatus(tx, order.id, 'active')
    await notifyChange(tx, services, row, { status: 'active', ssh_ready: true })
    await announce(tx, id)
  })
}

/** Gives the price back for a machine that could not be made, and wants what is there of it gone. */
export async function failVps(services: Services, id: string, reason: string): Promise<void> {
  await inTransaction(services.db, async (tx) => {
    const row = await lockVps(tx, id)
    if (row.status !== 'provisioning') return
    const order = (await orderById(tx, row.order_id))!
    await releaseHold(tx, {
      holdId: order.hold_id!,
      transactionId: services.newId('transaction'),
      description: `Order ${order.id}: ${row.hostname} could not be provisioned, ${reason}`,
      reason,
      at: services.clock.now(),
    })
    await giveUpMachine(tx, id, { status: 'failed', failure_reason: reason })
    await notifyChange(tx, services, row, { status: 'failed' })
    await endOrder(tx, services, order, reason)
    await announce(tx, id)
  })
}
