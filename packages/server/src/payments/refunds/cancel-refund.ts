import type { Handler } from '../../dispatch/handler.ts'
import { endRefund } from './end-refund.ts'
import { lockRefund, refundById, refundView } from './refund-store.ts'

export const cancelRefund: Handler<'cancelRefund'> = async ({ input, db, services, fail }) => {
  const refund = (await lockRefund(db, input.refund_id))!
  if (refund.status === 'requested') await endRefund(db, services, refund, { status: 'cancelled' })
  else if (refund.status !== 'cancelled') {
    const step = { tool: 'get_refund', why: 'See how far it is', arguments: { refund_id: refund.id } }
    throw fail('refund_closed', `The refund is ${refund.status}`, { nextSteps: [step] })
  }
  return refundView(await refundById(db, refund.id))
}
