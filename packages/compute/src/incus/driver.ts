import { isDeepStrictEqual } from 'node:util'
import { answersSsh } from '@coinrack/host/answers-ssh.ts'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import { makeChangeSeed, makeSeed, makeUplinkSeed } from '../personality/seed.ts'
import { checkPolicy, type NetworkPolicy, openPolicy } from '../ports/network-policy.ts'
import {
  type BootChange,
  DriverError,
  type SshAddress,
  type VpsDriver,
  type VpsObservation,
  type VpsSpec,
} from '../ports/vps-driver.ts'
import { type IncusClient, IncusError, isNotFound } from './client.ts'
import { checkSpec, featuresOf } from './features.ts'
import { hasHostKey } from './host-key.ts'
import type { ClusterImages } from './images.ts'
import {
  adjusted,
  hasAddresses,
  hasSeed,
  type Instance,
  type InstanceOptions,
  idOfName,
  instanceName,
  instanceOf,
  isBooted,
  isChangeTaken,
  isMachineId,
  isMade,
  KEY,
  stateOf,
  uplinkOf,
  withSeed,
} from './instance.ts'
import { memberCapacity } from './inventory.ts'
import { createMetrics } from './metrics.ts'

/*
 * The VPS driver on one member of an Incus cluster. Every call looks at the instance first and again after what failed:
 * an answer of the cluster can be lost while what it was asked for is done.
 */

export interface IncusDriverOptions extends InstanceOptions {
  client: IncusClient
  /** The name of the member that new machines are made on. */
  member: string
  images: ClusterImages
  /** How SSH servers are looked at. Default: over the network. */
  ssh?: {
    answers(address: SshAddress): Promise<boolean>
    hasHostKey(address: SshAddress, publicKey: string): Promise<boolean>
  }
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
}

/** An instance in a list: without its configuration while its member is away. */
type Listed = Omit<Instance, 'config' | 'devices'> & {
  config: Instance['config'] | null
  devices: Instance['devices'] | null
}

/** How long a guest has to shut down before its power is cut. */
const GRACE_SECONDS = 30
const STATE_MS = 90_000
/** A first boot that has been silent for so long is started over. */
const HUNG_AFTER_MS = 15 * 60_000

