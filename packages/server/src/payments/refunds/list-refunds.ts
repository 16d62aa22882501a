import type { Handler } from '../../dispatch/handler.ts'
import { pageOf } from '../../dispatch/paging.ts'
import { refundsOf, refundView } from './refund-store.ts'

export const listRefunds: Handler<'listRefunds'> = async ({ input, caller, db }) => {
  const { limit, cursor } = input
  const rows = await refundsOf(db, caller.accountId, { limit: limit + 1, before: cursor })
  return pageOf(rows, limit, refundView)
}
