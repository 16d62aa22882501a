import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { RunAs } from '@coinrack/host/as-user.ts'
import pLimit from 'p-limit'
import type { BuiltImage, ImageStore } from '../images/image-store.ts'
import { diskSizeGb } from '../machine/disk.ts'
import { refuseWhenFull } from '../machine/host-capacity.ts'
import type { Machine } from '../machine/machine.ts'
import { withMonitor } from '../machine/monitor.ts'
import { createTemplateStore } from '../machine/template-store.ts'
import { closedNetwork } from '../ports/sandbox-network.ts'
import { SandboxError, type SandboxSize, type SandboxSpec } from '../ports/sandbox-runtime.ts'
import type { DriverError } from '../ports/vps-driver.ts'
import type { AgentSessions } from './agent-sessions.ts'
import { asSandboxError, sameSize } from './failures.ts'
import type { HostResources } from './host-resources.ts'
import { sandboxTemplates } from './image/recipes.ts'
import { createPool } from './pool.ts'
import { createPreparedSlots } from './prepared-slots.ts'
import { prime } from './prime.ts'
import { identityOf, type SandboxMachine } from './records.ts'
import { renew } from './renew.ts'
import {
  type Around,
  copySparsely,
  type Started,
  sandboxMachineAt,
  startAsClone,
  startCold,
  startFromState,
} from './sandbox-machine.ts'
import {
  buildSnapshotTemplate,
  canBeCloned,
  type SnapshotShape,
  snapshotTemplateKey,
} from './snapshot-template.ts'
import type { Snapshots } from './snapshots.ts'
import { buildSandboxTemplate, type SandboxShape, sandboxTemplateKey } from './template.ts'

export interface MachineStarterOptions {
  dataFolder: string
  /** The folder of the machines. */
  folder: string
  images: ImageStore
  resources: HostResources
  sessions: AgentSessions
  snapshots: Snapshots
  /** The user who runs templates. */
  user: RunAs | undefined
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
  templateNiceness: number
  pool: PoolWish
}

/** Sandboxes that are started in advance and wait for a customer. */
export interface PoolWish {
  /** So many of all kinds together. */
  most: number
  /** Kinds of which there is always one, also without demand. */
  always?: readonly (SandboxSize & { template: string })[]
  /** The part of the host's memory that is promised to no machine, in MB. Default: there is enough. */
  roomMb?: () => Promise<number>
}

const keyOf = ({ template, vcpus, memoryMb, diskGb }: SandboxSize & { template: string }) =>
  JSON.stringify({ template, vcpus, memoryMb, diskGb })
const kindOf = (key: string) => JSON.parse(key) as SandboxSize & { template: string }

/** Sandboxes are clones of one machine: what none of them can shed is common to no more than these. */
const CLONES_AT_MOST = 2_000
/** Made in advance for a rush. */
const MOST_SLOTS = 4

/** Saved machines of snapshots whose memory the host holds. */
const WARM_AT_MOST = 4

const newMachineId = () => `sbm${randomUUID().replaceAll('-', '').slice(0, 26)}`