export function createIncusDriver(options: IncusDriverOptions): VpsDriver {
  const { client, member, images, pool, clock, log } = options
  const ssh = options.ssh ?? { answers: answersSsh, hasHostKey }
  const metrics = createMetrics(client, { member, clock })
  const features = featuresOf(options)
  const oneByOne = oneAtATime()
  /** The start since which the SSH server of a machine has answered. */
  const answered = new Map<string, string>()

  /** The instance and its ETag; undefined when there is none. */
  const find = async (id: string) => {
    if (!isMachineId(id)) return undefined
    try {
      return await client.get<Instance>(`/1.0/instances/${instanceName(id)}`)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  const known = async (id: string): Promise<Instance> => {
    const found = await find(id)
    if (!found) throw new DriverError('machine_unknown', `There is no machine ${id}`)
    return found.value
  }

  /** All instances of the cluster that are machines. Of those on a member that is away only name and place are known. */
  const list = async (): Promise<Instance[]> => {
    const { value } = await client.get<Listed[]>('/1.0/instances', { query: { recursion: '1' } })
    return value
      .filter(({ name }) => idOfName(name) !== undefined)
      .map((instance) => ({ ...instance, config: instance.config ?? {}, devices: instance.devices ?? {} }))
  }

  const mark = (id: string, config: Record<string, string>) =>
    client.change('PATCH', `/1.0/instances/${instanceName(id)}`, { body: { config } })

  /** Replaces what the instance is, unless it was changed since it was read. */
  const replace = async (id: string, change: (instance: Instance) => Partial<Instance>): Promise<void> => {
    const found = await find(id)
    if (!found) throw new DriverError('machine_unknown', `There is no machine ${id}`)
    await client.change('PUT', `/1.0/instances/${instanceName(id)}`, {
      body: { ...found.value, ...change(found.value) },
      headers: { 'If-Match': found.etag! },
    })
  }

  const setState = async (
    id: string,
    body: { action: 'start' | 'stop'; force?: boolean; timeout?: number },
  ) => {
    const isRight = async () => ((await known(id)).status === 'Running') === (body.action === 'start')
    try {
      await client.change('PUT', `/1.0/instances/${instanceName(id)}/state`, { body, operationMs: STATE_MS })
    } catch (error) {
      if (await isRight()) return
      if (error instanceof IncusError) throw new DriverError('guest_failed', error.message, { cause: error })
      throw error
    }
  }

  const start = async (id: string) => {
    answered.delete(id)
    await setState(id, { action: 'start' })
  }

  const forceStop = async (id: string) => {
    if ((await known(id)).status !== 'Running') return
    await setState(id, { action: 'stop', force: true })
  }

  const stop = async (id: string) => {
    if ((await known(id)).status !== 'Running') return
    await setState(id, { action: 'stop', timeout: GRACE_SECONDS }).catch(() => forceStop(id))
  }

  /**
   * Removes an instance that was begun and never finished, unless an operation works on it now.
   * @returns whether it is gone
   */
  const removeUnfinished = async (id: string): Promise<boolean> => {
    const { value } = await client.get<Record<string, { resources: Record<string, string[]> | null }[]>>(
      '/1.0/operations',
      { query: { recursion: '1' } },
    )
    const running = Object.values(value).flat()
    const isBusy = running.some(({ resources }) =>
      resources?.instances?.some((path) => path.split('?')[0]!.endsWith(`/${instanceName(id)}`)),
    )
    if (isBusy) return false
    log.info({ vps: id }, 'An instance that was never finished is removed')
    await removeInstance(id)
    return true
  }

  const removeInstance = (id: string) =>
    client.change('DELETE', `/1.0/instances/${instanceName(id)}`).catch((error) => {
      if (!isNotFound(error)) throw error
    })

  const make = async (spec: VpsSpec): Promise<void> => {
    const fingerprint = await images.fingerprintOf(spec.image)
    const uplink = uplinkOf(spec.addresses!, options.network)
    const seed = makeSeed({ ...spec, uplink }, clock.now())
    try {
      await client.change('POST', '/1.0/instances', {
        query: { target: member },
        body: instanceOf(spec, { fingerprint, seed }, options),
      })
    } catch (error) {
      // Another call makes it, or has made it.
      if (error instanceof IncusError && /already exists|UNIQUE constraint|busy running/i.test(error.message))
        return
      throw asDriverError(error)
    }
    await mark(spec.id, { [KEY.made]: '1' })
  }

  /** Takes the seed from a machine that has shown itself to be the one of the spec. */
  const completeFirstBoot = async (instance: Instance): Promise<void> => {
    const id = instance.config[KEY.id]!
    if (!(await ssh.hasHostKey(addressOf(instance), instance.config[KEY.sshHostKey]!)))
      return restartIfHung(instance)
    answered.set(id, instance.last_used_at)
    await mark(id, { [KEY.made]: '1', [KEY.booted]: '1', ...withSeed(undefined) })
  }

  const restartIfHung = async ({ config, last_used_at }: Instance) => {
    if (clock.now().getTime() - Date.parse(last_used_at) < HUNG_AFTER_MS) return
    const id = config[KEY.id]!
    log.info({ vps: id }, 'first boot hangs: reset')
    await forceStop(id)
    await start(id)
  }

  const observed = async (instance: Instance): Promise<VpsObservation> => {
    const id = idOfName(instance.name)!
    const state = stateOf(instance, clock.now())
    if (state.state !== 'running') return { ...state, sshReady: false }
    if (!isBooted(instance)) return { ...state, sshReady: false }
    const sshReady = answered.get(id) === instance.last_used_at || (await ssh.answers(addressOf(instance)))
    if (sshReady) answered.set(id, instance.last_used_at)
    const isTaken = sshReady && isChangeTaken(instance)
    if (isTaken) await mark(id, { [KEY.change]: 'taken', ...withSeed(undefined) })
    // An address that it has taken over is its owner's from now on.
    else if (sshReady && hasSeed(instance) && state.bootChange !== 'waiting')
      await mark(id, withSeed(undefined))
    const measured = await metrics.of(instance.name)
    return {
      ...state,
      sshReady,
      ...(isTaken && { bootChange: 'taken' }),
      ...(measured && { metrics: measured }),
    }
  }

  return {
    ensure: (spec) =>
      oneByOne(spec.id, async () => {
        checkSpec(spec, features)
        let found = (await find(spec.id))?.value
        if (found && !isMade(found)) {
          if (!(await removeUnfinished(spec.id))) return
          found = undefined
        }
        if (!found) return make(spec)
        if (found.status === 'Running') return isBooted(found) ? undefined : completeFirstBoot(found)
        // Nothing is known of one whose member is away.
        if (found.status !== 'Stopped') return
        const uplink = uplinkOf(spec.addresses!, options.network)
        const hasMoved = !hasAddresses(found, spec.addresses!)
        await replace(spec.id, (current) => {
          const change = adjusted(current, spec, options)
          if (hasMoved) Object.assign(change.config, withSeed(makeUplinkSeed(uplink, clock.now())))
          return change
        })
        if (!isBooted(found)) await start(spec.id)
      }),

    power: (id, action, boot) =>
      oneByOne(id, async () => {
        const before = await known(id)
        const isRunning = before.status === 'Running'
        if (action === 'stop') return stop(id)
        if (action === 'force_stop') return forceStop(id)
        // A boot that has begun already, whose answer was lost.
        const isBegun = boot !== undefined && before.config[KEY.boot] === String(boot)
        if (isRunning && (action === 'start' || isBegun)) return
        if (isRunning && action === 'reboot') await stop(id)
        else if (isRunning) await forceStop(id)
        if (boot !== undefined) await mark(id, { [KEY.boot]: String(boot) })
        await start(id)
      }),

    async applyNetwork(id: string, policy: NetworkPolicy) {
      await known(id)
      checkPolicy(policy)
      if (!isDeepStrictEqual(policy, openPolicy))
        throw new DriverError('unsupported', 'Machines of this cluster have no firewall')
    },

    changeAtBoot: (id: string, change: BootChange) =>
      oneByOne(id, async () => {
        const { last_used_at } = await known(id)
        const seed = makeChangeSeed(change, clock.now())
        await mark(id, { [KEY.change]: 'waiting', [KEY.changeSince]: last_used_at, ...withSeed(seed) })
      }),

    destroy: (id) =>
      oneByOne(id, async () => {
        if (!isMachineId(id)) return
        answered.delete(id)
        if (await find(id)) {
          await forceStop(id).catch(() => {})
          await removeInstance(id)
        }
      }),

    async observe(id) {
      if (!isMachineId(id)) return { state: 'absent', sshReady: false }
      try {
        const found = await find(id)
        return found ? await observed(found.value) : { state: 'absent', sshReady: false }
      } catch (error) {
        // One instance cannot be read while its member is away, but all of them can be listed.
        const listed = (await list()).find(({ name }) => idOfName(name) === id)
        if (listed?.status === 'Error') return { ...stateOf(listed, clock.now()), sshReady: false }
        throw error
      }
    },

    async observeAll() {
      const mine = (await list()).filter(({ location }) => location === member)
      const seen = await Promise.all(
        mine.map(async (instance) => [idOfName(instance.name)!, await observed(instance)] as const),
      )
      return new Map(seen)
    },

    async inventory() {
      const [instances, capacity, status] = await Promise.all([
        list(),
        memberCapacity(client, { member, pool }),
        images.status(),
      ])
      const here = instances.filter(({ location }) => location === member)
      const machines = here.map(({ name }) => idOfName(name)!)
      return { capacity, features, images: status, usedPorts: [], machines }
    },
  }
}

function addressOf({ config }: Instance) {
  const [host, port] = config[KEY.sshAddress]!.split(':')
  return { host: host!, port: Number(port) }
}

function asDriverError(error: unknown): unknown {
  if (!(error instanceof IncusError)) return error
  const isFull = /no space|not enough|disk quota|ENOSPC/i.test(error.message)
  return new DriverError(isFull ? 'no_space' : 'guest_failed', error.message, { cause: error })
}
