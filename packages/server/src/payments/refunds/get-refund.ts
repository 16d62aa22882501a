import type { Handler } from '../../dispatch/handler.ts'
import { refundById, refundView } from './refund-store.ts'

export const getRefund: Handler<'getRefund'> = async ({ input, db }) =>
  refundView(await refundById(db, input.refund_id))
