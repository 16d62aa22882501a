import { isId } from '@coinrack/contract/ids.ts'
import type { Resource } from '@coinrack/contract/operation.ts'
import type { RowWanted } from './account/authenticate.ts'
import { SHOWN_VPS, type ShownVpsJson } from './vps/shown-vps.ts'

/** What is read of a resource with each request for it: at least whose it is. As JSON. */
export interface ResourceRows {
  invoice: { account_id: string }
  order: { account_id: string }
  service: ShownVpsJson
  operation: { account_id: string }
  token: { account_id: string }
  ssh_key: { account_id: string }
  webhook: { account_id: string }
  ticket: { account_id: string }
}

const selects: Record<Resource, string> = {
  invoice: 'select account_id from invoice where id = $3',
  order: 'select account_id from vps_order where id = $3',
  service: `${SHOWN_VPS} where id = $3`,
  operation: 'select account_id from vps_operation where id = $3',
  token: 'select account_id from token where id = $3 and not is_umbrella',
  ssh_key: 'select account_id from ssh_key where id = $3',
  webhook: 'select account_id from webhook where id = $3 and deleted_at is null',
  ticket: 'select account_id from ticket where id = $3',
}

/** How to read a resource. Undefined for an identifier of the wrong form: nothing has it. */
export function resourceRow(resource: Resource, id: unknown): RowWanted | undefined {
  if (typeof id !== 'string' || !isId(resource, id)) return undefined
  return { name: resource, select: selects[resource], id }
}
