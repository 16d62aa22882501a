import { announce } from '../database/changes.ts'
import { inTransaction } from '../database/transaction.ts'
import type { Services } from '../services.ts'
import { setOrderStatus } from './order-store.ts'
import { RECONCILE_VPS } from './reconcile-vps.ts'
import { tellChange } from './tell-change.ts'
import { lockVps, updateVps } from './vps-store.ts'

/** Deletes the VPS whose paid time is over and that were cancelled to its end. Takes no input. */
export async function endPeriods(services: Services): Promise<void> {
  const { db, clock } = services
  const { rows } = await db.query<{ id: string }>(
    `select id from vps where cancel_at_period_end and paid_until <= $1 and status not in ('failed', 'deleted')`,
    [clock.now()],
  )
  for (const { id } of rows) {
    await inTransaction(db, async (tx) => {
      const row = await lockVps(tx, id)
      if (!row.cancel_at_period_end || row.status === 'deleted') return
      await updateVps(tx, id, {
        wanted: 'deleted',
        status: 'deleted',
        ssh_ready: false,
        root_password: null,
        user_data: null,
      })
      await setOrderStatus(tx, row.order_id, 'cancelled')
      await tellChange(tx, services, row, { status: 'deleted' })
      await announce(tx, id)
      await announce(tx, RECONCILE_VPS)
    })
  }
}

/** Expires the orders that nobody paid in time. Takes no input. */
export async function expireOrders({ db, clock }: Services): Promise<void> {
  await db.query(
    `update vps_order set status = 'expired', user_data = null where status = 'awaiting_payment' and expires_at <= $1`,
    [clock.now()],
  )
}
