import { type PoolDemand, planPool, type ShapeKey } from './plan-pool.ts'
import type { SandboxMachine } from './records.ts'

export interface PoolOptions {
  /** Makes a machine without an owner, ready and paused. */
  make(key: ShapeKey): Promise<SandboxMachine>
  /** Removes a machine that will not be given away. */
  remove(machine: SandboxMachine): Promise<void>
  memoryMbOf(key: ShapeKey): number
  /** The part of the host's memory that is promised to no machine: the pool has no other. */
  roomMb(): Promise<number>
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
  /** The most machines of all shapes together. 0: none are made. */
  most: number
  /** Shapes of which at least one machine is kept, also without demand. */
  always?: readonly ShapeKey[]
}

/** How long an order is remembered as demand. */
const MEMORY_MS = 30 * 60_000
/** Older ones are made anew: what they have in common with others of their template, they shall not have for long. */
const OLD_MS = 12 * 3_600_000

/**
 * Machines that are started in advance for the next customer. They are made one after the other, when the host is
 * quiet.
 */
export function createPool({ make, remove, clock, log, most, always = [], ...host }: PoolOptions) {
  const ready = new Map<ShapeKey, { machine: SandboxMachine; since: number }[]>()
  const wanted = new Map<ShapeKey, number[]>(always.map((key) => [key, []]))
  let tending: Promise<void> | undefined
  let isClosed = false

  const of = (key: ShapeKey) => {
    const there = ready.get(key) ?? []
    ready.set(key, there)
    return there
  }
  const recent = (key: ShapeKey) => {
    const since = clock.now().getTime() - MEMORY_MS
    const times = (wanted.get(key) ?? []).filter((time) => time >= since)
    wanted.set(key, times)
    return times
  }
  const plan = async () => {
    const demands = [...wanted.keys()].map(
      (key): PoolDemand => ({
        key,
        memoryMb: host.memoryMbOf(key),
        wantedAt: recent(key),
        least: always.includes(key) ? 1 : 0,
      }),
    )
    return planPool(demands, { most, roomMb: await host.roomMb() })
  }

  /** Removes machines that are too many or too old: the oldest of each shape. */
  const shrink = async (planned: ReadonlyMap<ShapeKey, number>) => {
    const before = clock.now().getTime() - OLD_MS
    for (const [key, there] of ready) {
      while (there.length > (planned.get(key) ?? 0) || (there[0] && there[0].since < before))
        await remove(there.shift()!.machine)
    }
  }

  /** One change after the other, each by what is wanted then. */
  const tendNow = async () => {
    // One kind that cannot be made holds up no other.
    const failed = new Set<ShapeKey>()
    while (!isClosed) {
      const planned = await plan()
      await shrink(planned)
      const key = [...planned.keys()].find(
        (shape) => !failed.has(shape) && of(shape).length < planned.get(shape)!,
      )
      if (key === undefined) return
      try {
        const machine = await make(key)
        of(key).push({ machine, since: clock.now().getTime() })
      } catch (error) {
        log.info({ err: error }, 'no sandbox could be made in advance')
        failed.add(key)
      }
    }
  }

  return {
    /** Returns a ready machine, when there is one; more of its kind are made afterwards. */
    take(key: ShapeKey): SandboxMachine | undefined {
      wanted.set(key, [...recent(key), clock.now().getTime()])
      return of(key).shift()?.machine
    },

    /** Makes those that are wanted, and removes those that are not, or have no room any more. Nothing waits for it. */
    tend(): Promise<void> {
      if (isClosed || most === 0) return Promise.resolve()
      tending ??= tendNow().finally(() => {
        tending = undefined
      })
      return tending
    },

    /** No such machines are wanted any more: those that wait are removed. */
    async forget(isSo: (key: ShapeKey) => boolean): Promise<void> {
      for (const key of [...wanted.keys()].filter(isSo)) wanted.delete(key)
      await tending?.catch(() => {})
      for (const [key, there] of [...ready].filter(([each]) => isSo(each))) {
        ready.delete(key)
        for (const { machine } of there) await remove(machine)
      }
    },

    /** The machines that belong to no customer now. */
    machines: () => [...ready.values()].flat().map(({ machine }) => machine),

    /** Removes them all. */
    async close(): Promise<void> {
      isClosed = true
      await tending?.catch(() => {})
      for (const there of ready.values()) for (const { machine } of there) await remove(machine)
      ready.clear()
    },
  }
}
