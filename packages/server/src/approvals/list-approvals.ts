import type { Handler } from '../dispatch/handler.ts'
import { pageOf } from '../dispatch/paging.ts'
import { approvalsOf, approvalView } from './read-approvals.ts'
import { seesAll } from './sees-all.ts'

export const listApprovals: Handler<'listApprovals'> = async ({ input, caller, db, services }) => {
  const rows = await approvalsOf(db, caller.accountId, {
    ...{ status: input.status, limit: input.limit, cursor: input.cursor },
    below: seesAll(caller) ? undefined : caller.tokenId,
    now: services.clock.now(),
  })
  return pageOf(rows, input.limit, (row) => approvalView(services, row))
}
