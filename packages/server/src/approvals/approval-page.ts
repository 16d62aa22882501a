import { formatUsd } from '@coinrack/contract/wire.ts'
import {
  approvalPage as approvalHtml,
  approvalIntro,
  decidedPage,
  minute,
} from '@coinrack/web/approval/page.ts'
import { PageProblem, type PageRequest, type ProvenPage } from '../account/proving/proven-page.ts'
import { inTransaction } from '../database/transaction.ts'
import type { ApprovalRow } from '../ledger/approval-store.ts'
import type { Services } from '../platform/services.ts'
import { decide, type Undecidable } from './decide-approval.ts'
import { judgedApproval } from './judged-approval.ts'
import { approvalById, type ReadApproval, statusOf } from './read-approvals.ts'

/** The page at which the owner of an account approves or denies a charge: the only place where that can be done. */
export function approvalPage(services: Services): ProvenPage {
  const demo = services.demo !== undefined
  const find = async ({ params }: PageRequest) => {
    const row = await approvalById(services.db, params.id)
    if (row) return row
    throw new PageProblem(404, 'There is no such approval', 'Please open the link as it was given to you.')
  }
  const findOwn = async (request: PageRequest, { accountId }: { accountId: string }) => {
    const row = await find(request)
    if (row.account_id === accountId) return row
    throw new PageProblem(
      403,
      'This is not for your account',
      'The charge would be paid by another account: its owner alone can decide on it. Nothing was decided.',
    )
  }
  return {
    url: '/approvals/:id',
    async intro(request) {
      await find(request)
      return approvalIntro
    },
    async show(request, _reply, person) {
      const row = await findOwn(request, person)
      const status = statusOf(row, services.clock.now())
      if (status !== 'pending') return decidedPage(demo, ...said(status, row))
      return approvalHtml({
        path: `/approvals/${row.id}`,
        demo,
        approval: await judgedApproval(services.db, services, row),
        tokenName: row.token_name,
        limit: limitOf(row),
      })
    },
    async act(request, _reply, person, form) {
      const { id } = await findOwn(request, person)
      const status = form.get('decision')
      if (status !== 'approved' && status !== 'denied')
        throw new PageProblem(422, 'Approve, or deny?', 'Please choose one of the two on the page.')
      const obstacle = await inTransaction(services.db, (tx) =>
        decide(tx, services, id, { status, provenAt: person.provenAt }),
      )
      if (obstacle && obstacle !== 'decided') throw new PageProblem(409, ...OBSTACLES[obstacle])
      const row = (await approvalById(services.db, id))!
      return decidedPage(demo, ...said(statusOf(row, services.clock.now()), row))
    },
  }
}

const limitOf = ({ limit_kind, limit_amount, limit_used, holder_id, token_id }: ReadApproval) => {
  const whose = holder_id === token_id ? 'the token' : `the token ${holder_id} above it`
  return limit_kind === 'per_call'
    ? `${whose} may spend ${formatUsd(limit_amount)} USD in one call without you`
    : `${whose} may spend ${formatUsd(limit_amount)} USD in a day without you, of which ${formatUsd(limit_used)} USD were spent`
}

/** What there is to say of an approval that is not pending: a heading, and what follows from it. */
function said(
  status: Exclude<ReturnType<typeof statusOf>, 'pending'> | 'pending',
  { expires_at, spent_at, subject }: ApprovalRow,
): [string, string] {
  switch (status) {
    case 'approved':
      return [
        'Approved',
        `The program can make the call once, until ${minute(expires_at)}. It is charged when it does. You can close this page.`,
      ]
    case 'denied':
      return [
        'Denied',
        'Nothing is charged, and the same call does not ask you again for a day. You can close this page.',
      ]
    case 'spent':
      return ['Approved, and charged', `${subject}: it was charged at ${minute(spent_at!)}.`]
    default:
      return [
        'This is over',
        'It was not decided or used in time, or costs more now. The program can ask you again.',
      ]
  }
}

const OBSTACLES: Record<Exclude<Undecidable, 'decided'>, [string, string]> = {
  expired: [
    'This is over',
    'It was not decided in time, so nothing is charged. The program can ask you again.',
  ],
  suspended: [
    'The account is suspended',
    'Nothing can be charged to it, so there is nothing to approve. Please contact the operator.',
  ],
  token_ended: [
    'The token has ended',
    'It was revoked or has expired, so its call cannot be made any more. There is nothing to approve.',
  ],
}
