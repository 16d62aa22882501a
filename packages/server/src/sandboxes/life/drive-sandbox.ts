import type { Services } from '../../platform/services.ts'
import { type SandboxRow, sandboxById } from './sandbox-store.ts'
import { stepSandbox } from './step-sandbox.ts'

/** Nothing answers later than 50 s. */
const LONGEST_MS = 45_000

/**
 * Takes the steps that a wish is due, at once: whatever does not come to its end here, the reconciler goes on with.
 * @returns the sandbox as it is when the wish has come true, or nothing is left to do, or the time is over
 */
export async function driveSandbox(
  services: Services,
  id: string,
  reached: (row: SandboxRow) => boolean,
  longestMs = LONGEST_MS,
): Promise<SandboxRow> {
  const end = performance.now() + longestMs
  const driven = (async () => {
    for (;;) {
      const row = await sandboxById(services.db, id)
      if (reached(row) || performance.now() > end) return
      if ((await stepSandbox(services, id)) === 'nothing') return
    }
  })()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, longestMs)
  })
  await Promise.race([driven, late]).finally(() => clearTimeout(timer))
  // An error after the time is over is met by the reconciler as well.
  driven.catch(() => {})
  return sandboxById(services.db, id)
}
