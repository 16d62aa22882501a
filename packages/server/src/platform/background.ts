import { setTimeout as sleep } from 'node:timers/promises'

const BACKOFF = 2
const LONGEST_PAUSE_MS = 60_000

/**
 * Runs a step again and again until the signal, with a pause between. After a failure the pauses grow, so
 * that something that is down is not asked without end.
 * @param pauses milliseconds after a step; after one that says that it `isIdle`, `idleMs`
 * @param wake hands out a way to end the pause early
 * @returns when the step that ran at the signal is done
 */
export async function repeat(
  signal: AbortSignal,
  { everyMs, idleMs = everyMs }: { everyMs: number; idleMs?: number | undefined },
  step: () => Promise<unknown>,
  onFailure: (error: Error) => void,
  wake?: (now: () => void) => void,
): Promise<void> {
  let pause = everyMs
  let nap = new AbortController()
  wake?.(() => nap.abort())
  while (!signal.aborted) {
    try {
      const report = (await step()) as { isIdle?: boolean } | undefined
      pause = report?.isIdle ? idleMs : everyMs
    } catch (error) {
      onFailure(error as Error)
      pause = Math.min(pause * BACKOFF, LONGEST_PAUSE_MS)
    }
    await sleep(pause, undefined, { signal: AbortSignal.any([signal, nap.signal]) }).catch(() => {})
    nap = new AbortController()
  }
}
