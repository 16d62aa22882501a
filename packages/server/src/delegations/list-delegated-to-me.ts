import type { Handler } from '../dispatch/handler.ts'
import { pageOf } from '../dispatch/paging.ts'
import { delegatedTo } from './delegation-store.ts'

export const listDelegatedToMe: Handler<'listDelegatedToMe'> = async ({ input, caller, db, services }) => {
  const { limit, cursor } = input
  const page = { now: services.clock.now(), limit: limit + 1, before: cursor }
  return pageOf(await delegatedTo(db, caller.accountId, page), limit, (row) => row)
}
