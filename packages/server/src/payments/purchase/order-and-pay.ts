import { basePath, operations } from '@coinrack/contract/index.ts'
import type { PaidHandler } from '../../dispatch/handler.ts'
import { payWithinCall } from './pay-within-call.ts'

/** Orders a VPS and pays the invoice of the order, in one call. */
export const orderAndPay: PaidHandler<'orderVps'> = (call) =>
  payWithinCall<'orderVps'>(call, {
    url: call.services.config.publicUrl + basePath + operations.orderVps.path,
    description: `VPS ${call.input.product}`,
    handler: call.services.ordering.orderVps,
    show: (db, services, { order_id }) => services.ordering.placedOrder(db, services, order_id!),
  })
