import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { stopDetached } from '@coinrack/host/detached-process.ts'
import { isFreePort } from '@coinrack/host/free-port.ts'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import { osImages } from '../images/catalog.ts'
import { diskImages } from '../images/disk-images.ts'
import { createImageStore } from '../images/image-store.ts'
import type { Verdict } from '../machine/acceleration.ts'
import type { GuestNetwork } from '../machine/command-line.ts'
import { createControlGroups, DEFAULT_PARENT } from '../machine/control-groups/control-groups.ts'
import { type DiskLimits, defaultDiskLimits } from '../machine/control-groups/limits.ts'
import { diskSizeGb, growDisk } from '../machine/disk.ts'
import { goOnWithRoom } from '../machine/full-disk.ts'
import { hostAcceleration } from '../machine/host-acceleration.ts'
import { listMachines, whileRoomLasts } from '../machine/host-capacity.ts'
import { hostClockOptions } from '../machine/host-clock.ts'
import { createJail, rightsFor } from '../machine/jail.ts'
import {
  bootChangeOf,
  checkDataFolder,
  filesOfUser,
  isFirstBootPending,
  isForeign,
  lastSign,
  lastWords,
  type Machine,
  type MachineRecord,
  machineAt,
  readBoot,
  readRecord,
  runningPid,
  writeChangeSeed,
  writeNetworkPolicy,
  writeRecord,
} from '../machine/machine.ts'
import { isMachineId } from '../machine/machine-id.ts'
import { launchMachine, limitSerialLog, resetMachine, startMachine } from '../machine/machine-process.ts'
import { createMachineUsers, defaultUserIds, giveFolder, type UserIds } from '../machine/machine-users.ts'
import { measureDisk, measureProcess } from '../machine/measure.ts'
import { createMachineNetworks } from '../network/machine-networks.ts'
import { defaultEgress, type EgressPolicy } from '../network/machine-ruleset.ts'
import type { AddressRouting } from '../network/own-addresses.ts'
import { makeChangeSeed } from '../personality/seed.ts'
import type { VpsConsole } from '../ports/console.ts'
import { checkPolicy, openPolicy } from '../ports/network-policy.ts'
import type { RetainedDisks } from '../ports/retained-disks.ts'
import type { VpsSnapshots } from '../ports/snapshot.ts'
import { DriverError, type VpsDriver, type VpsObservation } from '../ports/vps-driver.ts'
import { createQemuConsole } from './console.ts'
import { hostInventory } from './host-inventory.ts'
import { createMachineMaker, type MachineMaker, type MachineMakerOptions } from './machine-maker.ts'
import { networkSpecOf, unsupported } from './network-spec.ts'
import { powerActions } from './power-actions.ts'
import { rescueArranger } from './rescue.ts'
import { createQemuRetainedDisks } from './retained-disks.ts'
import { createQemuSnapshots } from './snapshots.ts'
import { checkBootChange, checkSpec } from './spec.ts'
import { listenAddress, localAddress } from './ssh-address.ts'
import { sshWatch } from './ssh-watch.ts'

export interface QemuDriverOptions
  extends Pick<MachineMakerOptions, 'instant' | 'templateNiceness' | 'cloneTimeoutMs'> {
  /** With `machines/`, `kept-disks/`, `base-images/` and `added-images/`: can be moved as a whole. */
  dataFolder: string
  /** Built images and probe verdicts: may be emptied at any time. */
  cacheFolder: string
  /** Needed when the caller is root: who tries hardware out. Guests are run by users of their own. */
  user: RunAs | undefined
  /** The user ids for guests. Default: `defaultUserIds`. */
  userIds?: UserIds
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
  /** The control group that holds those of machines. Default: `DEFAULT_PARENT`. */
  controlGroup?: string
  /** The limits of each machine on the host's disk. Default: `defaultDiskLimits`. */
  diskLimits?: DiskLimits
  /** How many times the host's disk is promised to machines. Default 1. */
  diskOvercommit?: number
  /** How long a guest may take to shut down before its power is cut. Default one minute. */
  stopTimeoutMs?: number
  /** The targets that no machine may reach. Default: `defaultEgress`. */
  egress?: EgressPolicy
  /** How machines' own addresses come to this host. Default: they are routed to it. */
  addressRouting?: AddressRouting
}

export interface QemuDriver extends VpsDriver, Pick<MachineMaker, 'keepTemplate'> {
  console: VpsConsole
  snapshots: VpsSnapshots
  retainedDisks: RetainedDisks
  /** Builds the images in the order of the catalog and settles how guests run here; takes minutes on a new host. */
  prepare(onProgress: (line: string) => void): Promise<Verdict>
}

/** A first boot writes to the serial port every few seconds, also on a busy host. */
const HUNG_AFTER_MS = 60_000
/** A machine from a foreign image may keep silent for long. */
const FOREIGN_HUNG_AFTER_MS = 5 * 60_000

