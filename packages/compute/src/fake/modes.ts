import { createHash } from 'node:crypto'
import { type GuestChannel, GuestError } from '../ports/guest-channel.ts'
import type { RetainedDisks } from '../ports/retained-disks.ts'
import type { VpsSnapshots } from '../ports/snapshot.ts'
import type { HostFeatures, VpsDriver } from '../ports/vps-driver.ts'

/*
 * Fakes as hard to live with as a host that is reached over a network: what stands above the ports is shown to cope.
 * Each mode wraps the ports of one host, and the fakes underneath stay what they are: they say what is really so.
 *
 *   late     of the calls that change something every other one of a kind is given up: it throws, and is done only once its machine
 *            was looked at twice, or its host, or before the next call for it. The same call again, while it is under way, waits for its end.
 *            A machine that has started answers by SSH one look later.
 *   lossy    some calls throw what a broken connection throws: half of them after they were done, half before.
 *   poor     the host lacks every feature that it can do without.
 *
 * What customers do inside a machine, or see of it, goes through as it is: only they can say whether to repeat it.
 */

/** The ports of a host that a service asks by itself, and asks again. */
export interface HostPorts {
  driver: VpsDriver
  snapshots: VpsSnapshots
  retainedDisks: RetainedDisks
  guests: GuestChannel
}

export const hostModes = ['late', 'lossy', 'poor'] as const
export type HostMode = (typeof hostModes)[number]

/** The features of a host that has none but the one without which it has no machines. */
export const poorFeatures: HostFeatures = {
  firewall: false,
  ownAddresses: false,
  portForwarding: true,
  ipv6: false,
  memorySnapshots: false,
  retainedDisks: false,
  serialConsole: false,
  screen: false,
  rescue: false,
  guestCommands: false,
}

type Calls = { [P in keyof HostPorts]: readonly (keyof HostPorts[P])[] }

const CHANGING: Calls = {
  driver: ['ensure', 'power', 'applyNetwork', 'changeAtBoot', 'destroy'],
  snapshots: ['take', 'restore', 'remove'],
  retainedDisks: ['setAside', 'putBack', 'remove'],
  guests: ['setHostname', 'setRootPasswordHash'],
}

const ASKING: Calls = {
  driver: ['observe', 'observeAll', 'inventory'],
  snapshots: ['list'],
  retainedDisks: ['isSound', 'list'],
  guests: ['usage'],
}

interface Call {
  /** The id of the machine; empty for a call about the whole host. */
  id: string
  /** Its port and name. */
  kind: string
  /** With what it is given: equal calls are the same call. */
  key: string
  /** The error that is thrown in place of its answer. */
  unanswered(message: string): Error
  run(): Promise<unknown>
}

type Around = (call: Call) => Promise<unknown>

/** The same ports, of which these calls go through `around`. */
function through<P extends HostPorts>(ports: P, calls: Calls, around: Around): P {
  const wrapped = (Object.keys(calls) as (keyof Calls)[]).map((port) => [
    port,
    new Proxy<object>(ports[port], {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function' || !(calls[port] as readonly unknown[]).includes(name)) return value
        return async (...given: unknown[]) => {
          const [first] = given as [string | { id: string } | undefined]
          const kind = `${port}.${String(name)}`
          return around({
            id: typeof first === 'object' ? first.id : (first ?? ''),
            kind,
            key: JSON.stringify([kind, ...given]),
            unanswered: (message) =>
              port === 'guests' ? new GuestError('guest_failed', message) : new Error(message),
            run: async () => value.apply(target, given),
          })
        }
      },
    }),
  ])
  return { ...ports, ...Object.fromEntries(wrapped) }
}

/** How often a machine is looked at before what was given up is done. */
const LOOKS = 2

/** A host that does its work after the caller has stopped waiting for the answer. */
export function late<P extends HostPorts>(ports: P): P {
  interface UnderWay {
    key: string
    looks: number
    end: () => Promise<unknown>
  }
  const underWay = new Map<string, UnderWay>()
  const counts = new Map<string, number>()
  const ready = new Set<string>()

  const end = async (id: string): Promise<unknown> => {
    const work = underWay.get(id)
    try {
      return await work?.end()
    } finally {
      if (underWay.get(id) === work) underWay.delete(id)
    }
  }

  const changing: Around = async ({ id, kind, key, unanswered, run }) => {
    if (underWay.get(id)?.key === key) return end(id)
    await end(id).catch(() => {})
    const count = (counts.get(`${kind} ${id}`) ?? 0) + 1
    counts.set(`${kind} ${id}`, count)
    if (count % 2 === 0) return run()
    let ended: Promise<unknown> | undefined
    underWay.set(id, { key, looks: 0, end: () => (ended ??= run()) })
    throw unanswered('scripted: the host did not answer in time')
  }

  const look = async (id: string) => {
    const work = underWay.get(id)
    if (work && ++work.looks >= LOOKS) await end(id).catch(() => {})
  }
  const observe: VpsDriver['observe'] = async (id) => {
    await look(id)
    const seen = await ports.driver.observe(id)
    const wasReady = ready.has(id)
    if (seen.sshReady) ready.add(id)
    else ready.delete(id)
    return { ...seen, sshReady: seen.sshReady && wasReady }
  }
  const observeAll: VpsDriver['observeAll'] = async () => {
    const ids = [...(await ports.driver.observeAll()).keys()]
    return new Map(await Promise.all(ids.map(async (id) => [id, await observe(id)] as const)))
  }

  const inventory: VpsDriver['inventory'] = async () => {
    await Promise.all([...underWay.keys()].map(look))
    return ports.driver.inventory()
  }

  const changed = through(ports, CHANGING, changing)
  const looking: Partial<VpsDriver> = { observe, observeAll, inventory }
  const driver = new Proxy(changed.driver, {
    get: (target, name) => looking[name as keyof VpsDriver] ?? Reflect.get(target, name),
  })
  return { ...changed, driver }
}

/** The share of calls whose answer is lost, and how many of a kind at most one after the other. */
const LOST = 1 / 4
const LOST_IN_A_ROW = 2

/**
 * A host behind a bad connection. Which calls are lost follows from the seed and from how many of their kind there were for the
 * same machine, the machines in the order in which they were first asked for.
 */
export function lossy<P extends HostPorts>(ports: P, seed: number): P {
  const machines = new Map<string, number>()
  const kinds = new Map<string, { calls: number; lost: number }>()

  const around: Around = async ({ id, kind, unanswered, run }) => {
    if (!machines.has(id)) machines.set(id, machines.size)
    const name = `${machines.get(id)} ${kind}`
    const known = kinds.get(name) ?? { calls: 0, lost: 0 }
    kinds.set(name, known)
    const chance = chanceOf(`${seed} ${name} ${known.calls++}`)
    if (chance >= LOST || known.lost >= LOST_IN_A_ROW) {
      known.lost = 0
      return run()
    }
    known.lost++
    if (chance < LOST / 2) await run().catch(() => {})
    throw unanswered('scripted: read ECONNRESET')
  }
  return through(through(ports, CHANGING, around), ASKING, around)
}

const chanceOf = (text: string) => createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32
