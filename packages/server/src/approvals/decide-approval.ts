import { toolName } from '@coinrack/contract/operation.ts'
import { announce } from '../database/changes.ts'
import type { Transaction } from '../database/transaction.ts'
import { decideApproval } from '../ledger/approval-store.ts'
import { recordEvent } from '../platform/record-event.ts'
import type { Services } from '../platform/services.ts'
import { approvalById } from './read-approvals.ts'

/** How long the approved call can be made. */
export const APPROVED_MS = 900_000

/** Why an approval cannot be decided. */
export type Undecidable = 'decided' | 'expired' | 'suspended' | 'token_ended'

/**
 * Writes down what the owner of an account decided, who has proven to be that for this very approval. An approval of a
 * token that has ended meanwhile, or of a suspended account, can only be denied.
 * @returns undefined once it is written down
 */
export async function decide(
  tx: Transaction,
  services: Services,
  id: string,
  decision: { status: 'approved' | 'denied'; provenAt: Date },
): Promise<Undecidable | undefined> {
  const at = services.clock.now()
  await tx.query('select from approval where id = $1 for update', [id])
  const row = await approvalById(tx, id)
  if (row?.status !== 'pending') return 'decided'
  if (row.expires_at <= at) return 'expired'
  if (decision.status === 'approved') {
    const obstacle = await obstacleTo(tx, row, at)
    if (obstacle) return obstacle
  }
  const expiresAt = decision.status === 'approved' ? new Date(at.getTime() + APPROVED_MS) : row.expires_at
  await decideApproval(tx, id, {
    status: decision.status,
    proven_at: decision.provenAt,
    expires_at: expiresAt,
    at,
  })
  await recordEvent(tx, services, row.account_id, 'approval.decided', {
    approval_id: id,
    token_id: row.token_id,
    operation: toolName(row.operation),
    subject: row.subject,
    price: row.price,
    decision: decision.status,
    expires_at: expiresAt,
  })
  await announce(tx, id)
  return undefined
}

async function obstacleTo(
  tx: Transaction,
  { account_id, token_id }: { account_id: string; token_id: string },
  at: Date,
): Promise<Undecidable | undefined> {
  const { rows } = await tx.query<{ suspended: boolean; ended: boolean }>(
    `select account.suspended_at is not null as suspended, least(token.revoked_at, token.expires_at) <= $3 as ended
     from account join token on token.account_id = account.id where account.id = $1 and token.id = $2`,
    [account_id, token_id, at],
  )
  const { suspended, ended } = rows[0]!
  return suspended ? 'suspended' : ended ? 'token_ended' : undefined
}
