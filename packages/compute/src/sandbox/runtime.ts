import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { createControlGroups, DEFAULT_PARENT } from '../control-groups/control-groups.ts'
import { defaultDiskLimits } from '../control-groups/limits.ts'
import { createImageStore } from '../images/image-store.ts'
import { createMachineNetworks, type MachineNetworks } from '../network/machine-networks.ts'
import { defaultEgress, type EgressPolicy } from '../network/machine-ruleset.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import type { Verdict } from '../qemu/acceleration.ts'
import { checkDataFolder, type Guest, runningPid } from '../qemu/guest.ts'
import { hostCapacity, refuseWhenFull } from '../qemu/host-capacity.ts'
import { hostClockOptions } from '../qemu/host-clock.ts'
import { createMachineUsers, defaultUserIds, type UserIds } from '../qemu/machine-users.ts'
import { withMonitor } from '../qemu/monitor.ts'
import { createTemplateStore } from '../qemu/template-store.ts'
import type { SandboxChannel } from '../sandbox-channel.ts'
import { closedNetwork, type SandboxNetwork } from '../sandbox-network.ts'
import { SandboxError, type SandboxRuntime, type SandboxSize, type SandboxSpec } from '../sandbox-runtime.ts'
import { checkSandboxSpec } from '../sandbox-spec.ts'
import { DriverError } from '../vps-driver.ts'
import { createGuestChannel } from './channel.ts'
import type { GuestLink } from './guest-link.ts'
import { sandboxRecipes, sandboxTemplates } from './image/recipes.ts'
import { createLinks } from './links.ts'
import {
  type Around,
  beginAsClone,
  beginCold,
  beginFromState,
  copySparsely,
  machineAt,
  renew,
} from './machine.ts'
import { policyOf } from './network.ts'
import { createPool } from './pool.ts'
import { prime } from './prime.ts'
import { identityOf, type Machine, openRecords } from './records.ts'
import { saveMachine, sumOf } from './saved-state.ts'
import { createSnapshots } from './snapshots.ts'
import { buildSandboxTemplate, type SandboxShape, sandboxTemplateKey } from './template.ts'
import { createSandboxWorld } from './world.ts'

export interface SandboxesOptions {
  /** With `sandboxes/`, `sandbox-snapshots/`, `sandbox-templates/` and `base-images/`. */
  dataFolder: string
  /** Built images: may be emptied at any time. */
  cacheFolder: string
  /** Needed when the caller is root: who runs templates. Sandboxes are run by users of their own. */
  user: RunAs | undefined
  /** Of sandboxes. Default: `defaultUserIds`. */
  userIds?: UserIds
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
  /** How guests run on this host. */
  acceleration(): Promise<Verdict>
  /** Default: such as this host makes. */
  networks?: MachineNetworks
  /** What no sandbox may reach. Default: `defaultEgress`. */
  egress?: EgressPolicy
  /** The control group that holds those of sandboxes. Default: `DEFAULT_PARENT`. */
  controlGroup?: string
  /** By how much the boot of a template yields to everything else. Default 10. */
  templateNiceness?: number
  /** How many sandboxes may wait, begun already, for somebody who wants one. Default 0. */
  mostInPool?: number
}

export interface Sandboxes {
  runtime: SandboxRuntime
  channel: SandboxChannel
  /** Builds the image of a template; takes minutes on a new host. */
  prepare(template: string, onProgress: (line: string) => void): Promise<void>
  /** Builds the saved machine that sandboxes of the size begin as, unless there is one. */
  keepTemplate(template: string, size: SandboxSize): Promise<void>
  /** Makes sandboxes in advance, as many as are wanted lately. */
  tendPool(): Promise<void>
  /** Lets go of all sandboxes, which run on. */
  close(): Promise<void>
}

/** Sandboxes are clones of one machine: what none of them can shed is common to no more than these. */
const CLONES_AT_MOST = 2_000

