import { expect, test } from 'vitest'
import { createPool, wantedInPool } from './pool.ts'
import type { Machine } from './records.ts'

const MINUTE_MS = 60_000

test('default: as many as were wanted within one minute lately', () => {
  expect(wantedInPool([])).toBe(0)
  expect(wantedInPool([0])).toBe(1)
  expect(wantedInPool([0, MINUTE_MS + 1, 2 * MINUTE_MS + 2])).toBe(1)
  expect(wantedInPool([0, 1, 2, 10 * MINUTE_MS])).toBe(3)
})

function makePool(most: number, make = async () => ({}) as Machine) {
  let now = 0
  const removed: Machine[] = []
  const pool = createPool({
    ...{ most, make },
    remove: async (machine) => void removed.push(machine),
    clock: { now: () => new Date(now) },
    log: { info: () => {} },
  })
  const advance = (ms: number) => {
    now += ms
  }
  return { pool, removed, advance }
}

test('behavior: none before anybody wanted one, then up to the limit', async () => {
  const { pool } = makePool(2)
  await pool.tend()
  expect(pool.machines()).toHaveLength(0)
  for (let i = 0; i < 5; i++) expect(pool.take('micro')).toBeUndefined()
  await pool.tend()
  expect(pool.machines()).toHaveLength(2)
  expect(pool.take('other')).toBeUndefined()
  expect(pool.take('micro')).toBeDefined()
  expect(pool.machines()).toHaveLength(1)
})

test('behavior: those that nobody took for long are removed, and the rest with the service', async () => {
  const { pool, removed, advance } = makePool(2)
  pool.take('micro')
  await pool.tend()
  expect(pool.machines()).toHaveLength(1)
  advance(40 * MINUTE_MS)
  await pool.tend()
  expect([pool.machines().length, removed.length]).toEqual([0, 1])
  pool.take('micro')
  await pool.tend()
  await pool.close()
  expect([pool.machines().length, removed.length]).toEqual([0, 2])
})

test('error: when none can be made, it is left until the next time', async () => {
  let tries = 0
  const { pool } = makePool(2, async () => {
    tries++
    throw new Error('no space')
  })
  pool.take('micro')
  await pool.tend()
  expect(tries).toBe(1)
})
