import { isDeepStrictEqual } from 'node:util'
import { OperationError } from '../../platform/errors.ts'
import type { SandboxHostFacts } from '../../platform/host-facts.ts'
import type { NetworkJson } from './sandbox-store.ts'

const open: NetworkJson = { allow_internet: true, allow_out: [], deny_out: [] }
/** Reaches nothing. */
export const closed: NetworkJson = { allow_internet: false, allow_out: [], deny_out: [] }

/**
 * The network that a sandbox shall reach: as asked for, else the internet where any of the hosts has networks.
 * @throws OperationError `network_unavailable`
 */
export function chooseNetwork(
  hosts: readonly Pick<SandboxHostFacts, 'hasNetworks'>[],
  asked: NetworkJson | undefined,
): NetworkJson {
  const hasNetworks = hosts.some((host) => host.hasNetworks)
  const network = asked ?? (hasNetworks ? open : closed)
  if (!hasNetworks && !isClosed(network)) throw noNetworks()
  return network
}

/** Whether it reaches nothing, which every host can do. */
export const isClosed = (network: NetworkJson): boolean => isDeepStrictEqual(network, closed)

export const noNetworks = () =>
  new OperationError(
    'network_unavailable',
    'Sandboxes on this host cannot have that network: leave it out for none; nothing was charged',
  )
