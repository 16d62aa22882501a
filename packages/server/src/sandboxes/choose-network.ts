import { checkNetwork } from '@coinrack/compute/sandbox-network.ts'
import { SandboxError } from '@coinrack/compute/sandbox-runtime.ts'
import { OperationError } from '../errors.ts'
import type { Services } from '../services.ts'
import { sandboxesOf } from './placement.ts'
import { networkOf } from './sandbox-spec.ts'
import type { NetworkJson } from './sandbox-store.ts'

const open: NetworkJson = { allow_internet: true, allow_out: [], deny_out: [] }
const closed: NetworkJson = { allow_internet: false, allow_out: [], deny_out: [] }

/**
 * What a sandbox shall reach: as asked for, else the internet where the host has networks.
 * @throws OperationError `network_unavailable`, `invalid_network`
 */
export async function chooseNetwork(
  services: Services,
  asked: NetworkJson | undefined,
): Promise<NetworkJson> {
  const hasNetworks = await sandboxesOf(services).runtime.hasNetworks()
  const network = asked ?? (hasNetworks ? open : closed)
  if (!hasNetworks && (network.allow_internet || network.allow_out.length > 0))
    throw new OperationError('network_unavailable', 'This host gives sandboxes no networks')
  try {
    checkNetwork(networkOf(network))
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    throw new OperationError('invalid_network', error.message)
  }
  return network
}
