import { metricRanges } from '@coinrack/contract/metrics.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { levels, outdatedPart, partOf, partsOf, ranges, servedStep } from './levels.ts'

test('default: each range gets some 300 points, from a level that keeps it', () => {
  for (const range of metricRanges) {
    const { level, seconds, stepSeconds } = ranges[range]
    expect(level.keepSeconds).toBeGreaterThanOrEqual(seconds)
    expect(seconds / stepSeconds).toBeGreaterThan(200)
    expect(seconds / stepSeconds).toBeLessThanOrEqual(400)
    expect(servedStep(range, undefined)).toBe(stepSeconds)
  }
})

test.each([
  ['1h', 1, 15],
  ['1h', 20, 30],
  ['24h', 15, 60],
  ['24h', 61, 120],
  ['30d', 60, 3600],
] as const)('behavior: of %s a step of %d s is served as %d s', (range, wanted, served) => {
  expect(servedStep(range, wanted)).toBe(served)
})

test('behavior: levels share no part, and one step is a whole number of finer ones', () => {
  const parts = levels.flatMap(partsOf)
  expect(new Set(parts).size).toBe(parts.length)
  for (const [index, { stepSeconds }] of levels.entries())
    expect(stepSeconds % (levels[index - 1]?.stepSeconds ?? 1)).toBe(0)
})

test('behavior: the part that is emptied holds nothing that is still kept, whatever the time', () => {
  const time = fc.integer({ min: 1_700_000_000, max: 2_300_000_000 })
  fc.assert(
    fc.property(
      time,
      fc.constantFrom(...levels),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (now, level, share) => {
        const kept = now - Math.floor(level.keepSeconds * share)
        expect(partOf(level, kept)).not.toBe(outdatedPart(level, now))
      },
    ),
  )
})
