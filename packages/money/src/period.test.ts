import fc from 'fast-check'
import { expect, test } from 'vitest'
import { monthsAfter } from './period.ts'

const day = (text: string) => new Date(`${text}T09:30:15.123Z`)

test.each([
  ['2026-01-15', 1, '2026-02-15'],
  ['2026-01-31', 1, '2026-02-28'],
  ['2026-01-31', 2, '2026-03-31'],
  ['2026-01-31', 3, '2026-04-30'],
  ['2026-01-30', 1, '2026-02-28'],
  ['2026-01-29', 1, '2026-02-28'],
  ['2026-01-28', 1, '2026-02-28'],
  ['2028-01-31', 1, '2028-02-29'],
  ['2028-02-29', 1, '2028-03-29'],
  ['2028-02-29', 12, '2029-02-28'],
  ['2028-02-29', 48, '2032-02-29'],
  ['2100-01-29', 1, '2100-02-28'],
  ['2026-12-31', 1, '2027-01-31'],
  ['2026-08-31', 1, '2026-09-30'],
  ['2026-03-31', 0, '2026-03-31'],
])('default: %s and %i months is %s, at the same time of day', (from, months, to) => {
  expect(monthsAfter(day(from), months)).toEqual(day(to))
})

test('behavior: the anchor is not changed', () => {
  const anchor = day('2026-01-31')
  monthsAfter(anchor, 1)
  expect(anchor).toEqual(day('2026-01-31'))
})

test('behavior: periods follow each other without a gap, each 28 to 31 days long', () => {
  const anyDay = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(anyDay, fc.integer({ min: 0, max: 600 }), (anchor, months) => {
      const days =
        (monthsAfter(anchor, months + 1).getTime() - monthsAfter(anchor, months).getTime()) / 86_400_000
      expect([28, 29, 30, 31]).toContain(days)
    }),
  )
})

test('behavior: it is the day of the anchor, or the last of a shorter month', () => {
  const anyDay = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(anyDay, fc.integer({ min: 0, max: 600 }), (anchor, months) => {
      const end = monthsAfter(anchor, months)
      const nextDay = new Date(end.getTime() + 86_400_000)
      const isLast = nextDay.getUTCDate() === 1
      expect(
        end.getUTCDate() === anchor.getUTCDate() || (isLast && end.getUTCDate() < anchor.getUTCDate()),
      ).toBe(true)
    }),
  )
})
