import type { Random } from '../../platform/services.ts'

const MINUTE_S = 60
const HOUR_S = 3_600
/** After each attempt that failed, but the last. */
const PAUSES_S = [5, MINUTE_S, 5 * MINUTE_S, 30 * MINUTE_S, 2 * HOUR_S, 5 * HOUR_S, 10 * HOUR_S, 14 * HOUR_S]
const JITTER = 0.2

/** After so many attempts a delivery is dead. */
export const MOST_ATTEMPTS = PAUSES_S.length + 1

/**
 * Milliseconds until the next attempt, a fifth more or less, so that receivers that failed together are not asked
 * together again.
 * @param attempts that failed so far
 * @returns undefined when that was the last one
 */
export function retryPause(attempts: number, random: Random): number | undefined {
  const seconds = PAUSES_S[attempts - 1]
  if (seconds === undefined) return undefined
  const chance = Buffer.from(random.bytes(4)).readUInt32BE() / 2 ** 32
  return Math.round(seconds * 1000 * (1 - JITTER + 2 * JITTER * chance))
}
