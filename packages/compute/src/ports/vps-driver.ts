import type { NetworkPolicy } from './network-policy.ts'

/** An operating system that a machine can be made from. */
export interface OsImage {
  slug: string
  /** The number that orders name it by: given once, for ever. */
  osId: number
  name: string
  distribution: string
  version: string
  arch: 'x86_64'
}

/** Addresses at which the world reaches one machine and no other. */
export interface OwnAddresses {
  /** All of its ports lead to the machine, and what the machine sends comes from it. */
  ipv4?: string
  /** The IPv6 address of the guest itself: nothing is translated. In the shortest form (RFC 5952). */
  ipv6?: string
}

/**
 * The port through which the service runs virtual private servers on one host (or cluster).
 * A driver knows machines by id and nothing of customers or money. What is wanted is told to it again and again;
 * every call may be repeated, and may be cut short by a kill at any point and then repeated.
 */
export interface VpsDriver {
  /**
   * Makes the machine exist, personalised for this spec, and runs it until its first boot is complete: a first boot
   * that has died or hung is started over. After that `power` alone decides whether it runs. Call it until `observe`
   * says `sshReady`. Of calls at the same moment, also from several processes, one machine comes. The first call fixes
   * image, names and keys; processors, memory and address of later ones hold from the next start, and a disk grows while
   * the machine does not run (never shrinks), with the file system of an untouched partition table at the next boot.
   * Throws DriverError `image_unknown`, `image_not_ready`, `spec_invalid`, `no_space`, `port_taken`, `guest_failed`, and
   * `unsupported` for addresses, an SSH port or a rescue system that machines of this host cannot have.
   */
  ensure(spec: VpsSpec): Promise<void>
  /**
   * Brings the machine into the state that the action names, and returns when it is there. Already so: nothing is done.
   * `stop` asks the guest and, when it does not obey in time, cuts its power; `reboot` is that and `start`.
   * @param boot number that the caller gives to a boot: `observe` says the last, and of calls with one number one boot comes
   * Throws DriverError `machine_unknown`, `port_taken`, `guest_failed`.
   */
  power(id: string, action: PowerAction, boot?: number): Promise<void>
  /**
   * Makes the machine's network so, now and at each later start, whether it runs or not: in one step, and
   * connections that are open go on. Before the first call everything is open that the operator leaves open.
   * Throws DriverError `machine_unknown`, `spec_invalid`, `port_taken`, `guest_failed`; and, without the feature
   * `firewall`, `unsupported` for anything but the open policy.
   */
  applyNetwork(id: string, policy: NetworkPolicy): Promise<void>
  /**
   * Lets the next start by `power` (not `reset`, nor a reboot from inside) change the machine, whatever state it is in;
   * `observe` says when the guest took it over. A later call replaces what was not taken yet.
   * Throws DriverError `machine_unknown`.
   */
  changeAtBoot(id: string, change: BootChange): Promise<void>
  /** Nothing of the machine is left: process, network, disk, files, port. An unknown machine is fine. */
  destroy(id: string): Promise<void>
  /** Observes the machine cheaply: asks the host and the address, never the guest's inside. */
  observe(id: string): Promise<VpsObservation>
  /** Observes every machine that is kept here. */
  observeAll(): Promise<Map<string, VpsObservation>>
  /** The inventory of the host: asked every few seconds, and never for a request. */
  inventory(): Promise<HostInventory>
}

/** The facts that a host states about itself. */
export interface HostInventory {
  /** All that may be given to machines together: the total, and not the part that is free now. */
  capacity: VpsCapacity
  features: HostFeatures
  images: ImageStatus[]
  /** Public ports that cannot be given to a machine: they lead to one, of another service too, or a program has them. */
  usedPorts: number[]
  /** The ids of every machine that is kept here, so that orphans can be found. */
  machines: string[]
}

/**
 * The features in which hosts differ. A call that needs one which its host lacks throws `unsupported`, changes nothing,
 * and would throw the same at any later time; which calls need one is said at each. All else every driver can do.
 */
export interface HostFeatures {
  /** The traffic of each machine can be filtered and counted for that machine alone. */
  firewall: boolean
  /** A machine can have an IPv4 address of its own, in `OwnAddresses`. */
  ownAddresses: boolean
  /** A machine without an address of its own is reached at ports of its host's address. Its SSH port is one of those. */
  portForwarding: boolean
  /** A machine can have an IPv6 address of its own, in `OwnAddresses`. */
  ipv6: boolean
  /** A snapshot can keep the memory of the machine too. */
  memorySnapshots: boolean
  /** A disk can outlive its machine: the port `RetainedDisks`. */
  retainedDisks: boolean
  /** The console `serial` of the port `VpsConsole`. */
  serialConsole: boolean
  /** The console `vnc` of the port `VpsConsole`. */
  screen: boolean
  /** A machine can run a rescue system in place of its own. */
  rescue: boolean
  /** The service can act inside a machine that runs: the port `GuestChannel`. */
  guestCommands: boolean
}

