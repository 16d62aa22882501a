import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { coveredMs, dueOf, HELD_MS, type Meter, meteredCost, settle } from './meter.ts'
import { changeOf, entriesOf } from './posting.ts'

const MICRO = 16_500n
const meter = (change: Partial<Meter> = {}): Meter => ({
  priceHourly: MICRO,
  ranMs: 0,
  settled: 0n,
  runs: true,
  ...change,
})

describe('meteredCost', () => {
  test.each([
    [0, 0n],
    [999, 4n],
    [1_000, 4n],
    [60_000, 275n],
    [3_600_000, 16_500n],
    [365 * 24 * 3_600_000, 144_540_000n],
  ])('default: %i ms of 0.0165 USD an hour are %i micro-USD', (ms, cost) => {
    expect(meteredCost(MICRO, ms)).toBe(cost)
  })

  test('behavior: settled at whatever moments, the sum is that of the whole time', () => {
    const prices = fc.bigInt({ min: 1n, max: 10_000_000n })
    const steps = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 50 })
    fc.assert(
      fc.property(prices, steps, (priceHourly, times) => {
        let [ranMs, settled] = [0, 0n]
        for (const ms of times) {
          ranMs += ms
          settled += dueOf(meter({ priceHourly, ranMs, settled }))
        }
        expect(settled).toBe(meteredCost(priceHourly, ranMs))
        // Never more than what ran, and less than one micro-USD below it.
        expect(settled * 3_600_000n).toBeLessThanOrEqual(priceHourly * BigInt(ranMs))
        expect((settled + 1n) * 3_600_000n).toBeGreaterThan(priceHourly * BigInt(ranMs))
      }),
    )
  })
})

describe('coveredMs', () => {
  test('default: a minute when the money is enough, else the last millisecond that is paid', () => {
    expect(coveredMs([meter()], 275n)).toBe(HELD_MS)
    expect(coveredMs([meter(), meter()], 275n)).toBe(30_109)
    expect(coveredMs([meter()], 0n)).toBe(218)
    expect(coveredMs([], 0n)).toBe(HELD_MS)
  })
})

describe('settle', () => {
  test('default: charges what ran from the hold, and holds the next minute', () => {
    const { meters, coveredMs, postings } = settle([meter({ ranMs: 30_000 })], 1_000_000n, 275n)
    expect(meters).toEqual([{ charged: 137n, waived: 0n, held: 275n }])
    expect(coveredMs).toBe(HELD_MS)
    expect(postings).toEqual([
      { from: 'customer.held', to: 'revenue.sandbox', amount: 137n },
      { from: 'customer.available', to: 'customer.held', amount: 137n },
    ])
  })

  test('behavior: what no longer runs gives its hold back', () => {
    const { meters, postings } = settle([meter({ ranMs: 30_000, runs: false })], 0n, 275n)
    expect(meters).toEqual([{ charged: 137n, waived: 0n, held: 0n }])
    expect(postings.at(-1)).toEqual({ from: 'customer.held', to: 'customer.available', amount: 138n })
  })

  test('behavior: of what ran without money, as much is charged as there is', () => {
    const late = meter({ ranMs: 600_000 })
    const { meters, coveredMs, postings } = settle([late, meter({ runs: false })], 10n, 275n)
    expect(meters[0]).toEqual({ charged: 285n, waived: 2_465n, held: 0n })
    expect(coveredMs).toBeLessThan(1_000)
    expect(changeOf('customer.available', entriesOf(postings))).toBe(-10n)
  })

  test('behavior: nothing is posted when nothing changed', () => {
    expect(settle([meter()], 500n, 275n).postings).toEqual([])
  })

  test('behavior: whatever comes in, no money is made, lost or taken that is not there', () => {
    const anyMeter = fc
      .record({
        priceHourly: fc.bigInt({ min: 1n, max: 1_000_000n }),
        ranMs: fc.integer({ min: 0, max: 10_000_000 }),
        before: fc.integer({ min: 0, max: 10_000_000 }),
        runs: fc.boolean(),
      })
      .map(({ before, ...rest }) => ({
        ...rest,
        settled: meteredCost(rest.priceHourly, Math.min(before, rest.ranMs)),
      }))
    const money = fc.bigInt({ min: 0n, max: 100_000n })
    fc.assert(
      fc.property(fc.array(anyMeter, { maxLength: 6 }), money, money, (meters, available, held) => {
        const { meters: settled, postings, coveredMs } = settle(meters, available, held)
        const entries = entriesOf(postings)
        const charged = settled.reduce((sum, each) => sum + each.charged, 0n)
        const heldNow = settled.reduce((sum, each) => sum + each.held, 0n)
        expect(changeOf('revenue.sandbox', entries)).toBe(charged)
        expect(changeOf('customer.held', entries)).toBe(heldNow - held)
        const left = available + changeOf('customer.available', entries)
        expect(left).toBeGreaterThanOrEqual(0n)
        for (const [index, each] of settled.entries())
          expect(each.charged + each.waived).toBe(dueOf(meters[index]!))
        // Waived is only what there was nothing for, and short of a minute nothing is left for a millisecond more.
        if (settled.some(({ waived }) => waived > 0n)) expect(left + heldNow).toBe(0n)
        const more = meters.reduce(
          (sum, { priceHourly, ranMs, runs }) =>
            runs
              ? sum + meteredCost(priceHourly, ranMs + coveredMs + 1) - meteredCost(priceHourly, ranMs)
              : sum,
          0n,
        )
        if (coveredMs < HELD_MS) expect(left + heldNow).toBeLessThan(more)
      }),
    )
  })
})
