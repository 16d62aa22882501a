import type { Services } from '../services.ts'

/** Expires the orders that nobody paid in time. Takes no input. */
export async function expireOrders({ db, clock }: Services): Promise<void> {
  await db.query(
    `update vps_order set status = 'expired', user_data = null where status = 'awaiting_payment' and expires_at <= $1`,
    [clock.now()],
  )
}
