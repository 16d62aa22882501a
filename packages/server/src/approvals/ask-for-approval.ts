import { toolName } from '@coinrack/contract/operation.ts'
import { formatUsd } from '@coinrack/contract/wire.ts'
import { inTransaction, type Transaction } from '../database/transaction.ts'
import { type ApprovalRow, insertApproval, liveApproval, replaceApproval } from '../ledger/approval-store.ts'
import { type ApprovalNeeded, type Asking, limitFields } from '../platform/approval-needed.ts'
import { OperationError } from '../platform/errors.ts'
import { queueMail } from '../platform/queue-mail.ts'
import { recordEvent } from '../platform/record-event.ts'
import type { Services } from '../platform/services.ts'
import type { Approving } from '../platform/slice-ports.ts'
import { approvalUrl } from './read-approvals.ts'

const HOUR_MS = 3_600_000
/** How long the owner has to decide. A denial stands as long, so that the same call does not ask again and again. */
const PENDING_MS = 24 * HOUR_MS
/** Pending at the same time. */
const MOST_OF_TOKEN = 10
const MOST_OF_ACCOUNT = 50
/** More are in the list and the events, and not mailed. */
const MAILS_AN_HOUR = 5

/**
 * Writes down what a person is asked to approve, after the call was rolled back. The same call is answered the same
 * approval for as long as that is pending or denied, or approved for less than the call costs now.
 */
export const approving: Approving = {
  async ask(services, caller, refusal) {
    const { asking } = refusal
    if (!asking) return refusal
    const now = services.clock.now()
    const known = await liveApproval(services.db, asking.call, now)
    if (known && stillAnswers(known, refusal)) return withApproval(services, refusal, known)
    const by = { accountId: caller.accountId, tokenId: asking.call.tokenId ?? caller.tokenId }
    return inTransaction(services.db, (tx) => askOnce(tx, services, by, refusal, asking))
  },
}

const stillAnswers = ({ status, price }: ApprovalRow, refusal: ApprovalNeeded) =>
  status === 'denied' || price >= refusal.price

async function askOnce(
  tx: Transaction,
  services: Services,
  by: { accountId: string; tokenId: string },
  refusal: ApprovalNeeded,
  asking: Asking,
): Promise<OperationError> {
  const { clock, newId } = services
  // Calls of one account ask one after the other.
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('approvals ' || $1, 0))`, [by.accountId])
  const now = clock.now()
  const known = await liveApproval(tx, asking.call, now)
  if (known && stillAnswers(known, refusal)) return withApproval(services, refusal, known)
  if (known) await replaceApproval(tx, known.id)

  const counts = await countAsked(tx, by, now)
  if (counts.of_token >= MOST_OF_TOKEN || counts.of_account >= MOST_OF_ACCOUNT)
    return new OperationError(
      'approval_limit',
      `${refusal.message}; and ${counts.of_token} other calls of this token, ${counts.of_account} of the account, wait for approval`,
      {
        fields: limitFields(refusal.limit, refusal.price),
        nextSteps: [{ tool: 'list_approvals', why: 'See what waits', arguments: { status: 'pending' } }],
      },
    )
  const id = newId('approval')
  const expiresAt = new Date(now.getTime() + PENDING_MS)
  const mailed = counts.mailed < MAILS_AN_HOUR
  const { price, limit } = refusal
  await insertApproval(tx, {
    id,
    account_id: by.accountId,
    token_id: by.tokenId,
    price,
    asking,
    limit,
    mailed,
    created_at: now,
    expires_at: expiresAt,
  })
  await recordEvent(tx, services, by.accountId, 'approval.requested', {
    approval_id: id,
    token_id: by.tokenId,
    operation: toolName(asking.call.operation),
    subject: asking.subject,
    price,
    approval_url: approvalUrl(services, id),
    expires_at: expiresAt,
  })
  if (mailed) await mailOwner(tx, services, { ...by, id, price, asking, expiresAt })
  return withApproval(services, refusal, { id, status: 'pending', expires_at: expiresAt })
}

/** What waits for a decision, and the mails of the last hour. */
async function countAsked(tx: Transaction, by: { accountId: string; tokenId: string }, now: Date) {
  const { rows } = await tx.query<{ of_token: number; of_account: number; mailed: number }>(
    `select (count(*) filter (where status = 'pending' and expires_at > $3 and token_id = $2))::integer as of_token,
       (count(*) filter (where status = 'pending' and expires_at > $3))::integer as of_account,
       (count(*) filter (where mailed and created_at > $4))::integer as mailed
     from approval where account_id = $1 and created_at > $5`,
    [by.accountId, by.tokenId, now, new Date(now.getTime() - HOUR_MS), new Date(now.getTime() - PENDING_MS)],
  )
  return rows[0]!
}

async function mailOwner(
  tx: Transaction,
  services: Services,
  about: {
    accountId: string
    tokenId: string
    id: string
    price: bigint
    asking: Asking
    expiresAt: Date
  },
): Promise<void> {
  const { rows } = await tx.query<{ email: string | null; name: string | null }>(
    'select email, token.name from account join token on token.account_id = account.id where account.id = $1 and token.id = $2',
    [about.accountId, about.tokenId],
  )
  const { email, name } = rows[0]!
  const price = `${formatUsd(about.price)} USD`
  const { subject, afterwards } = about.asking
  await queueMail(tx, services, {
    to: email,
    subject: `Approve ${price}? ${subject}`,
    text: `The token ${name === null ? about.tokenId : `"${name}" (${about.tokenId})`} of your account asks to spend ${price}.

For: ${subject}
${afterwards ? `Then: ${formatUsd(afterwards.price)} USD ${afterwards.per === 'month' ? 'each month' : 'an hour'}\n` : ''}
Approve or deny it until ${about.expiresAt.toISOString().slice(0, 16).replace('T', ' ')} UTC:
${approvalUrl(services, about.id)}

The page asks for proof that you are the owner of the account. Nothing is charged unless you approve it.
`,
  })
}

/** The refusal with where it can be approved, and how to go on. */
function withApproval(
  services: Services,
  { message, limit, price, asking }: ApprovalNeeded,
  { id, status, expires_at }: Pick<ApprovalRow, 'id' | 'status' | 'expires_at'>,
): OperationError {
  const isDenied = status === 'denied'
  return new OperationError('approval_needed', isDenied ? `${message}, who has denied it` : message, {
    ...(isDenied && {
      fix: 'Do not send the same call again: the owner of the account has denied it. Ask for less, or ask the owner.',
    }),
    // The owner was asked: the call was not without effect.
    keepEffects: true,
    fields: {
      approval_id: id,
      approval_url: approvalUrl(services, id),
      approval_status: status,
      subject: asking?.subject,
      ...limitFields(limit, price),
      expires_at: expires_at.toISOString(),
    },
    nextSteps: isDenied
      ? [{ tool: 'whoami', why: 'See the limits of this token' }]
      : [
          {
            tool: 'get_approval',
            why: 'Give the owner the link in approval_url, and wait for the decision',
            arguments: { approval_id: id, wait: 'decided', timeout: 50 },
          },
        ],
  })
}
