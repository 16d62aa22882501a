import { rm } from 'node:fs/promises'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import { createImageStore } from '../images/image-store.ts'
import type { Verdict } from '../machine/acceleration.ts'
import { createControlGroups, DEFAULT_PARENT } from '../machine/control-groups/control-groups.ts'
import { defaultDiskLimits } from '../machine/control-groups/limits.ts'
import { hostCapacity } from '../machine/host-capacity.ts'
import { hostClockOptions } from '../machine/host-clock.ts'
import { createJail } from '../machine/jail.ts'
import { checkDataFolder } from '../machine/machine.ts'
import { createMachineUsers, defaultUserIds, type UserIds } from '../machine/machine-users.ts'
import { createMachineNetworks, type MachineNetworks } from '../network/machine-networks.ts'
import { defaultEgress, type EgressPolicy } from '../network/machine-ruleset.ts'
import type { SandboxArtifacts } from '../ports/sandbox-artifacts.ts'
import type { SandboxChannel } from '../ports/sandbox-channel.ts'
import { closedNetwork, type SandboxNetwork } from '../ports/sandbox-network.ts'
import {
  SandboxError,
  type SandboxRuntime,
  type SandboxSize,
  type SandboxSpec,
} from '../ports/sandbox-runtime.ts'
import { checkSandboxSpec } from '../ports/sandbox-spec.ts'
import type { AgentSession } from './agent-session.ts'
import { createAgentSessions } from './agent-sessions.ts'
import { createArtifacts } from './artifacts.ts'
import { createGuestChannel } from './channel.ts'
import { createCheckpoints } from './checkpoint.ts'
import { asSandboxError, sameSize } from './failures.ts'
import { createHostResources } from './host-resources.ts'
import { sandboxRecipes, sandboxTemplates } from './image/recipes.ts'
import { namesAndPolicyOf } from './network.ts'
import { openRecords, type SandboxMachine } from './records.ts'
import { renew } from './renew.ts'
import { sandboxMachineAt, startFromState } from './sandbox-machine.ts'
import { createSnapshots } from './snapshots.ts'
import { createMachineStarter, type PoolWish } from './start-machine.ts'

export interface SandboxesOptions {
  /** With `sandboxes/`, `sandbox-snapshots/`, `sandbox-templates/` and `base-images/`. */
  dataFolder: string
  /** Built images: may be emptied at any time. */
  cacheFolder: string
  /** Needed when the caller is root: who runs templates. Sandboxes are run by users of their own. */
  user: RunAs | undefined
  /** The user ids of sandboxes. Default: `defaultUserIds`. */
  userIds?: UserIds
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
  /** How guests run on this host. */
  acceleration(): Promise<Verdict>
  /** Default: such as this host makes. */
  networks?: MachineNetworks
  /** The targets that no sandbox may reach. Default: `defaultEgress`. */
  egress?: EgressPolicy
  /** The control group that holds those of sandboxes. Default: `DEFAULT_PARENT`. */
  controlGroup?: string
  /** By how much the boot of a template yields to everything else. Default 10. */
  templateNiceness?: number
  /** Default: none are made in advance. */
  pool?: PoolWish
}

export interface Sandboxes {
  runtime: SandboxRuntime
  channel: SandboxChannel
  artifacts: SandboxArtifacts
  /** Builds the image of a template; takes minutes on a new host. */
  prepare(template: string, onProgress: (line: string) => void): Promise<void>
  /** Builds the saved machine that sandboxes of the size begin as, unless there is one. */
  keepTemplate(template: string, size: SandboxSize): Promise<void>
  /** Makes sandboxes in advance, as many as were wanted lately, and gives back those that have no room any more. */
  tendPool(): Promise<void>
  /** Lets go of all sandboxes, which run on. */
  close(): Promise<void>
}