/** The ways in which machines of sandboxes start: each leaves one that runs without an owner, or nothing. */
export function createMachineStarter(options: MachineStarterOptions) {
  const { dataFolder, folder, images, resources, sessions, snapshots, user, clock, log } = options
  const baseImages = join(dataFolder, 'base-images')

  const settings = async () => ({
    ...{ ...(await resources.host()), baseImages, user, clock },
    niceness: options.templateNiceness,
  })
  const templates = createTemplateStore({
    folder: join(dataFolder, 'sandbox-templates'),
    keyOf: async (shape: SandboxShape, version) => sandboxTemplateKey(shape, await settings(), version),
    build: async (shape, out) => buildSandboxTemplate(shape, out, await settings()),
    clonesAtMost: CLONES_AT_MOST,
    clock,
    log,
  })

  /** Saved machines of snapshots that many sandboxes begin as. */
  const warmTemplates = createTemplateStore<SnapshotShape>({
    folder: join(dataFolder, 'sandbox-snapshot-templates'),
    keyOf: async (shape, version) => snapshotTemplateKey(shape, await resources.host(), version),
    build: (shape, out) =>
      buildSnapshotTemplate(shape, out, {
        ...{ folder, resources, snapshots, clock },
        machineId: newMachineId(),
      }),
    clonesAtMost: CLONES_AT_MOST,
    loadedAtMost: WARM_AT_MOST,
    clock,
    log,
  })
  const warm = new Map<string, SnapshotShape>()

  const templateOf = (template: string) => {
    const found = sandboxTemplates.find(({ name }) => name === template)
    if (!found) throw new SandboxError('template_unknown', `There is no template ${template}`)
    return found
  }
  const imageSizes = new Map<string, Promise<number>>()
  const sizeOf = ({ name, disk }: BuiltImage) => {
    const known = imageSizes.get(name) ?? diskSizeGb(disk, undefined)
    imageSizes.set(name, known)
    known.catch(() => imageSizes.delete(name))
    return known
  }

  const shapeOf = async (template: string, { vcpus, memoryMb, diskGb }: SandboxSize) => {
    const found = templateOf(template)
    const image = await images.get(found.image).catch((error: DriverError) => {
      throw new SandboxError('template_not_ready', error.message, { cause: error })
    })
    // The space for writing comes beside the image.
    const imageGb = await sizeOf(image)
    return {
      ...found,
      image: { ...image, diskGb: imageGb },
      vcpus: Math.ceil(vcpus),
      memoryMb,
      diskGb: imageGb + diskGb,
    }
  }

  const newMachine = () => sandboxMachineAt(folder, newMachineId())
  const slots = createPreparedSlots({
    ...{ log, most: MOST_SLOTS, remove: (qemu) => resources.remove(qemu) },
    async make() {
      const qemu = newMachine()
      try {
        await resources.prepare(qemu)
        return qemu
      } catch (error) {
        await resources.remove(qemu)
        throw error
      }
    },
  })

  /** In a rush some are ready soon rather than all late: a clone in the making keeps a processor busy. */
  const making = pLimit(availableParallelism())
  const cloneOf = (shape: SandboxShape, qemu: Machine, size: SandboxSize, around: Around) =>
    making(() => templates.clone(shape, (template) => startAsClone(qemu, size, template, around)))

  /** Starts a machine without an owner, in one of the ways; one that fails leaves nothing. */
  const begin = async (
    size: SandboxSize,
    network: SandboxSpec['network'],
    how: (qemu: Machine, around: Around) => Promise<Started>,
    qemu = slots.take() ?? newMachine(),
  ): Promise<SandboxMachine> => {
    try {
      await refuseWhenFull(dataFolder)
      const { pid, session } = await how(qemu, await resources.surround(qemu, size, network))
      sessions.put(qemu, session)
      const process = await identityOf(pid)
      if (!process) throw new SandboxError('guest_failed', 'Its machine ended at once')
      return { qemu, record: { state: 'running', ranMs: 0, startedAt: clock.now().getTime(), process } }
    } catch (error) {
      await sessions.drop(qemu.id)
      await resources.remove(qemu)
      throw asSandboxError(error)
    }
  }

  /** As a clone, or by a boot where no template is there yet. */
  const beginFromTemplate = async (name: string, size: SandboxSize, network: SandboxSpec['network']) => {
    const shape = await shapeOf(name, size)
    return begin(size, network, async (qemu, around) => {
      const cloned = await cloneOf(shape, qemu, size, around).catch((error) => {
        log.info({ err: error }, 'no clone came of it: cold boot')
        return resources.stop(qemu).then(() => undefined)
      })
      if (cloned) return cloned
      const again = await resources.surround(qemu, size, network)
      await rm(qemu.disk, { force: true })
      return startCold(qemu, { ...size, diskGb: shape.diskGb }, shape.image, baseImages, again)
    })
  }

  const cloneOfSnapshot = (shape: SnapshotShape, qemu: Machine, size: SandboxSize, around: Around) =>
    making(() => warmTemplates.clone(shape, (template) => startAsClone(qemu, size, template, around)))

  /** As a clone, or not at all: a machine that was booted would be slow for its customer. */
  const beginWarm = async (name: string, size: SandboxSize) => {
    const kept = warm.get(name)
    const shape = kept ? undefined : await shapeOf(name, size)
    return begin(
      size,
      await resources.usualNetwork(),
      async (qemu, around) => {
        const begun = kept
          ? await cloneOfSnapshot(kept, qemu, size, around)
          : await cloneOf(shape!, qemu, size, around)
        if (!begun) throw new SandboxError('template_not_ready', `There is no saved machine of ${name} yet`)
        return begun
      },
      newMachine(),
    )
  }

  const beginFromSnapshot = async (spec: SandboxSpec) => {
    const kept = await snapshots.find(spec.template)
    if (!kept) throw new SandboxError('template_unknown', `There is no template ${spec.template}`)
    sameSize(spec, kept.size)
    const { state, disk } = snapshots.files(spec.template)
    const shape = warm.get(spec.template)
    return begin(spec, spec.network, async (qemu, around) => {
      const cloned =
        shape &&
        (await cloneOfSnapshot(shape, qemu, spec, around).catch((error) => {
          log.info({ err: error }, 'no clone of a snapshot came of it')
          return resources.stop(qemu).then(() => undefined)
        }))
      if (cloned) return cloned
      await snapshots.check(spec.template, kept)
      const again = shape ? await resources.surround(qemu, spec, spec.network) : around
      await copySparsely(disk, qemu.disk)
      return startFromState(qemu, spec, state, again)
    })
  }

  const discard = async ({ qemu }: SandboxMachine) => {
    await sessions.drop(qemu.id)
    await resources.remove(qemu)
  }

  const isCatalog = (template: string) => sandboxTemplates.some(({ name }) => name === template)

  const pool = createPool({
    ...{ clock, log, most: options.pool.most, remove: discard },
    always: (options.pool.always ?? []).map(keyOf),
    memoryMbOf: (key) => kindOf(key).memoryMb,
    roomMb: options.pool.roomMb ?? (async () => Number.POSITIVE_INFINITY),
    async make(key) {
      const { template, ...size } = kindOf(key)
      const machine = await beginWarm(template, size)
      try {
        const nobody = { hostname: 'waiting', machineId: machine.qemu.id, env: {} }
        await renew(await sessions.get(machine.qemu), clock.now(), nobody)
        if (isCatalog(template)) await prime(await sessions.get(machine.qemu), templateOf(template))
        await withMonitor(machine.qemu.monitor, ({ execute }) => execute('stop'))
        return machine
      } catch (error) {
        await discard(machine)
        throw error
      }
    },
  })
  const takeFromPool = async (spec: SandboxSpec) => {
    const { network = closedNetwork } = spec
    const machine = pool.take(keyOf(spec))
    if (!machine) return undefined
    try {
      if (!isDeepStrictEqual(network, await resources.usualNetwork()))
        await resources.applyNetwork(machine.qemu, network)
      await withMonitor(machine.qemu.monitor, ({ execute }) => execute('cont'))
      return machine
    } catch (error) {
      log.info({ err: error }, 'a sandbox made in advance is lost')
      await discard(machine)
      return undefined
    }
  }

  return {
    begin,
    discard,
    pool,
    slots,

    /** As its template says, by the quickest way that there is. */
    async fromTemplate(spec: SandboxSpec) {
      const isReady = isCatalog(spec.template) || warm.has(spec.template)
      const waiting = isReady ? await takeFromPool(spec) : undefined
      if (waiting) return waiting
      return isCatalog(spec.template)
        ? beginFromTemplate(spec.template, spec, spec.network)
        : beginFromSnapshot(spec)
    },

    /** Builds the saved machine that sandboxes of a snapshot begin as, unless there is one, or no room for one. */
    async keepWarm(snapshotId: string): Promise<void> {
      const kept = await snapshots.find(snapshotId)
      if (!kept) throw new SandboxError('template_unknown', `There is no snapshot ${snapshotId}`)
      if (!canBeCloned(kept)) return
      if ((await (options.pool.roomMb?.() ?? Number.POSITIVE_INFINITY)) < 2 * kept.size.memoryMb) return
      const shape = { ...kept.size, vcpus: Math.ceil(kept.size.vcpus), image: { name: snapshotId }, kept }
      const isThere = await warmTemplates.keep(shape)
      // It may have been removed meanwhile.
      if (!(await snapshots.find(snapshotId))) await warmTemplates.remove(shape)
      else if (isThere) warm.set(snapshotId, shape)
    },

    /** Nothing begins as a snapshot any more: what waits as one is removed. */
    async forget(snapshotId: string): Promise<void> {
      const shape = warm.get(snapshotId)
      warm.delete(snapshotId)
      await pool.forget((key) => kindOf(key).template === snapshotId)
      if (shape) await warmTemplates.remove(shape)
    },

    async keepTemplate(template: string, size: SandboxSize): Promise<void> {
      await templates.keep(await shapeOf(template, size))
    },
  }
}
