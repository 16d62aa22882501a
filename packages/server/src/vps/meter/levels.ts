import type { metricRanges } from '@coinrack/contract/metrics.ts'

/** A resolution, and for how long it is kept at least. */
export interface Level {
  index: number
  stepSeconds: number
  keepSeconds: number
}

const HOUR = 3_600
const DAY = 24 * HOUR

/** From fine and short to coarse and long; each is made from the one before. */
export const levels: Level[] = [
  { stepSeconds: 15, keepSeconds: HOUR },
  { stepSeconds: 60, keepSeconds: DAY },
  { stepSeconds: 600, keepSeconds: 7 * DAY },
  { stepSeconds: HOUR, keepSeconds: 30 * DAY },
].map((level, index) => ({ index, ...level }))

type Range = (typeof metricRanges)[number]

/** For each range: its level, its length in seconds, and a step that makes some 300 points of it. */
export const ranges: Record<Range, { level: Level; seconds: number; stepSeconds: number }> = {
  '1h': { level: levels[0]!, seconds: HOUR, stepSeconds: 15 },
  '24h': { level: levels[1]!, seconds: DAY, stepSeconds: 300 },
  '7d': { level: levels[2]!, seconds: 7 * DAY, stepSeconds: 1_800 },
  '30d': { level: levels[3]!, seconds: 30 * DAY, stepSeconds: 2 * HOUR },
}

/** The step that is served when one is asked for: a multiple of what is kept, and not finer. */
export function servedStep(range: Range, wanted: number | undefined): number {
  const { level, stepSeconds } = ranges[range]
  return Math.ceil((wanted ?? stepSeconds) / level.stepSeconds) * level.stepSeconds
}

/** The parts of each level: one is being filled, two are kept whole, one is empty. */
const PARTS = 4

const slotOf = ({ keepSeconds }: Level, at: number) => Math.floor(at / (keepSeconds / 2)) % PARTS

/** The part of the table that holds a time, in unix seconds. */
export const partOf = (level: Level, at: number) => level.index * PARTS + slotOf(level, at)

/** All parts of a level. */
export const partsOf = (level: Level) =>
  Array.from({ length: PARTS }, (_, slot) => level.index * PARTS + slot)

/** The part that is filled after this one: whatever it holds is older than what is kept. */
export const outdatedPart = (level: Level, now: number) => partOf(level, now + level.keepSeconds / 2)
