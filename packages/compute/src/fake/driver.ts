import { isDeepStrictEqual } from 'node:util'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import { checkPolicy, type NetworkPolicy, openPolicy } from '../ports/network-policy.ts'
import {
  type BootChange,
  DriverError,
  type HostFeatures,
  type HostInventory,
  type ImageStatus,
  type PowerAction,
  type VpsCapacity,
  type VpsDriver,
  type VpsMetrics,
  type VpsObservation,
  type VpsSpec,
} from '../ports/vps-driver.ts'

/*
 * A driver without machines, for tests of what stands above the port. Its machines fail by name, since a test can't
 * make a real one fail when it needs to:
 *
 *   slow-boot...       is ready only when the test says so (`finishBoot`)
 *   fail-boot...       ends by itself in every first boot: observed as failed
 *   fail-ensure-N...   the first N calls of `ensure` throw `guest_failed`
 *   no-space...        `ensure` throws `no_space`
 *   port-taken...      `ensure` throws `port_taken` for the port of its first call
 *   fail-network...    `applyNetwork` throws `guest_failed`
 */

export interface FakeDriverOptions {
  clock: { now(): Date }
  /** From start to an answering SSH server, by the clock. Default 0. */
  bootMs?: number
  capacity?: VpsCapacity
  images?: ImageStatus[]
  /** The features that differ from `allFeatures`. */
  features?: Partial<HostFeatures>
}

/** The features of a host that has everything. */
export const allFeatures: HostFeatures = {
  firewall: true,
  ownAddresses: true,
  portForwarding: true,
  ipv6: true,
  memorySnapshots: true,
  retainedDisks: true,
  serialConsole: true,
  screen: true,
  rescue: true,
  guestCommands: true,
}

export interface FakeMachine {
  spec: VpsSpec
  /** False once its disk was set aside. */
  hasDisk: boolean
  /** When it was started; undefined while it does not run. */
  startedAt?: Date | undefined
  isFirstBootComplete: boolean
  /** It was started with its rescue system. */
  runsRescue: boolean
  /** The usage that it is observed to have; a test changes it. */
  metrics?: VpsMetrics
  /** How often it was started. */
  starts: number
  boot?: number
  network: NetworkPolicy
  networkApplications: number
  /** The change that the next start takes over, or that the last one took. */
  change?: { waiting: boolean; wanted: BootChange }
  /** The password hash and the name inside. */
  inside: BootChange
}

export interface FakeDriver extends VpsDriver {
  readonly features: Readonly<HostFeatures>
  readonly machines: ReadonlyMap<string, FakeMachine>
  /** Every call that changes whether a machine is or runs, in order, as `ensure vps_...` or `stop vps_...`. */
  readonly calls: readonly string[]
  /** Overrides the answer of `inventory`. */
  said: Partial<HostInventory>
  /** The host has lost its power: it answers nothing, and none of its machines runs. */
  isAway: boolean
  /** Ends the boot of a `slow-boot` machine. */
  finishBoot(id: string): void
  /** Ends the machine as a power cut would. */
  crash(id: string): void
  /** Ports that lead to machines of another service. */
  readonly portsOfOthers: Set<number>
  /** Makes a machine from what there is of another. */
  adopt(id: string, machine: FakeMachine): void
  /** Gives the machine to another host. */
  give(id: string): void
}

const IMAGES = ['debian-12', 'debian-13']

