import { announce } from '../database/changes.ts'
import { OperationError } from '../errors.ts'
import type { Ordering } from '../seams.ts'
import { lockOrder } from './order-store.ts'
import { RECONCILE_VPS } from './reconcile-vps.ts'
import { startOrder } from './start-order.ts'

/** Pays an order that awaits payment, when money for it arrived or its invoice is paid from the balance. */
export const payFromBalance: Ordering['payFromBalance'] = async (tx, services, orderId, tokenId) => {
  const order = await lockOrder(tx, orderId)
  if (order?.status !== 'awaiting_payment') return 'closed'
  try {
    await startOrder(tx, services, tokenId === undefined ? order : { ...order, token_id: tokenId })
  } catch (error) {
    if (error instanceof OperationError && error.code === 'capacity') return 'capacity'
    throw error
  }
  await announce(tx, RECONCILE_VPS)
  return 'paid'
}