/** How often running sandboxes are asked whether a full disk has stopped them. */
const LOOK_MS = 15_000
/** After a sandbox was given, whose first work needs the processors more than the next one. */
const LATER_MS = 1_000

/** Runs sandboxes on this host, each a QEMU of its own. They outlive this process and are found again by the next. */
export async function createSandboxes(options: SandboxesOptions): Promise<Sandboxes> {
  const { dataFolder, cacheFolder, user, userIds = defaultUserIds, clock, log } = options
  checkDataFolder(dataFolder)
  const folder = join(dataFolder, 'sandboxes')
  const images = createImageStore({ cacheFolder, recipes: sandboxRecipes })
  const users = createMachineUsers(folder, user && userIds)
  const networks = options.networks ?? createMachineNetworks(options.egress ?? defaultEgress, log)
  const parent = options.controlGroup ?? DEFAULT_PARENT
  const groups = createControlGroups({ parent, disk: defaultDiskLimits, dataFolder, log })
  const clockOptions = hostClockOptions()
  const resources = createHostResources({
    users,
    groups,
    networks,
    jail: createJail({ cacheFolder, baseImages: join(dataFolder, 'base-images'), log }),
    acceleration: options.acceleration,
    clockOptions,
  })
  const records = await openRecords(folder, clock)
  const snapshots = createSnapshots(join(dataFolder, 'sandbox-snapshots'))
  const sessions = createAgentSessions(clock)
  const alone = oneAtATime()
  const bySandbox = new Map<string, SandboxMachine>()
  for (const machine of records.machines.values()) bySandbox.set(machine.record.sandbox!.id, machine)
  for (const name of records.unfinished) await resources.remove(sandboxMachineAt(folder, name))

  const starter = createMachineStarter({
    ...{ dataFolder, folder, images, resources, sessions, snapshots, user, clock, log },
    templateNiceness: options.templateNiceness ?? 10,
    pool: options.pool ?? { most: 0 },
  })
  const { begin, discard, slots, pool } = starter
  const checkpoints = createCheckpoints({ dataFolder, resources, users, sessions, records, clock })
  const takeOver = async (machine: SandboxMachine) => {
    await checkpoints.takeOver(machine)
    const { qemu, record } = machine
    if (record.state === 'running')
      await resources
        .keepNetwork(qemu, record.sandbox!.network)
        .catch((error) => log.info({ err: error }, `Sandbox ${record.sandbox!.id} resolves no names`))
  }
  await Promise.all([...records.machines.values()].map(takeOver))

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
  const tendPool = () =>
    void pool.tend().catch((error) => log.info({ err: error }, 'the pool was not tended'))
  const sessionOf = async (id: string): Promise<AgentSession> => {
    const { qemu, record } = await living(id)
    if (record.state === 'paused') throw new SandboxError('sandbox_paused', `Sandbox ${id} is paused`)
    return sessions.get(qemu)
  }
  const channel = createGuestChannel(sessionOf)
  slots.tend()

  /** Gives the machine to the sandbox: from now on it is counted, and found again. */
  const give = async (machine: SandboxMachine, spec: SandboxSpec): Promise<void> => {
    const { qemu } = machine
    try {
      const identity = { hostname: spec.id, machineId: qemu.id, env: spec.env ?? {} }
      await renew(await sessions.get(qemu), clock.now(), identity)
      machine.record = { ...machine.record, sandbox: spec, startedAt: clock.now().getTime() }
      await records.write(machine)
      records.machines.set(qemu.id, machine)
      bySandbox.set(spec.id, machine)
    } catch (error) {
      await discard(machine)
      throw asSandboxError(error)
    }
  }

  let lookedAt = Number.NEGATIVE_INFINITY
  /** Now and then, and after whatever is done with a sandbox: keeps none waiting that a full disk has stopped. */
  const lookForStopped = () => {
    if (performance.now() - lookedAt < LOOK_MS) return
    lookedAt = performance.now()
    for (const [id, machine] of bySandbox)
      if (machine.record.state === 'running')
        void alone(id, () => checkpoints.goOnWithRoom(machine)).catch((error) =>
          log.info({ err: error }, `Sandbox ${id} was not looked at`),
        )
  }

  const runtime: SandboxRuntime = {
    ensure: (spec) =>
      alone(spec.id, async () => {
        if (bySandbox.has(spec.id)) return
        checkSandboxSpec(spec)
        await checkNetworkIsPossible(networks, spec.network)
        const machine = await starter.fromTemplate(spec)
        await give(machine, spec)
        slots.tend()
        setTimeout(tendPool, LATER_MS).unref()
      }),

    async observe() {
      await Promise.all([...bySandbox.values()].map((machine) => records.settle(machine)))
      lookForStopped()
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
        records.machines.delete(machine.qemu.id)
        bySandbox.delete(id)
        return end
      }),

    pause: (id) => alone(id, async () => checkpoints.pause(await living(id))),
    resume: (id) => alone(id, async () => checkpoints.resume(await living(id))),

    fork: (id, spec) =>
      alone(id, async () => {
        if (bySandbox.has(spec.id)) return
        const parent = await living(id)
        checkSandboxSpec(spec)
        sameSize(spec, parent.record.sandbox!)
        await checkNetworkIsPossible(networks, spec.network)
        const machine = await begin(spec, spec.network, async (qemu, around) => {
          await checkpoints.save(parent, { state: qemu.state, disk: qemu.disk })
          const begun = await startFromState(qemu, spec, qemu.state, around)
          await rm(qemu.state)
          return begun
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
              const { diskSha256, ...state } = await checkpoints.save(machine, files)
              return { size: { vcpus, memoryMb, diskGb }, state, diskSha256 }
            })
            .catch((error) => {
              throw asSandboxError(error)
            }))
        return snapshots.describe(snapshotId, kept)
      }),

    async removeSnapshot(snapshotId) {
      await snapshots.remove(snapshotId)
      await starter.forget(snapshotId)
    },
    keepWarm: (snapshotId) =>
      starter.keepWarm(snapshotId).catch((error) => {
        throw asSandboxError(error)
      }),
    snapshots: () => snapshots.list(),

    applyNetwork: (id, network) =>
      alone(id, async () => {
        const machine = known(id)
        await checkNetworkIsPossible(networks, network)
        const sandbox = { ...machine.record.sandbox!, network }
        machine.record = { ...machine.record, sandbox }
        await records.write(machine)
        if (machine.record.state === 'running') await resources.applyNetwork(machine.qemu, network)
      }),

    hasNetworks: () => networks.isPossible(),

    async templates() {
      const states = new Map((await images.status()).map((status) => [status.slug, status]))
      return sandboxTemplates.map(({ name, image }) => {
        const { state, detail } = states.get(image)!
        return { name, state, ...(detail !== undefined && { detail }) }
      })
    },

    async capacity() {
      const load = loadavg()[0]! / availableParallelism()
      return { ...(await hostCapacity(dataFolder, folder)), load }
    },
  }

  return {
    runtime,
    channel,
    artifacts: await createArtifacts({ dataFolder, cacheFolder }),
    prepare: async (template, onProgress) =>
      void (await images.ensure(sandboxTemplates.find(({ name }) => name === template)!.image, onProgress)),
    keepTemplate: starter.keepTemplate,
    tendPool: () => pool.tend(),
    async close() {
      await Promise.all([pool.close(), slots.close()])
      await sessions.close()
    },
  }
}

async function checkNetworkIsPossible(networks: MachineNetworks, network: SandboxNetwork = closedNetwork) {
  namesAndPolicyOf(network)
  if (!isDeepStrictEqual(network, closedNetwork) && !(await networks.isPossible()))
    throw new SandboxError('unsupported', 'This host allows sandboxes no networks')
}
