import type { Machine } from './records.ts'

/** What machines are told apart by before they are anybody's. */
export type ShapeKey = string

export interface PoolOptions {
  /** Makes a machine that is nobody's, ready and paused. */
  make(key: ShapeKey): Promise<Machine>
  /** Removes one that nobody will have. */
  remove(machine: Machine): Promise<void>
  clock: { now(): Date }
  log: { info(fields: object, message: string): void }
  /** Of all shapes together. 0: none are made. */
  most: number
}

/** How long an order is remembered as demand. */
const MEMORY_MS = 10 * 60_000
/** So long machines that nobody took are kept. */
const IDLE_MS = 30 * 60_000

/**
 * How many are kept of a shape: as many as were wanted within a minute at once lately, so that the next such minute finds
 * them; and one at least while anybody wanted any.
 * @param wanted times of orders, in milliseconds, of the last minutes
 */
export function wantedInPool(wanted: readonly number[]): number {
  let most = 0
  for (let from = 0, to = 0; to < wanted.length; to++) {
    while (wanted[to]! - wanted[from]! > 60_000) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}

/** Machines that began already, for whoever wants one next. They are made one after the other, when it is quiet. */
export function createPool({ make, remove, clock, log, most }: PoolOptions) {
  const ready = new Map<ShapeKey, { machine: Machine; since: number }[]>()
  const wanted = new Map<ShapeKey, number[]>()
  let filling: Promise<void> | undefined
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
  const count = () => [...ready.values()].reduce((sum, there) => sum + there.length, 0)
  const nextToMake = () =>
    count() < most ? [...wanted.keys()].find((key) => of(key).length < wantedInPool(recent(key))) : undefined

  const fill = async () => {
    for (let key = nextToMake(); key !== undefined && !isClosed; key = nextToMake()) {
      try {
        const machine = await make(key)
        of(key).push({ machine, since: clock.now().getTime() })
      } catch (error) {
        log.info({ err: error }, 'no sandbox could be made in advance')
        return
      }
    }
  }

  return {
    /** One that is ready, when there is one; more of its kind are made afterwards. */
    take(key: ShapeKey): Machine | undefined {
      wanted.set(key, [...recent(key), clock.now().getTime()])
      return of(key).shift()?.machine
    },

    /** Makes those that are wanted, and removes those that were not taken. Nothing waits for it. */
    tend(): Promise<void> {
      if (isClosed || most === 0) return Promise.resolve()
      filling ??= (async () => {
        const before = clock.now().getTime() - IDLE_MS
        for (const [key, there] of ready) {
          const old = there.filter(({ since }) => since < before)
          ready.set(
            key,
            there.filter(({ since }) => since >= before),
          )
          for (const { machine } of old) await remove(machine)
        }
        await fill()
      })().finally(() => {
        filling = undefined
      })
      return filling
    },

    /** Machines that are nobody's now. */
    machines: () => [...ready.values()].flat().map(({ machine }) => machine),

    /** Removes them all. */
    async close(): Promise<void> {
      isClosed = true
      await filling
      for (const there of ready.values()) for (const { machine } of there) await remove(machine)
      ready.clear()
    },
  }
}
