import type { Handler } from '../dispatch/handler.ts'
import { judgedApproval } from './judged-approval.ts'
import { approvalById, statusOf } from './read-approvals.ts'
import { seesAll } from './sees-all.ts'

export const getApproval: Handler<'getApproval'> = async ({ input, caller, db, services, until, fail }) => {
  const { approval_id, wait, timeout } = input
  const read = async () => (await approvalById(db, approval_id))!
  const first = await read()
  if (!seesAll(caller) && !first.token_lineage.includes(caller.tokenId))
    throw fail('token_not_below', 'The approval is for a token that is not below the one of this call')
  const isDecided = (row: typeof first) => statusOf(row, services.clock.now()) !== 'pending'
  const row = wait && !isDecided(first) ? await until(approval_id, timeout, read, isDecided) : first
  return judgedApproval(db, services, row)
}
