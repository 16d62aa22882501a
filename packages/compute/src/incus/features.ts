import { DriverError, type HostFeatures, type VpsSpec } from '../ports/vps-driver.ts'
import { type InstanceOptions, isMachineId } from './instance.ts'

/** The features of a member of a cluster. */
export const featuresOf = ({ network, guestAgent = false }: InstanceOptions): HostFeatures => ({
  firewall: false,
  ownAddresses: true,
  portForwarding: false,
  ipv6: network.ipv6 !== undefined,
  memorySnapshots: true,
  retainedDisks: true,
  serialConsole: true,
  screen: false,
  rescue: false,
  guestCommands: guestAgent,
})

/** @throws DriverError for a machine that a member with these features cannot have */
export function checkSpec({ id, addresses, rescue, sshAddress }: VpsSpec, { ipv6 }: HostFeatures): void {
  if (!isMachineId(id)) throw new DriverError('spec_invalid', `Not the id of a machine: ${id}`)
  if (rescue) throw new DriverError('unsupported', 'Machines of this cluster have no rescue system')
  if (addresses?.ipv6 && !ipv6)
    throw new DriverError('unsupported', 'Machines of this cluster have no IPv6 addresses')
  if (!addresses?.ipv4 || addresses.ipv4 !== sshAddress.host)
    throw new DriverError('unsupported', 'A machine of this cluster is reached at an address of its own')
}
