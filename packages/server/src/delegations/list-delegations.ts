import type { Handler } from '../dispatch/handler.ts'
import { pageOf } from '../dispatch/paging.ts'
import { delegationsOf } from './delegation-store.ts'
import { delegationView } from './delegation-view.ts'

export const listDelegations: Handler<'listDelegations'> = async ({ input, caller, db, services }) => {
  const { limit, cursor } = input
  const rows = await delegationsOf(db, caller.accountId, { limit: limit + 1, before: cursor })
  const now = services.clock.now()
  return pageOf(rows, limit, (row) => delegationView(row, now))
}