/** Runs sandboxes on this host, each a QEMU of its own. They outlive this process and are found again by the next. */
export async function createSandboxes(options: SandboxesOptions): Promise<Sandboxes> {
  const { dataFolder, cacheFolder, user, userIds = defaultUserIds, clock, log } = options
  checkDataFolder(dataFolder)
  const folder = join(dataFolder, 'sandboxes')
  const baseImages = join(dataFolder, 'base-images')
  const images = createImageStore({ cacheFolder, recipes: sandboxRecipes })
  const users = createMachineUsers(folder, user && userIds)
  const networks = options.networks ?? createMachineNetworks(options.egress ?? defaultEgress, log)
  const parent = options.controlGroup ?? DEFAULT_PARENT
  const groups = createControlGroups({ parent, disk: defaultDiskLimits, dataFolder, log })
  const clockOptions = hostClockOptions()
  const world = createSandboxWorld({
    users,
    groups,
    networks,
    acceleration: options.acceleration,
    clockOptions,
  })
  const records = await openRecords(folder, clock)
  const snapshots = createSnapshots(join(dataFolder, 'sandbox-snapshots'))
  const links = createLinks(clock)
  const alone = oneAtATime()
  const bySandbox = new Map<string, Machine>()
  for (const machine of records.machines.values()) bySandbox.set(machine.record.sandbox!.id, machine)
  for (const name of records.unfinished) await world.remove(machineAt(folder, name))
  // A service that ended while it paused, or forked, left them standing still.
  for (const { guest, record } of records.machines.values()) {
    if (record.state === 'running')
      await withMonitor(guest.monitor, ({ execute }) => execute('cont')).catch(() => {})
    else await world.stop(guest)
  }

  const settings = async () => ({
    ...{ ...(await world.host()), baseImages, user, clock },
    niceness: options.templateNiceness ?? 10,
  })
  const templates = createTemplateStore({
    folder: join(dataFolder, 'sandbox-templates'),
    keyOf: async (shape: SandboxShape, version) => sandboxTemplateKey(shape, await settings(), version),
    build: async (shape, out) => buildSandboxTemplate(shape, out, await settings()),
    clonesAtMost: CLONES_AT_MOST,
    clock,
    log,
  })

  const shapeOf = async (template: string, { vcpus, memoryMb, diskGb }: SandboxSize) => {
    const found = sandboxTemplates.find(({ name }) => name === template)
    if (!found) throw new SandboxError('template_unknown', `There is no template ${template}`)
    const image = await images.get(found.image).catch((error: DriverError) => {
      throw new SandboxError('template_not_ready', error.message, { cause: error })
    })
    return { image, warm: found.warm, vcpus: Math.ceil(vcpus), memoryMb, diskGb }
  }

  const known = (id: string) => {
    const machine = bySandbox.get(id)
    if (!machine) throw new SandboxError('sandbox_unknown', `There is no sandbox ${id}`)
    return machine
  }
  const living = async (id: string) => {
    const machine = known(id)
    const { state } = await records.settle(machine)
    if (state === 'ended') throw new SandboxError('sandbox_ended', `Sandbox ${id} has ended`)
    return machine
  }
  const linkOf = async (id: string): Promise<GuestLink> => {
    const { guest, record } = await living(id)
    if (record.state === 'paused') throw new SandboxError('sandbox_paused', `Sandbox ${id} is paused`)
    return links.get(guest)
  }
  const channel = createGuestChannel(linkOf)

  /** Makes a machine that is nobody's yet, in one of the ways; of one that fails nothing is left. */
  const begin = async (
    size: SandboxSize,
    network: SandboxSpec['network'],
    how: (guest: Guest, around: Around) => Promise<GuestLink>,
  ): Promise<Machine> => {
    const guest = machineAt(folder, `sbm${randomUUID().replaceAll('-', '').slice(0, 26)}`)
    try {
      await refuseWhenFull(dataFolder)
      links.put(guest, await how(guest, await world.surround(guest, size, network)))
      const pid = await runningPid(guest)
      const process = pid === undefined ? undefined : await identityOf(pid)
      if (!process) throw new SandboxError('guest_failed', 'Its machine ended at once')
      return { guest, record: { state: 'running', ranMs: 0, startedAt: clock.now().getTime(), process } }
    } catch (error) {
      await links.drop(guest.id)
      await world.remove(guest)
      throw asSandboxError(error)
    }
  }

  /** As a clone, or by a boot where no template is there yet. */
  const beginFromTemplate = async (name: string, size: SandboxSize, network: SandboxSpec['network']) => {
    const shape = await shapeOf(name, size)
    return begin(size, network, async (guest, around) => {
      const cloned = await templates
        .clone(shape, (template) => beginAsClone(guest, size, template, around))
        .catch((error) => {
          log.info({ err: error }, 'no clone came of it: cold boot')
          return world.stop(guest).then(() => undefined)
        })
      if (cloned) return cloned
      const again = await world.surround(guest, size, network)
      await rm(guest.disk, { force: true })
      return beginCold(guest, size, shape.image, baseImages, again)
    })
  }

  const beginFromSnapshot = async (spec: SandboxSpec) => {
    const kept = await snapshots.find(spec.template)
    if (!kept) throw new SandboxError('template_unknown', `There is no template ${spec.template}`)
    sameSize(spec, kept.size)
    await snapshots.check(spec.template, kept)
    const { state, disk } = snapshots.files(spec.template)
    return begin(spec, spec.network, async (guest, around) => {
      await copySparsely(disk, guest.disk)
      return beginFromState(guest, spec, state, around)
    })
  }

  /** Gives the machine to the sandbox: from now on it is counted, and found again. */
  const give = async (machine: Machine, spec: SandboxSpec): Promise<void> => {
    const { guest } = machine
    try {
      const identity = { hostname: spec.id, machineId: guest.id, env: spec.env ?? {} }
      await renew(await links.get(guest), clock.now(), identity)
      machine.record = { ...machine.record, sandbox: spec, startedAt: clock.now().getTime() }
      await records.write(machine)
      records.machines.set(guest.id, machine)
      bySandbox.set(spec.id, machine)
    } catch (error) {
      await discard(machine)
      throw asSandboxError(error)
    }
  }

  const discard = async ({ guest }: Machine) => {
    await links.drop(guest.id)
    await world.remove(guest)
  }

  const pool = createPool({
    ...{ clock, log, most: options.mostInPool ?? 0, remove: discard },
    async make(key) {
      const { template, ...size } = JSON.parse(key) as SandboxSize & { template: string }
      const machine = await beginFromTemplate(template, size, closedNetwork)
      try {
        await renew(await links.get(machine.guest), clock.now())
        await prime(await links.get(machine.guest))
        await withMonitor(machine.guest.monitor, ({ execute }) => execute('stop'))
        return machine
      } catch (error) {
        await discard(machine)
        throw error
      }
    },
  })
  const takeFromPool = async ({
    template,
    vcpus,
    memoryMb,
    diskGb,
    network = closedNetwork,
  }: SandboxSpec) => {
    const machine = pool.take(JSON.stringify({ template, vcpus, memoryMb, diskGb }))
    if (!machine) return undefined
    try {
      if (!isDeepStrictEqual(network, closedNetwork)) await world.applyNetwork(machine.guest.id, network)
      await withMonitor(machine.guest.monitor, ({ execute }) => execute('cont'))
      return machine
    } catch (error) {
      log.info({ err: error }, 'a sandbox made in advance is lost')
      await discard(machine)
      return undefined
    }
  }

  const isCatalog = (template: string) => sandboxTemplates.some(({ name }) => name === template)

  /** Writes what the machine is now to files, and lets it go on if it ran. */
  const save = async ({ guest, record }: Machine, files: { state: string; disk: string }) => {
    const spec = record.sandbox!
    if (record.state === 'paused') {
      await checkSaved({ guest, record })
      await copySparsely(guest.state, files.state)
      await copySparsely(guest.disk, files.disk)
      return record.saved!
    }
    const machine = { ...guest, memoryMb: spec.memoryMb, user: await users.of(guest.id, guest.folder) }
    try {
      const saved = await saveMachine(machine, files.state)
      await copySparsely(guest.disk, files.disk)
      return { ...saved, diskSha256: (await sumOf(files.disk))! }
    } finally {
      await withMonitor(guest.monitor, ({ execute }) => execute('cont'))
      await renew(await links.get(guest), clock.now())
    }
  }

  const checkSaved = async ({ guest, record }: Machine) => {
    // A resume that was cut short may have let something run on the disk.
    await world.stop(guest)
    await rename(keptDisk(guest), guest.disk).catch(ignoreMissing)
    const [state, disk] = await Promise.all([sumOf(guest.state), sumOf(guest.disk)])
    if (state !== record.saved?.sha256 || disk !== record.saved?.diskSha256)
      throw new SandboxError('state_damaged', `What was kept of ${record.sandbox!.id} is not what was saved`)
  }

  const runtime: SandboxRuntime = {
    ensure: (spec) =>
      alone(spec.id, async () => {
        if (bySandbox.has(spec.id)) return
        checkSandboxSpec(spec)
        await checkNetworkIsPossible(networks, spec.network)
        const machine = isCatalog(spec.template)
          ? ((await takeFromPool(spec)) ?? (await beginFromTemplate(spec.template, spec, spec.network)))
          : await beginFromSnapshot(spec)
        await give(machine, spec)
        void pool.tend()
      }),

    async observe() {
      await Promise.all([...bySandbox.values()].map((machine) => records.settle(machine)))
      await records.markSeen()
      return new Map([...bySandbox].map(([id, machine]) => [id, records.observationOf(machine)]))
    },

    destroy: (id) =>
      alone(id, async () => {
        const machine = bySandbox.get(id)
        if (!machine) return {}
        const { state } = await records.settle(machine)
        // Counted up to here; a destruction that is cut short finds the sum.
        if (state === 'running')
          await records.close(machine, 'ended', clock.now().getTime(), 'it was destroyed')
        const end = { ranMs: machine.record.ranMs }
        await discard(machine)
        records.machines.delete(machine.guest.id)
        bySandbox.delete(id)
        return end
      }),

    pause: (id) =>
      alone(id, async () => {
        const machine = await living(id)
        const { guest, record } = machine
        if (record.state === 'paused') return
        try {
          await refuseWhenFull(dataFolder)
          const owner = await users.of(guest.id, guest.folder)
          const memoryMb = record.sandbox!.memoryMb
          const stoppedAt = clock.now().getTime()
          const saved = await saveMachine({ ...guest, memoryMb, user: owner }, guest.state)
          const diskSha256 = (await sumOf(guest.disk))!
          machine.record = { ...record, saved: { ...saved, diskSha256 } }
          await records.close(machine, 'paused', stoppedAt)
        } catch (error) {
          await rm(guest.state, { force: true })
          await withMonitor(guest.monitor, ({ execute }) => execute('cont')).catch(() => {})
          throw asSandboxError(error)
        }
        await links.drop(guest.id)
        await world.stop(guest)
      }),

    resume: (id) =>
      alone(id, async () => {
        const machine = await living(id)
        const { guest, record } = machine
        if (record.state === 'running') return
        await checkSaved(machine)
        const spec = record.sandbox!
        const { saved: _, ...rest } = record
        try {
          await copySparsely(guest.disk, `${keptDisk(guest)}.part`)
          await rename(`${keptDisk(guest)}.part`, keptDisk(guest))
          const around = await world.surround(guest, spec, spec.network)
          const link = await beginFromState(guest, spec, guest.state, around)
          links.put(guest, link)
          await renew(link, clock.now())
          const process = await identityOf((await runningPid(guest))!)
          machine.record = { ...rest, state: 'running', startedAt: clock.now().getTime(), process: process! }
          await records.write(machine)
        } catch (error) {
          machine.record = record
          await links.drop(guest.id)
          await world.stop(guest)
          await rename(keptDisk(guest), guest.disk).catch(ignoreMissing)
          throw asSandboxError(error)
        }
        await rm(guest.state, { force: true })
        await rm(keptDisk(guest), { force: true })
      }),

    fork: (id, spec) =>
      alone(id, async () => {
        if (bySandbox.has(spec.id)) return
        const parent = await living(id)
        checkSandboxSpec(spec)
        sameSize(spec, parent.record.sandbox!)
        await checkNetworkIsPossible(networks, spec.network)
        const machine = await begin(spec, spec.network, async (guest, around) => {
          await save(parent, { state: guest.state, disk: guest.disk })
          const link = await beginFromState(guest, spec, guest.state, around)
          await rm(guest.state)
          return link
        })
        await give(machine, spec)
      }),

    takeSnapshot: (id, snapshotId) =>
      alone(id, async () => {
        const machine = await living(id)
        const { vcpus, memoryMb, diskGb } = machine.record.sandbox!
        const kept =
          (await snapshots.find(snapshotId)) ??
          (await snapshots
            .keep(snapshotId, async (files) => {
              const { diskSha256, ...state } = await save(machine, files)
              return { size: { vcpus, memoryMb, diskGb }, state, diskSha256 }
            })
            .catch((error) => {
              throw asSandboxError(error)
            }))
        return snapshots.describe(snapshotId, kept)
      }),

    removeSnapshot: (snapshotId) => snapshots.remove(snapshotId),
    snapshots: () => snapshots.list(),

    applyNetwork: (id, network) =>
      alone(id, async () => {
        const machine = known(id)
        await checkNetworkIsPossible(networks, network)
        const sandbox = { ...machine.record.sandbox!, network }
        machine.record = { ...machine.record, sandbox }
        await records.write(machine)
        if (machine.record.state === 'running') await world.applyNetwork(machine.guest.id, network)
      }),

    hasNetworks: () => networks.isPossible(),

    async templates() {
      const states = new Map((await images.status()).map((status) => [status.slug, status]))
      return sandboxTemplates.map(({ name, image }) => {
        const { state, detail } = states.get(image)!
        return { name, state, ...(detail !== undefined && { detail }) }
      })
    },

    capacity: () => hostCapacity(dataFolder, folder),
  }

  return {
    runtime,
    channel,
    prepare: async (template, onProgress) =>
      void (await images.ensure(sandboxTemplates.find(({ name }) => name === template)!.image, onProgress)),
    keepTemplate: async (template, size) => templates.keep(await shapeOf(template, size)),
    tendPool: () => pool.tend(),
    async close() {
      await pool.close()
      await links.close()
    },
  }
}

/** The disk that belongs to what was saved, while a resume is not sure to succeed. */
const keptDisk = ({ disk }: Guest) => `${disk}.kept`

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}

function sameSize(spec: SandboxSize, { vcpus, memoryMb, diskGb }: SandboxSize): void {
  if (spec.vcpus === vcpus && spec.memoryMb === memoryMb && spec.diskGb === diskGb) return
  throw new SandboxError(
    'spec_invalid',
    `It goes on only with ${vcpus} processors, ${memoryMb} MB of memory and ${diskGb} GB of disk`,
  )
}

async function checkNetworkIsPossible(networks: MachineNetworks, network: SandboxNetwork = closedNetwork) {
  policyOf(network)
  if (!isDeepStrictEqual(network, closedNetwork) && !(await networks.isPossible()))
    throw new SandboxError('unsupported', 'This host allows sandboxes no networks')
}

/** What the host or a guest did not do is a failure of this sandbox. */
function asSandboxError(error: unknown): SandboxError {
  if (error instanceof SandboxError) return error
  const isFull = error instanceof DriverError && error.code === 'no_space'
  return new SandboxError(isFull ? 'no_space' : 'guest_failed', (error as Error).message, { cause: error })
}
