import type { VpsConsole } from '@coinrack/compute/ports/console.ts'
import type { GuestChannel } from '@coinrack/compute/ports/guest-channel.ts'
import type { VpsMigration } from '@coinrack/compute/ports/migration.ts'
import type { RetainedDisks } from '@coinrack/compute/ports/retained-disks.ts'
import type { VpsSnapshots } from '@coinrack/compute/ports/snapshot.ts'
import type { VpsDriver } from '@coinrack/compute/ports/vps-driver.ts'
import type { Config } from '../config/config.ts'

/** The host that this service runs on. */
export const LOCAL_HOST = 'local'

/** The public addresses and ports that a host gives to its machines. */
export type HostNetwork = Pick<
  Config,
  'publicIp' | 'sshPorts' | 'addressPool' | 'addressGateway' | 'ipv6Prefix'
> & {
  /** The name of the pool, where other hosts give its addresses too. */
  sharedPool?: string
}

/** A host or a cluster that machines run on, and every way to them. */
export interface MachineHost {
  id: string
  /** The kind of driver that it has, for the operator. */
  kind: string
  region: string
  /** It is reached over a network, and tended by the process that has its lease. */
  isRemote: boolean
  network: HostNetwork
  driver: VpsDriver
  /** The inside of its machines. */
  guests: GuestChannel
  console: VpsConsole
  snapshots: VpsSnapshots
  retainedDisks: RetainedDisks
  /** Undefined for a host that is in none. */
  cluster?: ClusterMembership
}

/** A host's place in its cluster: machines move between the hosts of one. */
export interface ClusterMembership {
  name: string
  /** The name of the host in it. */
  member: string
  /** Whether a machine's disk can be read without the host that it is on. */
  hasSharedDisks: boolean
  migration: VpsMigration
}

/** The ids of the hosts whose machines a process may change now. */
export type Tended = () => readonly string[]

export type Hosts = ReadonlyMap<string, MachineHost>

/** The host of a machine. Throws an Error for one that the settings do not name. */
export function hostOf({ hosts }: { hosts: Hosts }, { host_id }: { host_id: string }): MachineHost {
  const host = hosts.get(host_id)
  if (!host) throw new Error(`The settings name no host ${host_id}`)
  return host
}

/** Whether a machine is on the host `local`, and that is another computer than this replica's. */
export const isElsewhere = (
  { config }: { config: Pick<Config, 'localMachines'> },
  { host_id }: { host_id: string },
): boolean => host_id === LOCAL_HOST && !config.localMachines

/** Where machines can be had, in the order of the alphabet. */
export const regionsOf = ({ hosts }: { hosts: Hosts }): string[] =>
  [...new Set([...hosts.values()].map(({ region }) => region))].sort()