export function createFakeDriver(options: FakeDriverOptions): FakeDriver {
  const { clock, bootMs = 0 } = options
  const features = { ...allFeatures, ...options.features }
  const images = options.images ?? IMAGES.map((slug) => ({ slug, state: 'ready' as const }))
  const machines = new Map<string, FakeMachine>()
  const calls: string[] = []
  const failures = new Map<string, number>()
  const firstPorts = new Map<string, number>()
  const portsOfOthers = new Set<number>()
  const finished = new Set<string>()
  const oneByOne = oneAtATime()

  const known = (id: string) => {
    const machine = machines.get(id)
    if (!machine) throw new DriverError('machine_unknown', `There is no machine ${id}`)
    return machine
  }

  const isBooted = ({ spec, startedAt }: FakeMachine) => {
    if (!startedAt || spec.hostname.startsWith('fail-boot')) return false
    if (spec.hostname.startsWith('slow-boot')) return finished.has(spec.id)
    return clock.now().getTime() - startedAt.getTime() >= bootMs
  }

  /** Brings the flag of a complete first boot up to now. */
  const settle = (machine: FakeMachine) => {
    machine.isFirstBootComplete ||= isBooted(machine)
    if (machine.spec.hostname.startsWith('fail-boot')) machine.startedAt = undefined
    return machine
  }

  const start = (machine: FakeMachine) => {
    if (machine.startedAt) return
    machine.startedAt = clock.now()
    machine.starts++
    machine.runsRescue = machine.spec.rescue === true
    if (machine.runsRescue) return
    if (!machine.change?.waiting) return
    machine.change.waiting = false
    machine.inside = machine.change.wanted
  }
  const stop = (machine: FakeMachine) => {
    settle(machine).startedAt = undefined
  }
  const restart = (machine: FakeMachine) => {
    stop(machine)
    start(machine)
  }
  const actions: Record<PowerAction, (machine: FakeMachine) => void> = {
    start,
    stop,
    force_stop: stop,
    reboot: restart,
    reset: restart,
  }

  const fake: FakeDriver = {
    features,
    machines,
    calls,
    portsOfOthers,
    said: {},
    isAway: false,

    finishBoot(id) {
      finished.add(id)
    },

    crash(id) {
      stop(known(id))
    },

    adopt(id, machine) {
      machines.set(id, machine)
    },

    give(id) {
      machines.delete(id)
    },

    ensure(spec) {
      return oneByOne(spec.id, async () => {
        demandPower(fake)
        calls.push(`ensure ${spec.id}`)
        checkFeatures(spec, features)
        failBySentinel(spec, failures, firstPorts)
        if (!machines.has(spec.id)) {
          const image = images.find(({ slug }) => slug === spec.image)
          if (!image) throw new DriverError('image_unknown', `There is no image "${spec.image}"`)
          if (image.state !== 'ready')
            throw new DriverError('image_not_ready', `Image ${spec.image} is not built yet`)
          const { hostname, rootPasswordHash } = spec
          machines.set(spec.id, {
            spec,
            hasDisk: true,
            isFirstBootComplete: false,
            runsRescue: false,
            starts: 0,
            network: openPolicy,
            networkApplications: 0,
            inside: { hostname, rootPasswordHash },
          })
        }
        const machine = known(spec.id)
        // The disk of one that runs stays as it is.
        const diskGb = machine.startedAt ? machine.spec.diskGb : spec.diskGb
        const { rescue = false } = machine.startedAt ? machine.spec : spec
        machine.spec = { ...machine.spec, vcpus: spec.vcpus, memoryMb: spec.memoryMb, diskGb, rescue }
        if (!settle(machine).isFirstBootComplete) start(machine)
      })
    },

    async power(id, action, boot) {
      demandPower(fake)
      const machine = known(id)
      calls.push(`${action} ${id}`)
      const isDone = boot !== undefined && boot === machine.boot && machine.startedAt !== undefined
      if (!isDone) actions[action](machine)
      if (boot !== undefined && machine.startedAt) machine.boot = boot
    },

    async applyNetwork(id, policy) {
      demandPower(fake)
      checkPolicy(policy)
      const machine = known(id)
      if (!isDeepStrictEqual(policy, openPolicy)) demandFeature(features, 'firewall')
      if (machine.spec.hostname.startsWith('fail-network'))
        throw new DriverError('guest_failed', 'scripted: rules that do not load')
      machine.network = structuredClone(policy)
      machine.networkApplications++
    },

    async changeAtBoot(id, wanted) {
      demandPower(fake)
      calls.push(`changeAtBoot ${id}`)
      known(id).change = { waiting: true, wanted }
    },

    async destroy(id) {
      demandPower(fake)
      calls.push(`destroy ${id}`)
      machines.delete(id)
      finished.delete(id)
    },

    async observe(id) {
      return fake.isAway && machines.has(id) ? { state: 'unreachable', sshReady: false } : observe(id)
    },
    async observeAll() {
      const seen = [...machines.keys()].map(async (id) => [id, await fake.observe(id)] as const)
      return new Map(await Promise.all(seen))
    },
    async inventory() {
      demandPower(fake)
      return {
        capacity: options.capacity ?? { vcpus: 64, memoryMb: 64 * 1024, diskGb: 1000 },
        features,
        images,
        usedPorts: [...portsOfOthers],
        machines: [...machines.keys()],
        ...fake.said,
      }
    },
  }

  return fake

  async function observe(id: string): Promise<VpsObservation> {
    const machine = machines.get(id)
    if (!machine) return { state: 'absent', sshReady: false }
    const { startedAt, isFirstBootComplete, spec, change, metrics, boot } = settle(machine)
    const seen = {
      ...(change && { bootChange: change.waiting ? ('waiting' as const) : ('taken' as const) }),
      ...(boot !== undefined && { boot }),
    }
    if (startedAt) {
      const uptimeSeconds = Math.floor((clock.now().getTime() - startedAt.getTime()) / 1000)
      return { state: 'running', sshReady: isBooted(machine), uptimeSeconds, metrics, ...seen }
    }
    if (isFirstBootComplete || !spec.hostname.startsWith('fail-boot'))
      return { state: 'stopped', sshReady: false, ...seen }
    return { state: 'failed', reason: 'scripted: the guest ended in its first boot', sshReady: false }
  }
}

function demandPower({ isAway }: Pick<FakeDriver, 'isAway'>): void {
  if (isAway) throw new Error('scripted: the host does not answer')
}

/** Throws DriverError `unsupported` when a host lacks a feature. */
export function demandFeature(features: Readonly<HostFeatures>, feature: keyof HostFeatures): void {
  if (!features[feature]) throw new DriverError('unsupported', `scripted: a host without ${feature}`)
}

function checkFeatures({ addresses, rescue }: VpsSpec, features: Readonly<HostFeatures>): void {
  demandFeature(features, addresses?.ipv4 === undefined ? 'portForwarding' : 'ownAddresses')
  if (addresses?.ipv6 !== undefined) demandFeature(features, 'ipv6')
  if (rescue) demandFeature(features, 'rescue')
}

function failBySentinel(
  { id, hostname, sshAddress }: VpsSpec,
  failures: Map<string, number>,
  firstPorts: Map<string, number>,
): void {
  if (!firstPorts.has(id)) firstPorts.set(id, sshAddress.port)
  if (hostname.startsWith('port-taken') && firstPorts.get(id) === sshAddress.port)
    throw new DriverError('port_taken', `scripted: port ${sshAddress.port} is taken`)
  if (hostname.startsWith('no-space')) throw new DriverError('no_space', 'scripted: no space left')
  const wanted = Number(/^fail-ensure-(\d+)/.exec(hostname)?.[1] ?? 0)
  const failed = failures.get(id) ?? 0
  if (failed >= wanted) return
  failures.set(id, failed + 1)
  throw new DriverError('guest_failed', `scripted: failure ${failed + 1} of ${wanted}`)
}
