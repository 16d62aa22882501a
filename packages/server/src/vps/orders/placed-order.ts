import { balanceNow } from '../../ledger/balance-view.ts'
import type { Ordering } from '../../platform/slice-ports.ts'
import { vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { orderById, orderView } from './order-store.ts'

export const placedOrder: Ordering['placedOrder'] = async (db, services, orderId) => {
  const order = (await orderById(db, orderId))!
  return {
    ...orderView(order),
    quote: null,
    paid_from_balance: true,
    service: vpsView(await vpsById(db, order.service_id)),
    ...(await balanceNow(db, services, order.account_id)),
  }
}
