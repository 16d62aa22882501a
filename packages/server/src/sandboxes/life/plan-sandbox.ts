import type { SandboxObservation } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { SandboxRow } from './sandbox-store.ts'

/** The next thing to do about a sandbox. */
export type Step = 'make' | 'end' | 'lose' | 'pause' | 'resume' | 'apply_network' | 'nothing'

type Wish = Pick<SandboxRow, 'state' | 'wanted' | 'wanted_network' | 'done_network' | 'gone_at'>

/**
 * Says what to do next, from what is wanted and what the runtime saw. Pure; asked again after each step, and after a
 * step that was cut short it says the same again.
 * @param seen undefined when the runtime does not have it
 */
export function planSandbox(row: Wish, seen: SandboxObservation | undefined): Step {
  if (row.gone_at) return 'nothing'
  if (row.wanted === 'ended') return 'end'
  if (row.state === 'starting') return seen?.state === 'ended' ? 'lose' : 'make'
  if (!seen || seen.state === 'ended') return 'lose'
  if (row.wanted === 'paused') return row.state === 'paused' && seen.state === 'paused' ? 'nothing' : 'pause'
  if (row.state === 'paused' || seen.state === 'paused') return 'resume'
  return row.done_network < row.wanted_network ? 'apply_network' : 'nothing'
}
