import type { Queryable } from '../database/transaction.ts'
import { allHosts, type HostOverview } from '../hosts/host-overview.ts'
import { RefusedError } from './command.ts'

/** @throws RefusedError when there is no such host */
export async function demandHost(db: Queryable, id: string): Promise<HostOverview> {
  const hosts = await allHosts(db)
  const found = hosts.find((host) => host.id === id)
  if (found) return found
  throw new RefusedError(`There is no host ${id}; there are ${hosts.map((host) => host.id).join(', ')}`)
}
