import { type Resource, resourceInput } from '@coinrack/contract/operation.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import { mayOperate } from './may-operate.ts'

/** The resources whose identifier a tool may leave out while the account has exactly one of them. */
export type FoundAlone = Extract<Resource, 'service' | 'sandbox'>

/** At most so many candidates are listed. */
const MOST_LISTED = 10

/** A live resource, with the facts that tell it from the others of the account. */
interface Candidate {
  id: string
  about: Record<string, string>
}

interface Search {
  /** The live ones, newest first; `$1` is the account. */
  select: string
  /** Those that the account may operate for others, beside its own; `$2` is the moment. */
  selectDelegated: string
  /** The answer where there is none. */
  none: { message: string; fix: string; nextSteps: NextStep[] }
}

const VPS = `select id, json_build_object('hostname', hostname, 'status', status) as about from vps
  where status not in ('failed', 'deleted')`
const SANDBOX = `select id, json_build_object('state', state, 'template', template) as about from sandbox
  where wanted <> 'ended' and state not in ('ended', 'failed') and program_token_id is null and account_id = $1`

const searches: Record<FoundAlone, Search> = {
  service: {
    select: `${VPS} and account_id = $1`,
    selectDelegated: `${VPS} and (account_id = $1 or ${mayOperate({ service: 'vps.id', account: '$1', now: '$2' })})`,
    none: {
      message: 'You have no VPS',
      fix: 'Order a VPS with order_vps, or send the service_id of one that is over.',
      nextSteps: [
        { tool: 'list_plans', why: 'See the plans, and the os_id of each image' },
        { tool: 'order_vps', why: 'Order one: product and os_id are from list_plans' },
      ],
    },
  },
  sandbox: {
    select: SANDBOX,
    selectDelegated: SANDBOX,
    none: {
      message: 'You have no sandbox that is not over',
      fix: 'Start a sandbox with create_sandbox.',
      nextSteps: [{ tool: 'create_sandbox', why: 'Start one' }],
    },
  },
}

export const isFoundAlone = (resource: Resource | undefined): resource is FoundAlone =>
  resource !== undefined && resource in searches

/**
 * Finds the resource that a call without its identifier means: the only one that the account has.
 * @param tool the name of the call, for the steps that lead on
 * @returns its identifier, or how the call is refused: `not_found` where there is none, `invalid_input` for several
 */
export async function findOnlyOne(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  { resource, delegable = false }: { resource: FoundAlone; delegable: boolean | undefined },
  { accountId, tool }: { accountId: string; tool: string },
): Promise<string | OperationError> {
  const { select, selectDelegated, none } = searches[resource]
  const isWide = delegable && selectDelegated !== select
  const { rows } = await db.query<Candidate>({
    name: `only_${resource}_${isWide}`,
    text: `${isWide ? selectDelegated : select} order by id desc limit ${MOST_LISTED}`,
    values: isWide ? [accountId, clock.now()] : [accountId],
  })
  const [first, second] = rows
  if (!first) return new OperationError('not_found', none.message, none)
  return second ? severalOf(resource, tool, rows) : first.id
}

function severalOf(resource: FoundAlone, tool: string, rows: Candidate[]): OperationError {
  const path = resourceInput(resource)
  const message = 'You have several, so the call has to name one'
  return new OperationError('invalid_input', `${path}: ${message}`, {
    fix: `Repeat the call with the ${path} of one of "candidates".`,
    fields: {
      details: [{ path, message }],
      candidates: rows.map(({ id, about }) => ({ [path]: id, ...about })),
    },
    nextSteps: rows.map(({ id, about }) => ({
      tool,
      why: `Repeat the call with this one: ${Object.values(about).join(', ')}`,
      arguments: { [path]: id },
    })),
  })
}
