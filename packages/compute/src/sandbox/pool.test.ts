import { expect, test } from 'vitest'
import { createPool, type PoolOptions } from './pool.ts'
import type { SandboxMachine } from './records.ts'

const MINUTE_MS = 60_000

function makePool(change: Partial<PoolOptions> = {}) {
  let [now, room] = [0, 100_000]
  const removed: SandboxMachine[] = []
  const made: string[] = []
  const pool = createPool({
    most: 4,
    make: async (key) => {
      made.push(key)
      return {} as SandboxMachine
    },
    remove: async (machine) => void removed.push(machine),
    memoryMbOf: () => 512,
    roomMb: async () => room,
    clock: { now: () => new Date(now) },
    log: { info: () => {} },
    ...change,
  })
  return {
    ...{ pool, removed, made },
    want: (key: string, count: number) => Array.from({ length: count }, () => pool.take(key)),
    async after(ms: number) {
      now += ms
      await pool.tend()
      return pool.machines().length
    },
    leave: (roomMb: number) => {
      room = roomMb
    },
  }
}

test('default: one of what is always there before anybody asked, more while they are asked for', async () => {
  const { want, after, made } = makePool({ always: ['micro'] })
  expect(await after(0)).toBe(1)
  expect(want('micro', 3).filter(Boolean)).toHaveLength(1)
  expect(await after(2 * MINUTE_MS)).toBe(3)
  expect(want('micro', 3).filter(Boolean)).toHaveLength(3)
  expect(await after(2 * MINUTE_MS)).toBe(3)
  expect(new Set(made)).toEqual(new Set(['micro']))
})

test('behavior: it shrinks when nobody asks any more, to what is always there', async () => {
  const { want, after, removed } = makePool({ always: ['micro'] })
  want('micro', 3)
  want('small', 1)
  expect(await after(0)).toBe(4)
  expect(await after(29 * MINUTE_MS)).toBe(4)
  expect(await after(2 * MINUTE_MS)).toBe(1)
  expect(removed).toHaveLength(3)
})

test('behavior: what has no room any more is given back, and made again when it has', async () => {
  const { want, after, leave, removed } = makePool({ always: ['micro'] })
  want('micro', 3)
  expect(await after(0)).toBe(3)
  leave(600)
  expect(await after(0)).toBe(1)
  leave(-2_000)
  expect(await after(0)).toBe(0)
  expect(removed).toHaveLength(3)
  leave(100_000)
  expect(await after(0)).toBe(3)
})

test('behavior: one that is old is made anew', async () => {
  const { after, removed, made } = makePool({ always: ['micro'] })
  await after(0)
  expect(await after(11 * 60 * MINUTE_MS)).toBe(1)
  expect(removed).toHaveLength(0)
  expect(await after(2 * 60 * MINUTE_MS)).toBe(1)
  expect([removed.length, made.length]).toEqual([1, 2])
})

test('behavior: no more than there may be; none where there may be none', async () => {
  const { want, after } = makePool({ most: 2, always: ['micro'] })
  want('micro', 9)
  expect(await after(0)).toBe(2)
  const none = makePool({ most: 0, always: ['micro'] })
  none.want('micro', 3)
  expect(await none.after(0)).toBe(0)
})

test('behavior: the rest goes with the service', async () => {
  const { pool, want, after, removed } = makePool()
  want('micro', 2)
  await after(0)
  await pool.close()
  expect([pool.machines().length, removed.length]).toEqual([0, 2])
  expect(await after(0)).toBe(0)
})

test('error: when none can be made, it is left until the next time', async () => {
  let tries = 0
  const { after } = makePool({
    always: ['micro'],
    make: async () => {
      tries++
      throw new Error('no space')
    },
  })
  expect(await after(0)).toBe(0)
  expect(tries).toBe(1)
  await after(MINUTE_MS)
  expect(tries).toBe(2)
})
