import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { refundOnCancel, runway } from './price.ts'

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

describe('runway', () => {
  test.each([
    [1_000_000n, 1_000_000n, HOUR],
    [500_000n, 1_000_000n, HOUR / 2],
    [0n, 1n, 0],
    [1n, 7n, Math.floor(HOUR / 7)],
  ])('default: %s micro-USD at %s per hour last %i ms', (balance, burn, milliseconds) => {
    expect(runway(balance, burn)).toBe(milliseconds)
  })

  test('behavior: for ever when nothing burns', () => {
    expect(runway(1n, 0n)).toBeUndefined()
  })
})
