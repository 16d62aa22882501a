import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Uplink } from '../personality/uplink.ts'
import type { OwnAddresses, VpsObservation, VpsSpec } from '../ports/vps-driver.ts'

/*
 * A VPS as an instance of Incus. All that has to be known of it later stands in the instance itself, in keys that begin
 * with `user.coinrack.`: the service's own files and database play no part.
 */

/** An instance as Incus describes it, as far as it is used here. */
export interface Instance {
  name: string
  /** `Error` is said of one whose member does not answer. */
  status: 'Running' | 'Stopped' | 'Frozen' | 'Error' | string
  /** The name of its member. */
  location: string
  config: Record<string, string>
  devices: Record<string, Record<string, string>>
  /** When it was last started. */
  last_used_at: string
}

/** How the machines of a cluster are connected. */
export interface ClusterNetwork {
  /** The bridge on every member that leads to the machines' addresses. */
  bridge: string
  prefixLength: number
  gateway: string
  resolver: string
  /** Where machines have IPv6 addresses too. */
  ipv6?: { prefixLength: number; gateway: string } | undefined
}

export interface InstanceOptions {
  /** The storage pool of disks. */
  pool: string
  network: ClusterNetwork
  /** Whether the cluster reaches the agents inside its machines, as it does by vsock. Default false. */
  guestAgent?: boolean
  /** Keys of the configuration that every instance gets besides. */
  extraConfig?: Record<string, string>
}

/** The keys of an instance that are ours. */
export const KEY = {
  id: 'user.coinrack.id',
  /** Its creation was seen to succeed: one that lacks it may have no disk. */
  made: 'user.coinrack.made',
  /** Its first boot is complete, and its SSH server has shown the machine's host key. */
  booted: 'user.coinrack.booted',
  /** The number of the last boot that was given one. */
  boot: 'user.coinrack.boot',
  /** Whether the last change at boot is `waiting` or `taken`. */
  change: 'user.coinrack.change',
  /** The last start before that change: a later one takes it over. */
  changeSince: 'user.coinrack.change-since',
  /** The id that its disk is, or was, retained under, and in which state. */
  kept: 'user.coinrack.kept',
  keptAs: 'user.coinrack.kept-as',
  sshAddress: 'user.coinrack.ssh-address',
  sshHostKey: 'user.coinrack.ssh-host-key',
} as const

/** The user data that Incus hands to the guest, on a volume that it makes at each start. */
const USER_DATA = 'cloud-init.user-data'
/** The first line of user data that is a seed. */
const SEED_MARK = '#coinrack-seed'
/** A card without an address: whatever it sends is dropped. */
const NO_ADDRESS = 'none'
const MIB = 1024 ** 2
const MACHINE_ID = /^vps_[0-9a-z]{26}$/i

export const isMachineId = (id: string): boolean => MACHINE_ID.test(id)

/** Names of instances have no underscore. */
export const instanceName = (id: string): string => id.replace('_', '-')

/** A seed as the text that the guest's first boot looks for. */
export const seedText = (seed: Buffer): string => `${SEED_MARK}\n${gzipSync(seed).toString('base64')}\n`

/** The configuration that hands a seed to the next start, or takes away the one of the last. */
export const withSeed = (seed: Buffer | undefined): Record<string, string> => ({
  [USER_DATA]: seed === undefined ? '' : seedText(seed),
})

/** The id of the machine that an instance is; undefined for one that is not ours. */
export function idOfName(name: string): string | undefined {
  const id = name.replace('-', '_')
  return isMachineId(id) ? id : undefined
}

/** Locally administered, and the same at every call. */
export function macAddress(id: string): string {
  const bytes = createHash('sha256').update(id).digest('hex').slice(0, 10)
  return `02:${bytes.match(/../g)!.join(':')}`
}

export const uplinkOf = (
  { ipv4, ipv6 }: OwnAddresses,
  { prefixLength, gateway, resolver, ipv6: six }: ClusterNetwork,
): Uplink => ({
  addresses: [`${ipv4}/${prefixLength}`, ...(ipv6 && six ? [`${ipv6}/${six.prefixLength}`] : [])],
  gateways: [gateway, ...(ipv6 && six ? [six.gateway] : [])],
  resolver,
})

/** Whether the network card is that of a machine with these addresses. */
export const hasAddresses = ({ devices: { eth0 } }: Instance, { ipv4, ipv6 }: OwnAddresses): boolean =>
  eth0?.['ipv4.address'] === ipv4 && eth0?.['ipv6.address'] === (ipv6 ?? NO_ADDRESS)

const sizes = ({ vcpus, memoryMb }: Pick<VpsSpec, 'vcpus' | 'memoryMb'>) => ({
  'limits.cpu': String(vcpus),
  'limits.memory': `${memoryMb}MiB`,
})

const rootDisk = (pool: string, { diskGb, memoryMb }: Pick<VpsSpec, 'diskGb' | 'memoryMb'>) => ({
  type: 'disk',
  path: '/',
  pool,
  size: `${diskGb}GiB`,
  'io.bus': 'virtio-blk',
  // The memory of a snapshot, and what QEMU says of its devices.
  'size.state': `${memoryMb + 512}MiB`,
})

