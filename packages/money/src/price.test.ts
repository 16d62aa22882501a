import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { refundOfLostTime, refundOfPeriods, refundOnCancel, upgradeCharge, usedCost } from './price.ts'

const HOUR = 3_600_000
const micro = { price: 5_000_000n, priceHourly: 7_500n }

describe('refundOnCancel', () => {
  test.each([
    ['at once', 0, 4_992_500n],
    ['one millisecond in', 1, 4_992_500n],
    ['at the full hour', HOUR, 4_992_500n],
    ['one millisecond into the second hour', HOUR + 1, 4_985_000n],
    ['after a day', 24 * HOUR, 4_820_000n],
    ['just before the hourly price reaches the period price', 666 * HOUR, 5_000n],
    ['when it has', 667 * HOUR, 0n],
    ['at the end of the longest month', 744 * HOUR, 0n],
  ])('default: %s', (_when, usedMs, refund) => {
    expect(refundOnCancel({ ...micro, usedMs })).toBe(refund)
  })

  test('behavior: never below zero, never above the price, never more for more use', () => {
    const price = fc.bigInt({ min: 1n, max: 10n ** 12n })
    const used = fc.integer({ min: 0, max: 10_000 * HOUR })
    fc.assert(
      fc.property(price, price, used, used, (whole, priceHourly, a, b) => {
        const refund = (usedMs: number) => refundOnCancel({ price: whole, priceHourly, usedMs })
        expect(refund(a)).toBeGreaterThanOrEqual(0n)
        expect(refund(a)).toBeLessThan(whole)
        expect(refund(Math.max(a, b))).toBeLessThanOrEqual(refund(Math.min(a, b)))
      }),
    )
  })
})

const from = new Date('2026-01-31T12:00:00Z')
const at = (hours: number) => new Date(from.getTime() + hours * HOUR)
const period = (begin: number, end: number, paid: bigint, used = 0n, rated = begin) => ({
  from: at(begin),
  until: at(end),
  paid,
  used,
  ratedFrom: at(rated),
})

describe('refundOfLostTime', () => {
  test('default: the share of the current period that is left, and what is ahead', () => {
    const periods = [period(0, 720, 5_000_000n), period(720, 1440, 4_000_000n)]
    expect(refundOfLostTime(periods, at(0))).toBe(9_000_000n)
    expect(refundOfLostTime(periods, at(360))).toBe(6_500_000n)
    expect(refundOfLostTime(periods, at(1440))).toBe(0n)
    expect(refundOfLostTime([], at(0))).toBe(0n)
  })

  test('default: a started micro-USD is given back whole', () => {
    expect(refundOfLostTime([period(0, 3, 1_000_000n)], at(2))).toBe(333_334n)
  })

  test('default: after a change of plan it is what was paid for the time since', () => {
    const changed = period(0, 720, 7_000_000n, 1_000_000n, 120)
    expect(refundOfLostTime([changed], at(420))).toBe(3_000_000n)
    expect(refundOfLostTime([changed], at(60))).toBe(6_000_000n)
  })
})

describe('refundOfPeriods', () => {
  test('default: what is over is used, what is ahead comes back whole', () => {
    const periods = [
      period(0, 720, 5_000_000n),
      period(720, 1440, 5_000_000n),
      period(1440, 2160, 4_000_000n),
    ]
    expect(refundOfPeriods(periods, 7_500n, at(0))).toBe(4_992_500n + 9_000_000n)
    expect(refundOfPeriods(periods, 7_500n, at(719))).toBe(9_000_000n)
    expect(refundOfPeriods(periods, 7_500n, at(720))).toBe(4_992_500n + 4_000_000n)
    expect(refundOfPeriods(periods, 7_500n, at(2160))).toBe(0n)
    expect(refundOfPeriods([], 7_500n, at(0))).toBe(0n)
  })

  test('default: after a change of plan the hours since then are used at the new price', () => {
    const grown = period(0, 720, 6_000_000n, 1_000_000n, 100)
    expect(refundOfPeriods([grown], 7_500n, at(110))).toBe(5_000_000n - 75_000n)
  })
})

describe('upgradeCharge', () => {
  const from = new Date('2026-01-31T12:00:00Z')
  const until = new Date('2026-02-28T12:00:00Z')
  const period = until.getTime() - from.getTime()
  const charge = (oldPrice: bigint, newPrice: bigint, afterMs: number) =>
    upgradeCharge({
      oldPrice,
      newPrice,
      periodFrom: from,
      paidUntil: until,
      at: new Date(from.getTime() + afterMs),
    })

  test.each([
    ['at once', 0, 2_000_000n],
    ['one millisecond in', 1, 2_000_000n],
    ['half through', period / 2, 1_000_000n],
    ['one millisecond before the end', period - 1, 1n],
    ['at the end', period, 0n],
    ['after it', period + HOUR, 0n],
    ['before it', -HOUR, 2_000_000n],
  ])('default: from 3 to 5 USD %s', (_when, afterMs, amount) => {
    expect(charge(3_000_000n, 5_000_000n, afterMs)).toBe(amount)
  })

  const price = fc.bigInt({ min: 1n, max: 10n ** 12n })
  const moment = fc.integer({ min: -period, max: 2 * period })

  test('behavior: never below zero, never above the difference, never more for a later change', () => {
    fc.assert(
      fc.property(price, price, moment, moment, (a, b, first, second) => {
        const now = charge(a, b, Math.min(first, second))
        expect(now).toBeGreaterThanOrEqual(0n)
        expect(now).toBeLessThanOrEqual(b > a ? b - a : 0n)
        expect(charge(a, b, Math.max(first, second))).toBeLessThanOrEqual(now)
      }),
    )
  })

  test('behavior: in two steps at the same moment it costs the same, but for the rounding up of one', () => {
    fc.assert(
      fc.property(fc.tuple(price, price, price), moment, (prices, at) => {
        const [low, middle, high] = prices.toSorted((a, b) => (a < b ? -1 : 1)) as [bigint, bigint, bigint]
        const extra = charge(low, middle, at) + charge(middle, high, at) - charge(low, high, at)
        expect(extra === 0n || extra === 1n).toBe(true)
      }),
    )
  })

  test('behavior: nobody gains by a change and an immediate cancellation', () => {
    const hourlyOf = (monthly: bigint) => (monthly * 3n) / 2_000n + 1n
    fc.assert(
      fc.property(price, price, fc.integer({ min: 0, max: period }), (a, b, at) => {
        const [low, high] = a < b ? [a, b] : [b, a]
        const paid = low + charge(low, high, at)
        const used = usedCost(hourlyOf(low), at, low)
        const refund = refundOnCancel({ price: paid - used, priceHourly: hourlyOf(high), usedMs: 1 })
        expect(refund).toBeGreaterThanOrEqual(0n)
        expect(refund).toBeLessThan(paid)
        // The time that was used before the change stays paid.
        expect(paid - refund).toBeGreaterThanOrEqual(used)
      }),
    )
  })
})

describe('usedCost', () => {
  test.each([
    [0, 0n],
    [1, 1n],
    [HOUR, 7_500n],
    [HOUR / 2, 3_750n],
    [1_000 * HOUR, 5_000_000n],
  ])('default: %i ms at 0.0075 USD per hour, of at most 5 USD', (usedMs, cost) => {
    expect(usedCost(7_500n, usedMs, 5_000_000n)).toBe(cost)
  })
})
