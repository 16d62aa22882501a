import { expect, test } from 'vitest'
import { planLowBalance, thresholdOf } from './low-balance.ts'

const now = new Date('2026-01-31T12:00:00Z')
const inHours = (hours: number) => new Date(now.getTime() + hours * 3_600_000)
const plan = (told: number | undefined, hours: number | undefined, rearmed = false) =>
  planLowBalance(
    { told, rearmed, runsOutAt: hours === undefined ? undefined : inHours(hours) },
    [72, 24],
    now,
  )

test('default: the shortest threshold that the balance does not last for, to the millisecond', () => {
  const at = (hours: number) => thresholdOf(inHours(hours), [72, 24], now)
  expect([72.000001, 72, 24.000001, 24, 0, -5].map(at)).toEqual([undefined, 72, 72, 24, 24, 24])
  expect(thresholdOf(undefined, [72], now)).toBeUndefined()
  expect(thresholdOf(inHours(1), [], now)).toBeUndefined()
})

test('default: each crossing is told once', () => {
  expect(plan(undefined, 80)).toEqual({ do: 'nothing' })
  expect(plan(undefined, 70)).toEqual({ do: 'tell', hours: 72 })
  expect(plan(72, 30)).toEqual({ do: 'nothing' })
  expect(plan(72, 20)).toEqual({ do: 'tell', hours: 24 })
  expect(plan(24, 1)).toEqual({ do: 'nothing' })
})

test('behavior: of several that were crossed at once the shortest is told', () => {
  expect(plan(undefined, 3)).toEqual({ do: 'tell', hours: 24 })
})

test('behavior: what lasts longer again is told anew only after money came', () => {
  expect(plan(24, 60)).toEqual({ do: 'nothing' })
  expect(plan(24, undefined)).toEqual({ do: 'nothing' })
  expect(plan(24, 60, true)).toEqual({ do: 'rearm', hours: 72 })
  expect(plan(24, undefined, true)).toEqual({ do: 'rearm', hours: undefined })
  expect(plan(24, 20, true)).toEqual({ do: 'nothing' })
})
