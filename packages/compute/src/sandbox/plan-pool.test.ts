import { expect, test } from 'vitest'
import { mostAtOnce, type PoolDemand, planPool } from './plan-pool.ts'

const MINUTE_MS = 60_000
const shape = (key: string, wanted: number, change: Partial<PoolDemand> = {}): PoolDemand => ({
  ...{ key, memoryMb: 512, wantedAt: Array.from({ length: wanted }, (_, at) => at), least: 0 },
  ...change,
})
const plan = (demands: PoolDemand[], most: number, roomMb = 1_000_000) =>
  Object.fromEntries(planPool(demands, { most, roomMb }))

test('default: as many as were wanted within one minute', () => {
  expect(mostAtOnce([])).toBe(0)
  expect(mostAtOnce([0])).toBe(1)
  expect(mostAtOnce([0, MINUTE_MS + 1, 2 * MINUTE_MS + 2])).toBe(1)
  expect(mostAtOnce([0, 1, 2, 10 * MINUTE_MS])).toBe(3)
  expect(plan([shape('a', 3), shape('b', 0)], 8)).toEqual({ a: 3, b: 0 })
})

test('default: what is always there is there first, also when nobody wants it', () => {
  expect(plan([shape('a', 5), shape('b', 0, { least: 1 })], 8)).toEqual({ a: 5, b: 1 })
  expect(plan([shape('a', 5), shape('b', 0, { least: 1 })], 1)).toEqual({ a: 0, b: 1 })
  expect(plan([shape('a', 5, { least: 1 })], 0)).toEqual({ a: 0 })
})

test('behavior: when more are wanted than there may be, each shape has a share of what was wanted of it', () => {
  expect(plan([shape('a', 9), shape('b', 3)], 8)).toEqual({ a: 6, b: 2 })
  expect(plan([shape('a', 100), shape('b', 1)], 4)).toEqual({ a: 3, b: 1 })
})

test('behavior: none beyond the room that is left; a smaller one may still have some', () => {
  expect(plan([shape('a', 4)], 8, 1_100)).toEqual({ a: 2 })
  expect(plan([shape('large', 2, { memoryMb: 4_096 }), shape('small', 2)], 8, 1_100)).toEqual({
    large: 0,
    small: 2,
  })
  expect(plan([shape('a', 4, { least: 1 })], 8, 100)).toEqual({ a: 0 })
  expect(plan([shape('a', 4)], 8, -1)).toEqual({ a: 0 })
})
