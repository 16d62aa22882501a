import { isId } from '@coinrack/contract/ids.ts'
import type { Queryable } from '../../database/transaction.ts'
import type { SandboxHostFacts } from '../../platform/host-facts.ts'
import { isClosed } from '../life/choose-network.ts'
import type { NetworkJson } from '../life/sandbox-store.ts'
import { artifactOf, holdersOf } from '../snapshots/snapshot-store.ts'

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
  if (isId('snapshot', template)) {
    const holders = await holdersOf(db, template)
    const canBeCopied =
      all.some(({ id }) => holders.has(id)) && (await artifactOf(db, template)) !== undefined
    return { hosts: canBeCopied ? reaching : reaching.filter(({ id }) => holders.has(id)), holders }
  }
  const hosts = reaching.filter(({ templates }) =>
    templates.some(({ name, state }) => name === template && state === 'ready'),
  )
  return { hosts, holders: undefined }
}