const card = (spec: Pick<VpsSpec, 'id' | 'addresses'>, { bridge }: ClusterNetwork) => ({
  type: 'nic',
  nictype: 'bridged',
  parent: bridge,
  hwaddr: macAddress(spec.id),
  'ipv4.address': spec.addresses!.ipv4!,
  'ipv6.address': spec.addresses!.ipv6 ?? NO_ADDRESS,
  // No machine speaks for the address of another.
  'security.ipv4_filtering': 'true',
  'security.ipv6_filtering': 'true',
  'security.mac_filtering': 'true',
})

/** The cluster's agent and its certificates, which the image's coinrack-incus-agent.service takes from there. */
const agentDisk = (guestAgent = false): Instance['devices'] =>
  guestAgent ? { agent: { type: 'disk', source: 'agent:config', 'io.bus': 'virtio-blk' } } : {}

/** Whether a seed is handed to the next start. */
export const hasSeed = ({ config }: Instance): boolean => config[USER_DATA] !== undefined

/** The body of the request that makes the instance and starts it. */
export function instanceOf(
  spec: VpsSpec,
  { fingerprint, seed }: { fingerprint: string; seed: Buffer },
  { pool, network, guestAgent, extraConfig }: InstanceOptions,
) {
  const { host, port } = spec.sshAddress
  return {
    name: instanceName(spec.id),
    type: 'virtual-machine',
    architecture: 'x86_64',
    // Whatever a profile says could change beneath the machine.
    profiles: [],
    start: true,
    source: { type: 'image', fingerprint },
    config: {
      ...sizes(spec),
      // Our images boot by their own GRUB, from the BIOS.
      'security.secureboot': 'false',
      'security.csm': 'true',
      'migration.stateful': 'true',
      // A member that comes back starts nothing by itself: by then a machine may be on another, or be given up.
      'boot.autostart': 'false',
      [KEY.id]: spec.id,
      [KEY.sshAddress]: `${host}:${port}`,
      [KEY.sshHostKey]: spec.sshHostKey.publicKey,
      ...withSeed(seed),
      ...extraConfig,
    },
    devices: {
      root: rootDisk(pool, spec),
      eth0: card(spec, network),
      // By the name of the device the guest knows it.
      seed: { type: 'disk', source: 'cloud-init:config', 'io.bus': 'virtio-blk' },
      ...agentDisk(guestAgent),
    },
  }
}

/** The changes to a stopped instance that make its next start follow this spec. */
export function adjusted(instance: Instance, spec: VpsSpec, { pool, network, guestAgent }: InstanceOptions) {
  const { root, eth0 } = instance.devices
  const haveGb = Number(/^(\d+)GiB$/.exec(root?.size ?? '')?.[1] ?? 0)
  // A disk is never made smaller: its end may be in use.
  const diskGb = Math.max(spec.diskGb, haveGb)
  const { host, port } = spec.sshAddress
  return {
    config: { ...instance.config, ...sizes(spec), [KEY.sshAddress]: `${host}:${port}` },
    devices: {
      ...instance.devices,
      root: { ...root, ...rootDisk(pool, { ...spec, diskGb }) },
      eth0: { ...eth0, ...card(spec, network) },
      ...agentDisk(guestAgent),
    },
  }
}

/** Whether the instance is whole: one that never ran and was not seen to be made may lack its disk. */
export const isMade = ({ config, status }: Instance): boolean =>
  config[KEY.made] !== undefined || status === 'Running'

export const isBooted = ({ config }: Instance): boolean => config[KEY.booted] !== undefined

/** Whether a machine that answers has taken over the last change at boot, and that is not noted yet. */
export const isChangeTaken = ({ config, last_used_at }: Instance): boolean =>
  config[KEY.change] === 'waiting' && config[KEY.changeSince] !== last_used_at

/** The observation of an instance, without the answer of its SSH server and without its metrics. */
export function stateOf(instance: Instance, now: Date): Omit<VpsObservation, 'sshReady' | 'metrics'> {
  const { config, status } = instance
  const boot = config[KEY.boot]
  const change = config[KEY.change]
  const isRunning = status === 'Running'
  const startedAt = Date.parse(instance.last_used_at)
  return {
    state: observedState(instance),
    ...(isRunning && { uptimeSeconds: Math.max(0, Math.floor((now.getTime() - startedAt) / 1000)) }),
    ...(boot !== undefined && { boot: Number(boot) }),
    ...(change !== undefined && { bootChange: change as 'waiting' | 'taken' }),
  }
}

function observedState(instance: Instance): VpsObservation['state'] {
  switch (instance.status) {
    case 'Running':
    case 'Frozen':
      return 'running'
    case 'Error':
      return 'unreachable'
    default:
      return isMade(instance) && !isBooted(instance) ? 'failed' : 'stopped'
  }
}

/** Mebibytes of a size as Incus writes it. */
export const mebibytes = (bytes: number): number => Math.floor(bytes / MIB)
