import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { ordersOf, orderView } from './order-store.ts'

export const listOrders: Handler<'listOrders'> = async ({ input, caller, db }) =>
  pageOf(await ordersOf(db, caller.accountId, input.limit, input.cursor), input.limit, orderView)
