import { isId } from '@coinrack/contract/ids.ts'
import type { Resource } from '@coinrack/contract/operation.ts'
import type { OwnerOf } from './dispatch.ts'

const tables: Record<Resource, string> = { invoice: 'invoice', order: 'vps_order', service: 'vps' }

/** The account that a resource belongs to. An id of the wrong form is an unknown id. */
export const ownerOf: OwnerOf = async (db, resource, id) => {
  if (!isId(resource, id)) return undefined
  const { rows } = await db.query<{ account_id: string }>({
    name: `owner_of_${resource}`,
    text: `select account_id from ${tables[resource]} where id = $1`,
    values: [id],
  })
  return rows[0]?.account_id
}
