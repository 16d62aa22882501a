import type { Approval } from '@coinrack/contract/approvals.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import type { z } from 'zod'
import type { Queryable } from '../database/transaction.ts'
import { APPROVAL_COLUMNS, type ApprovalRow } from '../ledger/approval-store.ts'
import type { Services } from '../platform/services.ts'

type View = z.output<typeof Approval>

/** An approval with the token whose call it is for. */
export type ReadApproval = ApprovalRow & { token_name: string | null; token_lineage: string[] }

const SELECT = `select approval.*, token.name as token_name, token.lineage as token_lineage
  from (select ${APPROVAL_COLUMNS} from approval) approval join token on token.id = approval.token_id`

export async function approvalById(db: Queryable, id: string): Promise<ReadApproval | undefined> {
  const { rows } = await db.query<ReadApproval>(`${SELECT} where approval.id = $1`, [id])
  return rows[0]
}

/**
 * Newest first, one more than `limit` when there are more.
 * @param wanted `below`: for this token and those below it; without it all of the account
 */
export async function approvalsOf(
  db: Queryable,
  accountId: string,
  wanted: {
    below: string | undefined
    status: View['status'] | undefined
    limit: number
    cursor: string | undefined
    now: Date
  },
): Promise<ReadApproval[]> {
  const { rows } = await db.query<ReadApproval>(
    `${SELECT}
     where approval.account_id = $1 and ($2::text is null or $2 = any(token.lineage)) and ($3::text is null or approval.id < $3)
       and ($4::text is null or $4 = ${statusAt('$5')})
     order by approval.id desc limit $6`,
    [
      accountId,
      wanted.below ?? null,
      wanted.cursor ?? null,
      wanted.status ?? null,
      wanted.now,
      wanted.limit + 1,
    ],
  )
  return rows
}

/** As `statusOf`, in SQL. */
const statusAt = (now: string) =>
  `case when approval.status = 'replaced' or approval.status in ('pending', 'approved') and approval.expires_at <= ${now}
     then 'expired' else approval.status end`

/** The state of an approval at a moment: nothing has to run for one to expire. */
export const statusOf = ({ status, expires_at }: ApprovalRow, now: Date): View['status'] =>
  status === 'replaced' || ((status === 'pending' || status === 'approved') && expires_at <= now)
    ? 'expired'
    : status

/** The page at which the owner of the account decides. */
export const approvalUrl = ({ config }: Pick<Services, 'config'>, id: string) =>
  `${config.publicUrl}/approvals/${id}`

/** An approval as callers see it. */
export const approvalView = (services: Pick<Services, 'config' | 'clock'>, row: ApprovalRow): View => ({
  id: row.id,
  status: statusOf(row, services.clock.now()),
  token_id: row.token_id,
  operation: toolName(row.operation),
  subject: row.subject,
  price: row.price,
  currency: 'USD',
  afterwards:
    row.afterwards_price === null ? null : { price: row.afterwards_price, per: row.afterwards_per! },
  approval_url: approvalUrl(services, row.id),
  created_at: row.created_at,
  expires_at: row.expires_at,
  decided_at: row.decided_at,
  spent_at: row.spent_at,
})