/** Everything that makes one machine itself. */
export interface VpsSpec {
  /** The machine's identity for ever: `vps_` and 26 characters of Crockford base32. */
  id: string
  vcpus: number
  memoryMb: number
  diskGb: number
  /** A slug of `images`. */
  image: string
  /** A name of RFC 1123, one label or several. */
  hostname: string
  /** Lines for root's authorized_keys. */
  sshAuthorizedKeys: string[]
  /** A hash of crypt(3), `$6$...`: the plain password never reaches a driver. */
  rootPasswordHash: string
  /** Ed25519, made by the service so that clients can verify the machine: OpenSSH private key text and public line. */
  sshHostKey: { privateKey: string; publicKey: string }
  /** Where SSH is reachable, from the host itself as well. */
  sshAddress: SshAddress
  /**
   * `auto`, the default: as a clone of a template that is booted already, when there is one. `cold`: through its own
   * boot loader from the start, so that it shares not even the layout of its kernel's memory with any other machine.
   */
  boot?: BootKind
  /**
   * Addresses that no other machine has. With an IPv4 address, `sshAddress` is port 22 of it; where the host has the
   * features.
   */
  addresses?: OwnAddresses
  /**
   * For cloud-init, which runs it once, after the first boot: nothing waits for it. With a foreign image it is part of
   * the boot, and its instructions for every boot hold for every boot. At most 64 KiB.
   */
  userData?: string | undefined
  /**
   * From the next start on, another system runs: one of the machine's image, or of ours where that image is foreign,
   * made for this, with the same keys and password, and the machine's own disk beside it. It is thrown away by the next
   * `ensure` without it, while the machine does not run. Needs the feature `rescue`.
   */
  rescue?: boolean
}

export type BootKind = 'auto' | 'cold'

/** The changes that a machine can take over while no program in it listens. */
export interface BootChange {
  hostname: string
  /** A hash of crypt(3), `$6$...` */
  rootPasswordHash: string
}

export interface SshAddress {
  /** An IPv4 address. One that is not this host's own (behind NAT) is served on all of its addresses. */
  host: string
  port: number
}

export type PowerAction = 'start' | 'stop' | 'reboot' | 'force_stop' | 'reset'

export interface VpsObservation {
  /**
   * `failed`: it ended by itself before its first boot was complete; `ensure` tries again. `unreachable`: the host that has
   * it does not answer, so whether it runs is unknown; it may not be started anywhere else.
   */
  state: 'absent' | 'stopped' | 'running' | 'failed' | 'unreachable'
  /** Why it failed, for the operator. */
  reason?: string
  /** It runs, and since its start an SSH server has answered at its address: never before first boot is complete. */
  sshReady: boolean
  uptimeSeconds?: number
  /** The last number that `power` was given for a boot. The boot may have begun only: the machine runs if it has. */
  boot?: number
  /** The state of the last `changeAtBoot`; absent when there was none. */
  bootChange?: 'waiting' | 'taken'
  metrics?: VpsMetrics
}

/** Counters since the machine was last started, except of disk use and network. */
export interface VpsMetrics {
  /** Processor seconds that the machine cost the host. */
  cpuSeconds: number
  /** Host memory that it holds now. */
  memoryBytes: number
  diskReadBytes: number
  diskWrittenBytes: number
  /** Bytes of the host's disk, beyond the shared image. */
  diskUsedBytes: number
  /** Received and sent by the machine since its network was made; undefined where it has none of its own. */
  rxBytes?: number
  txBytes?: number
}

export interface VpsCapacity {
  vcpus: number
  memoryMb: number
  diskGb: number
}

export interface ImageStatus {
  slug: string
  state: 'missing' | 'building' | 'ready' | 'failed'
  /** The step being built, or why it failed. */
  detail?: string
  /** The description of an image that the operator added: it stands in no catalog, and is ready from its first moment. */
  added?: OfferedDisk
}

/** An image, and the smallest disk that holds it. */
export type OfferedDisk = OsImage & { diskGb: number }

export type DriverErrorCode =
  /** No such image in the catalog. */
  | 'image_unknown'
  /** It is known, but not built yet: try later. */
  | 'image_not_ready'
  /** This host can never make such a machine. */
  | 'spec_invalid'
  | 'machine_unknown'
  | 'snapshot_unknown'
  /** It cannot be gone back to; the machine is as it was. */
  | 'snapshot_damaged'
  | 'no_space'
  /** The call needs one of `HostFeatures` that this host lacks. Nothing was changed. */
  | 'unsupported'
  /** The machine did not start, or did not answer its monitor. */
  | 'guest_failed'
  /** Something else on this host is reached at its address and port. */
  | 'port_taken'

/** The error of every driver; `code` is stable, the message names the values. */
export class DriverError extends Error {
  override name = 'DriverError'
  readonly code: DriverErrorCode

  constructor(code: DriverErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
