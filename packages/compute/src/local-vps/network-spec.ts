import { macAddress } from '../machine/command-line.ts'
import { type Machine, type MachineRecord, readNetworkPolicy } from '../machine/machine.ts'
import type { NetworkSpec } from '../network/machine-networks.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { listenAddress } from './ssh-address.ts'

/** The network that a machine is to have, from the stored facts about the machine. */
export async function networkSpecOf(
  machine: Machine,
  { sshAddress, addresses }: MachineRecord,
): Promise<NetworkSpec> {
  return {
    macAddress: macAddress(machine.id),
    listen: addresses?.ipv4 ? undefined : listenAddress(sshAddress),
    addresses,
    policy: await readNetworkPolicy(machine),
  }
}

export const unsupported = () =>
  new DriverError('unsupported', 'This host allows machines no networks of their own')
