import { announce } from '../../database/changes.ts'
import type { Ordering } from '../../platform/slice-ports.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { demandRoom } from './find-room.ts'
import { lockOrder, orderById } from './order-store.ts'
import { startOrder } from './start-order.ts'

/** Pays an order that awaits payment, when money for it arrived or its invoice is paid from the balance. */
export const payFromBalance: Ordering['payFromBalance'] = async (tx, services, prepared, orderId, by) => {
  const order = await lockOrder(tx, orderId)
  if (order?.status !== 'awaiting_payment') return 'closed'
  const { invoiceId, payer } = by
  const charged = payer ? { ...order, token_id: payer.tokenId } : order
  await startOrder(tx, services, prepared, charged, { invoiceId, asked: payer?.asked })
  await announce(tx, RECONCILE_VPS)
  return 'paid'
}

/** Before money for it is asked for. */
export const checkRoom: Ordering['checkRoom'] = async (db, services, orderId) => {
  const order = await orderById(db, orderId)
  if (order?.status === 'awaiting_payment') await demandRoom(db, services, order)
}
