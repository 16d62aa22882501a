import { isId } from '@coinrack/contract/ids.ts'
import type { Resource } from '@coinrack/contract/operation.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import type { RowWanted } from '../account/authenticate.ts'
import { mayOperate } from './may-operate.ts'
import { SANDBOX_USE, type SandboxUse, SHOWN_VPS, type VpsReadModelJson } from './read-models.ts'

/** A service of another account, which gave the caller rights on it. */
export interface Delegated {
  delegated: boolean
}

/** The row that is read of a resource with each request for it: at least its account. As JSON. */
export interface ResourceRows {
  invoice: { account_id: string }
  order: { account_id: string }
  token: { account_id: string }
  ssh_key: { account_id: string }
  service: VpsReadModelJson & Delegated
  operation: { account_id: string } & Delegated
  webhook: { account_id: string }
  ticket: { account_id: string }
  delegation: { account_id: string } & Delegated
  sandbox: SandboxUse
  /** The snapshot of a sandbox: those of a VPS are named beside it. */
  snapshot: { account_id: string }
  refund: { account_id: string }
  approval: { account_id: string }
  /** A template of a customer for sandboxes. */
  template: { account_id: string }
}

/** `caller` is the row of who asks, and `$2` the moment; see `account/authenticate.ts`. */
const delegated = (of: { owner: string; service: string }) =>
  `${of.owner} <> caller.account_id and
    ${mayOperate({ service: of.service, account: 'caller.account_id', now: '$2' })} as delegated`

const selects: Record<Resource, string> = {
  invoice: 'select account_id from invoice where id = $3',
  order: 'select account_id from vps_order where id = $3',
  token: 'select account_id from token where id = $3 and not is_umbrella',
  ssh_key: 'select account_id from ssh_key where id = $3',
  service: `select shown.*, ${delegated({ owner: 'shown.account_id', service: 'shown.id' })}
    from (${SHOWN_VPS} where id = $3) shown`,
  operation: `select work.account_id, ${delegated({ owner: 'work.account_id', service: 'work.service_id' })}
    from vps_operation work where work.id = $3`,
  webhook: 'select account_id from webhook where id = $3 and deleted_at is null',
  ticket: 'select account_id from ticket where id = $3',
  // Whom it was given to may give it back.
  delegation: `select account_id, revoked_at is null and delegate_id is not distinct from caller.account_id as delegated
    from delegation where id = $3`,
  sandbox: `${SANDBOX_USE} where id = $3`,
  refund: 'select account_id from refund where id = $3',
  approval: 'select account_id from approval where id = $3',
  snapshot: `select account_id from sandbox_snapshot where id = $3 and status <> 'deleted' and purpose = 'customer'`,
  template: 'select account_id from sandbox_template where id = $3 and deleted_at is null',
}

/** Where the identifiers of a resource stand that the caller has. Work on a VPS is in no list: its VPS is. */
export const listOf: Record<Resource, NextStep[]> = {
  invoice: [{ tool: 'list_invoices', why: 'See your invoices' }],
  order: [{ tool: 'list_orders', why: 'See your orders' }],
  token: [{ tool: 'list_tokens', why: 'See your tokens' }],
  ssh_key: [{ tool: 'list_ssh_keys', why: 'See your SSH keys' }],
  service: [{ tool: 'list_vps', why: 'See your VPS' }],
  operation: [{ tool: 'list_vps', why: 'See your VPS: each change of one answers an operation' }],
  webhook: [{ tool: 'list_webhooks', why: 'See your webhooks' }],
  ticket: [{ tool: 'list_tickets', why: 'See your tickets' }],
  delegation: [{ tool: 'list_delegations', why: 'See your delegations' }],
  sandbox: [{ tool: 'list_sandboxes', why: 'See your sandboxes' }],
  refund: [{ tool: 'list_refunds', why: 'See your refunds' }],
  approval: [{ tool: 'list_approvals', why: 'See what was asked for' }],
  snapshot: [{ tool: 'list_sandbox_snapshots', why: 'See the snapshots of your sandboxes' }],
  template: [{ tool: 'list_sandbox_templates', why: 'See your templates for sandboxes' }],
}

/** How to read a resource. Undefined for an identifier of the wrong form: nothing has it. */
export function resourceRow(resource: Resource, id: unknown): RowWanted | undefined {
  if (typeof id !== 'string' || !isId(resource, id)) return undefined
  return { name: resource, select: selects[resource], id }
}
