import type { Services } from '../../platform/services.ts'

/** Expires the orders that were not paid in time; one with a payment under way gets to see it credited first. Takes no input. */
export async function expireOrders({ db, clock }: Services): Promise<void> {
  await db.query(
    `update vps_order set status = 'expired', user_data = null
     where status = 'awaiting_payment' and expires_at <= $1
       and not exists (select from deposit where invoice_id = vps_order.invoice_id and status = 'seen')`,
    [clock.now()],
  )
}
