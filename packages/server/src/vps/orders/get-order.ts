import type { Handler } from '../../dispatch/handler.ts'
import { orderById, orderView } from './order-store.ts'

export const getOrder: Handler<'getOrder'> = async ({ input, db }) =>
  orderView((await orderById(db, input.order_id))!)
