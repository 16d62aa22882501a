import { isId } from '@coinrack/contract/ids.ts'
import type { Queryable } from '../../database/transaction.ts'
import type { SandboxHostFacts } from '../../platform/host-facts.ts'
import { isClosed } from '../life/choose-network.ts'
import type { NetworkJson } from '../life/sandbox-store.ts'
import { holdersOf } from '../snapshots/snapshot-store.ts'

/** Where a new sandbox can be made. */
export interface PossibleHosts {
  hosts: SandboxHostFacts[]
  /** Those that have what it is made from; undefined: all of them. */
  holders: ReadonlySet<string> | undefined
}

/** Those of the hosts that can make a sandbox of this template, or snapshot, with this network. */
export async function hostsFor(
  db: Queryable,
  all: readonly SandboxHostFacts[],
  { template, network }: { template: string; network: NetworkJson },
): Promise<PossibleHosts> {
  const reaching = all.filter(({ hasNetworks }) => hasNetworks || isClosed(network))
  if (isId('snapshot', template)) return { hosts: reaching, holders: await holdersOf(db, template) }
  const hosts = reaching.filter(({ templates }) =>
    templates.some(({ name, state }) => name === template && state === 'ready'),
  )
  return { hosts, holders: undefined }
}
