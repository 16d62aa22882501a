import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Cycle, periodsAfter } from './billing.ts'
import { burnPerHour, type Recurring, runsOutAt } from './runway.ts'

const HOUR_MS = 3_600_000
const start = new Date('2026-01-31T12:00:00Z')
const hourly = (price: bigint, next = start): Recurring => ({ cycle: 'hourly', price, anchor: start, next })
const monthly = (price: bigint, next = new Date('2026-02-28T12:00:00Z')): Recurring => ({
  cycle: 'monthly',
  price,
  anchor: start,
  next,
})

test('default: what burns is the hours, and the months over 730 hours, rounded up once', () => {
  expect(burnPerHour([])).toBe(0n)
  expect(burnPerHour([hourly(4_500n), hourly(7_500n)])).toBe(12_000n)
  expect(burnPerHour([monthly(3_000_000n)])).toBe(4_110n)
  expect(burnPerHour([monthly(1n), monthly(1n), hourly(1n)])).toBe(2n)
})

test.each([
  ['nothing to be charged', 0n, [], undefined],
  ['the next month is not covered', 2_999_999n, [monthly(3_000_000n)], '2026-02-28T12:00:00.000Z'],
  ['one month is covered', 3_000_000n, [monthly(3_000_000n)], '2026-03-31T12:00:00.000Z'],
  ['the hour of now is not covered', 0n, [hourly(1n)], '2026-01-31T12:00:00.000Z'],
  ['ten hours are covered', 10n, [hourly(1n)], '2026-01-31T22:00:00.000Z'],
  [
    'the month takes what the hours would have lasted for',
    1_000_000n + 24n * 28n,
    [hourly(1n), monthly(1_000_000n)],
    '2026-02-28T12:00:00.000Z',
  ],
  ['more than a hundred years', 10n ** 12n, [hourly(1n)], undefined],
])('default: %s', (_what, balance, charges, at) => {
  expect(runsOutAt(balance, charges, start)?.toISOString()).toBe(at)
})

test('behavior: what runs burns too, after what is held for it, and beside what is charged', () => {
  const sandbox = { priceHourly: 16_500n, since: start, held: 275n }
  expect(burnPerHour([hourly(4_500n)], [sandbox, sandbox])).toBe(37_500n)
  const at = (balance: bigint, charges: Recurring[] = []) =>
    runsOutAt(balance, charges, start, [sandbox])?.toISOString()
  // 0.0165 USD an hour, beyond the minute that is held.
  expect(at(0n)).toBe('2026-01-31T12:01:00.219Z')
  expect(at(16_500n)).toBe('2026-01-31T13:01:00.219Z')
  expect(at(16_500n, [hourly(16_000n, new Date('2026-01-31T12:30:00Z'))])).toBe('2026-01-31T12:30:00.000Z')
})

test('behavior: it is the moment at which charging one after the other fails', () => {
  const charge = fc.record({
    cycle: fc.constantFrom<Cycle>('monthly', 'hourly'),
    price: fc.bigInt({ min: 1n, max: 5_000n }),
    anchor: fc.date({
      min: new Date('2025-06-01'),
      max: new Date('2026-01-31T11:59:59.999Z'),
      noInvalidDate: true,
    }),
  })
  fc.assert(
    fc.property(
      fc.array(charge, { minLength: 1, maxLength: 5 }),
      fc.bigInt({ min: 0n, max: 200_000n }),
      (all, balance) => {
        const charges = all.map(({ cycle, price, anchor }) => {
          const next = periodsAfter(cycle, anchor, anchor, cycle === 'hourly' ? 6000 : 12).find(
            ({ from }) => from > start,
          )!.from
          return { cycle, price, anchor, next }
        })
        let left = balance
        const due = charges.map((one) => ({ ...one }))
        for (;;) {
          const first = due.reduce((a, b) => (b.next < a.next ? b : a))
          // All charges at the same moment are due.
          const together = due.filter(({ next }) => next.getTime() === first.next.getTime())
          left -= together.reduce((sum, { price }) => sum + price, 0n)
          if (left < 0n) {
            expect(runsOutAt(balance, charges, start)).toEqual(first.next)
            return
          }
          for (const one of together) one.next = periodsAfter(one.cycle, one.anchor, one.next, 1)[0]!.until
          if (first.next.getTime() - start.getTime() > 3000 * HOUR_MS) {
            // It may be never: a small charge is covered for more than a hundred years.
            const at = runsOutAt(balance, charges, start)?.getTime() ?? Number.POSITIVE_INFINITY
            expect(at).toBeGreaterThanOrEqual(Math.min(...due.map(({ next }) => next.getTime())))
            return
          }
        }
      },
    ),
    { numRuns: 50 },
  )
})
