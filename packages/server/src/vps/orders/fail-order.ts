import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Transaction } from '../../database/transaction.ts'
import { queueMail } from '../../platform/queue-mail.ts'
import { recordEvent } from '../../platform/record-event.ts'
import type { Services } from '../../platform/services.ts'
import type { Ordering } from '../../platform/slice-ports.ts'
import { lockOrder, type OrderRow, orderTotal, setOrderStatus } from './order-store.ts'

/** Ends an order that becomes no machine, and tells its account why, by event and by mail. */
export async function endOrder(
  tx: Transaction,
  services: Services,
  order: OrderRow,
  reason: string,
): Promise<void> {
  await setOrderStatus(tx, order.id, 'failed', { failureReason: reason })
  await recordEvent(tx, services, order.account_id, 'order.failed', {
    order_id: order.id,
    service_id: order.hold_id === null ? null : order.service_id,
    invoice_id: order.invoice_id,
    reason,
  })
  const { rows } = await tx.query<{ email: string | null }>('select email from account where id = $1', [
    order.account_id,
  ])
  await queueMail(tx, services, {
    to: rows[0]!.email,
    subject: `Your order of ${order.hostname} failed: nothing was charged`,
    text: `Order ${order.id} of VPS ${order.hostname} (${order.product}, ${formatUsd(orderTotal(order))} USD) at ${services.config.publicUrl}

The VPS could not be made: ${reason}.
Nothing was charged. What you paid for it is on your balance, and can pay for another order: see list_plans for what is available.
`,
  })
}

/** For an order whose money came when it could not begin. */
export const failOrder: Ordering['failOrder'] = async (tx, services, orderId, reason) => {
  const order = await lockOrder(tx, orderId)
  if (order?.status === 'awaiting_payment') await endOrder(tx, services, order, reason)
}
