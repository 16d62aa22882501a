import { z } from 'zod'
import { balanceFields } from './balance.ts'
import { Id } from './ids.ts'
import { listOperation, operation } from './operation.ts'
import { paging, Timestamp, Usd, WaitSeconds } from './wire.ts'

export const approvalStatuses = ['pending', 'approved', 'denied', 'spent', 'expired'] as const

export const Approval = z.object({
  id: Id('approval'),
  status: z
    .enum(approvalStatuses)
    .describe('approved: send the same call again, before expires_at; spent: that call was charged'),
  token_id: Id('token').describe('Whose call it is'),
  operation: z.string().describe('The tool that was called'),
  subject: z.string().describe('What the charge is for'),
  price: Usd.describe('At most this is charged'),
  currency: z.literal('USD'),
  afterwards: z
    .object({ price: Usd, per: z.enum(['month', 'hour']) })
    .nullable()
    .describe('What is charged in addition, again and again, afterwards'),
  approval_url: z.string().describe('For the owner of the account: no token can approve'),
  created_at: Timestamp,
  expires_at: Timestamp.describe('Until when it can be decided or, once approved, used'),
  decided_at: Timestamp.nullable(),
  spent_at: Timestamp.nullable(),
})

/** What the balance is, and for how long it lasts. */
const Runway = z.object(balanceFields)

/** An approval with what it is judged by. */
export const JudgedApproval = Approval.extend({
  now: Runway.describe('The balance as it is'),
  after: Runway.describe('As it is once this is charged, if all of it is'),
  risk: z.array(z.string()).describe('What the owner should know, in plain words'),
})

const example = { approval_id: 'apr_01kabcdefghjkmnpqrstvwxyz0' }

export const approvals = {
  listApprovals: listOperation({
    method: 'GET',
    path: '/approvals',
    summary: 'List approvals',
    description:
      'Lists the charges that the owner of the account was asked to approve, newest first: those of this token and of the tokens below it, or of all tokens for the token of a login.',
    access: 'any',
    closedTo: ['program'],
    rate: 'default',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({ ...paging, status: z.enum(approvalStatuses).optional() }),
    output: Approval,
    errors: [],
    example: { status: 'pending' },
  }),
  getApproval: operation({
    method: 'GET',
    path: '/approvals/{id}',
    everyday: true,
    summary: 'Show an approval',
    description:
      'Shows whether the owner of the account has approved a charge. With wait=decided the answer comes when it is decided or over, or after timeout seconds (at most 50). Once it is approved, send the same call again: it is charged then, once.',
    access: 'any',
    closedTo: ['program'],
    rate: 'default',
    resource: 'approval',
    effect: 'read',
    idempotent: true,
    input: z.strictObject({
      approval_id: Id('approval'),
      wait: z.literal('decided').optional(),
      timeout: WaitSeconds.default(30),
    }),
    output: JudgedApproval,
    errors: ['token_not_below'],
    example: { ...example, wait: 'decided', timeout: 50 },
    next: ({ id, status, operation: tool }) =>
      status === 'pending'
        ? [
            {
              tool: 'get_approval',
              why: 'Wait on: the owner has not decided yet',
              arguments: { approval_id: id, wait: 'decided', timeout: 50 },
            },
          ]
        : status === 'approved'
          ? [{ tool: String(tool), why: 'Send the same call again, with the same input: it is charged now' }]
          : [],
  }),
}
