import type { Handler } from '../dispatch/handler.ts'
import { pageOf } from '../dispatch/paging.ts'
import { isOfLogin } from './may-manage.ts'
import { tokensOf, tokenView } from './token-store.ts'

export const listTokens: Handler<'listTokens'> = async ({ input, caller, db, services }) => {
  const now = services.clock.now()
  const rows = await tokensOf(db, caller.accountId, {
    below: isOfLogin(caller) ? undefined : caller.tokenId,
    ended: input.ended,
    limit: input.limit,
    cursor: input.cursor,
    now,
  })
  return pageOf(rows, input.limit, (row) => tokenView(row, now))
}
