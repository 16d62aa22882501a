import type { Services } from './services.ts'

/**
 * Reads again only what is older than `ms`; until then everybody is answered what was read last, and those who ask
 * while it is being read wait for the same answer. A failure is not kept.
 */
export function atMostEvery<T>(
  ms: number,
  read: (services: Services) => Promise<T>,
): (services: Services) => Promise<T> {
  let kept: { at: number; value: Promise<T> } | undefined
  return (services) => {
    const now = services.clock.now().getTime()
    // The difference has no sign here, so that a clock that is set back does not keep it for longer.
    if (kept && Math.abs(now - kept.at) < ms) return kept.value
    const reading = { at: now, value: read(services) }
    kept = reading
    reading.value.catch(() => {
      if (kept === reading) kept = undefined
    })
    return reading.value
  }
}