/**
 * Runs machines on this host with QEMU, each from its own disk through its own boot loader, as a user of its own
 * without rights, in a network of its own that reaches neither this host nor another machine. Guests outlive this process and are found again by the next.
 */
export function createQemuDriver(options: QemuDriverOptions): QemuDriver {
  const {
    dataFolder,
    cacheFolder,
    user,
    clock,
    log,
    userIds = defaultUserIds,
    controlGroup: parent = DEFAULT_PARENT,
    diskLimits: disk = defaultDiskLimits,
    stopTimeoutMs = 60_000,
    egress = defaultEgress,
    addressRouting = {},
    diskOvercommit = 1,
  } = options
  checkDataFolder(dataFolder)

  const machines = join(dataFolder, 'machines')
  const baseImages = join(dataFolder, 'base-images')
  const builtImages = createImageStore({ cacheFolder })
  const images = diskImages(builtImages, join(dataFolder, 'added-images'))
  const oneByOne = oneAtATime()
  const clockOptions = hostClockOptions()
  const ssh = sshWatch(clock)
  const networks = createMachineNetworks(egress, log, addressRouting)
  const groups = createControlGroups({ parent, disk, dataFolder, log })
  const users = createMachineUsers(machines, user && userIds)
  const jail = createJail({ cacheFolder, baseImages, log })
  const userOf = (machine: Machine) => users.of(machine.id, machine.folder)
  const arrangeRescue = rescueArranger({ images, dataFolder, baseImages, userOf, clock })
  const acceleration = hostAcceleration({ cacheFolder, images: builtImages, user })

  const host = async () => ({
    accelerator: (await acceleration()).accelerator,
    clockOptions: await clockOptions,
  })

  const start = async (machine: Machine) => {
    const record = await readRecord(machine)
    if (!record) throw new DriverError('machine_unknown', `There is no machine ${machine.id}`)
    const how = await host()
    const { listen, ...around } = await surround(machine, record)
    await startMachine(machine, record, { ...how, ...around })
    log.info({ vps: machine.id, accelerator: how.accelerator, ...listen }, 'machine started')
  }

  const launch = async (machine: Machine, args: string[]) => {
    await launchMachine(machine, args, await surround(machine, (await readRecord(machine))!))
  }

  /** Makes what QEMU runs within. Around one that runs already nothing is made: it stays as it was started. */
  const surround = async (machine: Machine, record: MachineRecord, isClone = false) => {
    const isOwn = await networks.isPossible()
    if (!isOwn && record.addresses?.ipv4) throw unsupported()
    const listen = listenAddress(record.sshAddress)
    const { accelerator } = await host()
    const owner = await rightsFor(await userOf(machine), accelerator)
    let limits: string[] = []
    if (!(await runningPid(machine))) {
      await giveFolder(machine.folder, owner, filesOfUser(machine))
      if (isOwn) await makeNetwork(machine, record)
      if (await groups.isPossible()) limits = await groups.make(machine.id, { ...record, isClone })
    }
    const network: GuestNetwork = isOwn ? { kind: 'tap' } : { kind: 'user', listen }
    return {
      network,
      within: isOwn ? networks.enter(machine.id) : [],
      jail: owner && (await jail.enter({ folder: machine.folder, user: owner, accelerator })),
      ...{ limits, listen, user: owner },
    }
  }

  const makeNetwork = async (machine: Machine, record: MachineRecord) => {
    const spec = await networkSpecOf(machine, record)
    // Rules would win over a program that listens there, and it would never know.
    if (spec.listen && !(await isFreePort(spec.listen.port, spec.listen.host)))
      throw new DriverError('port_taken', `Port ${spec.listen.port} of ${spec.listen.host} is taken`)
    await networks.make(machine.id, spec)
  }

  const maker = createMachineMaker({
    ...options,
    baseImages,
    images,
    host: async () => ({ ...(await host()), networkKind: (await networks.isPossible()) ? 'tap' : 'user' }),
    surround,
    userOf,
  })

  /** The disk's size, after it was grown when that is wanted and nothing uses it. */
  const grow = async (machine: Machine, wantedGb: number): Promise<number> => {
    const record = await readRecord(machine)
    if (!record) return wantedGb
    const owner = await userOf(machine)
    const haveGb = record.diskGb ?? (await diskSizeGb(machine.disk, owner))
    if (haveGb >= wantedGb || (await runningPid(machine))) return haveGb
    await growDisk(machine.disk, { fromGb: haveGb, toGb: wantedGb, owner })
    log.info({ vps: machine.id, haveGb, wantedGb }, 'disk grown')
    return wantedGb
  }

  const known = async (id: string) => {
    const machine = isMachineId(id) ? machineAt(machines, id) : undefined
    if (!machine || !(await readRecord(machine)))
      throw new DriverError('machine_unknown', `There is no machine ${id}`)
    return machine
  }

  const actions = powerActions({ start, stopTimeoutMs })

  return {
    console: createQemuConsole({ known }),
    retainedDisks: createQemuRetainedDisks({ dataFolder, machines, userOf, alone: oneByOne }),
    snapshots: createQemuSnapshots({
      userOf,
      clock,
      known,
      start,
      launch,
      alone: oneByOne,
      changed: ssh.forget,
    }),

    async prepare(onProgress) {
      let settled: Verdict | undefined
      for (const { slug } of osImages) {
        await builtImages.ensure(slug, onProgress)
        settled ??= await acceleration(onProgress)
      }
      return settled!
    },

    keepTemplate: maker.keepTemplate,

    async ensure(spec) {
      checkSpec(spec)
      const task = async () => {
        const machine = machineAt(machines, spec.id)
        if (!(await maker.isMade(machine))) await maker.make(machine, spec)
        // Another process is at it.
        if (!(await maker.isMade(machine))) return
        const { vcpus, memoryMb, sshAddress, addresses } = spec
        const diskGb = await grow(machine, spec.diskGb)
        const rescue = await arrangeRescue(machine, spec)
        await writeRecord(machine, { vcpus, memoryMb, sshAddress, addresses, diskGb, rescue })

        if (!(await isFirstBootPending(machine))) return
        if (!(await runningPid(machine))) return start(machine)
        const silentMs = clock.now().getTime() - ((await lastSign(machine))?.getTime() ?? 0)
        if (silentMs < ((await isForeign(machine)) ? FOREIGN_HUNG_AFTER_MS : HUNG_AFTER_MS)) return
        log.info({ vps: spec.id, silentMs }, 'first boot hangs: reset')
        await resetMachine(machine)
      }
      await oneByOne(spec.id, () => whileRoomLasts(task))
    },

    async power(id, action, number) {
      const machine = await known(id)
      await oneByOne(id, async () => {
        if (action === 'reset') ssh.forget(id)
        await actions[action](machine, number)
      })
    },

    async applyNetwork(id, policy) {
      checkPolicy(policy)
      const machine = await known(id)
      await oneByOne(id, async () => {
        if (!(await networks.isPossible()) && !isDeepStrictEqual(policy, openPolicy)) throw unsupported()
        await writeNetworkPolicy(machine, policy)
        if (!(await networks.isMade(id))) return
        await networks.make(id, await networkSpecOf(machine, (await readRecord(machine))!))
      })
    },

    async changeAtBoot(id, change) {
      const machine = await known(id)
      checkBootChange(change)
      await oneByOne(id, async () =>
        writeChangeSeed(machine, makeChangeSeed(change, clock.now()), await userOf(machine)),
      )
    },

    async destroy(id) {
      if (!isMachineId(id)) return
      await oneByOne(id, async () => {
        const machine = machineAt(machines, id)
        await stopDetached(machine.pidFile, { signal: 'SIGKILL' })
        if (await networks.isPossible()) await networks.remove(id)
        if (await groups.isPossible()) await groups.remove(id)
        await users.free(id, machine.folder)
        await rm(machine.folder, { recursive: true, force: true })
        ssh.forget(id)
      })
    },

    observe,

    async observeAll() {
      const ids = await listMachines(machines)
      return new Map(await Promise.all(ids.map(async (id) => [id, await observe(id)] as const)))
    },

    inventory: () => hostInventory({ dataFolder, machines, diskOvercommit, images, networks }),
  }

  async function observe(id: string): Promise<VpsObservation> {
    const machine = isMachineId(id) ? machineAt(machines, id) : undefined
    const record = machine && (await readRecord(machine))
    if (!record) return { state: 'absent', sshReady: false }
    const [bootChange, boot] = await Promise.all([bootChangeOf(machine), readBoot(machine)])
    const known = { ...(bootChange && { bootChange }), ...(boot !== undefined && { boot }) }
    const pid = await runningPid(machine)
    if (pid === undefined) {
      const reason = (await isFirstBootPending(machine)) ? await lastWords(machine) : undefined
      return reason === undefined
        ? { state: 'stopped', sshReady: false, ...known }
        : { state: 'failed', reason, sshReady: false }
    }
    const atFullDisk = await goOnWithRoom(machine.monitor, machine.folder)
    if (atFullDisk !== 'never stopped') log.info({ vps: id, atFullDisk }, "the host's disk was full")
    const lookAt = (await networks.lookAt(id)) ?? localAddress(listenAddress(record.sshAddress))
    const [sshReady, used, disk, traffic] = await Promise.all([
      ssh.hasAnswered(machine, pid, lookAt),
      measureProcess(pid).catch(() => undefined),
      measureDisk(machine.monitor, machine.disk).catch(() => undefined),
      networks.traffic(id),
      limitSerialLog(machine),
    ])
    return {
      state: 'running',
      sshReady,
      uptimeSeconds: used?.uptimeSeconds,
      ...known,
      metrics: used &&
        disk && { cpuSeconds: used.cpuSeconds, memoryBytes: used.memoryBytes, ...disk, ...traffic },
    }
  }
}
