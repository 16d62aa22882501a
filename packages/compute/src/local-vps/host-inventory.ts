import { listeningPorts } from '@coinrack/host/listening-ports.ts'
import type { DiskImages } from '../images/disk-images.ts'
import { hostCapacity, listMachines } from '../machine/host-capacity.ts'
import type { MachineNetworks } from '../network/machine-networks.ts'
import type { HostInventory } from '../ports/vps-driver.ts'

/** The inventory of this host. */
export async function hostInventory({
  dataFolder,
  machines,
  diskOvercommit,
  images,
  networks,
}: {
  dataFolder: string
  /** The folder with those of machines. */
  machines: string
  diskOvercommit: number
  images: Pick<DiskImages, 'status'>
  networks: Pick<MachineNetworks, 'isPossible' | 'usedPorts'>
}): Promise<HostInventory> {
  const hasNetworks = await networks.isPossible()
  const [capacity, status, ids, listening, led] = await Promise.all([
    hostCapacity(dataFolder, machines, diskOvercommit),
    images.status(),
    listMachines(machines),
    listeningPorts(),
    hasNetworks ? networks.usedPorts() : [],
  ])
  return {
    capacity,
    features: {
      firewall: hasNetworks,
      ownAddresses: hasNetworks,
      portForwarding: true,
      ipv6: hasNetworks,
      memorySnapshots: true,
      retainedDisks: true,
      serialConsole: true,
      screen: true,
      rescue: true,
      guestCommands: true,
    },
    images: status,
    usedPorts: [...new Set([...listening, ...led])],
    machines: ids,
  }
}
