import type { Ordering } from '../../platform/slice-ports.ts'
import { renewedService, renewService } from '../billing/renew-service.ts'
import { renewFromBalance } from '../billing/renew-vps.ts'
import { lockVps } from '../machine/vps-store.ts'
import { failOrder } from './fail-order.ts'
import { cancelUnpaidOrder } from './order-store.ts'
import { orderVps } from './order-vps.ts'
import { checkRoom, payFromBalance } from './pay-order.ts'
import { placedOrder } from './placed-order.ts'
import { prepareOrder } from './prepare-order.ts'
import { priceOfOrder } from './price-of-order.ts'
import { chargesOfThoseDue, hasPaid, summary } from './summary.ts'

/** The functions of orders that the other slices use. */
export const ordering: Ordering = {
  orderVps,
  priceOfOrder,
  placedOrder,
  prepareOrder,
  payFromBalance,
  checkRoom,
  failOrder,
  cancelUnpaid: cancelUnpaidOrder,
  async lockService(tx, serviceId) {
    await lockVps(tx, serviceId)
  },
  renewFromBalance,
  renewService,
  renewedService,
  summary,
  chargesOfThoseDue,
  hasPaid,
}
