import type { ErrorOptions } from '../../platform/errors.ts'
import type { shownState } from './sandbox-view.ts'

type State = ReturnType<typeof shownState>

const SECONDS = 50

/**
 * The refusal by a state of a sandbox, as the message and the options of `sandbox_not_running`: with what leads on from
 * that state.
 */
export const stateRefusal = (id: string, state: State): [message: string, options: ErrorOptions] => [
  `The sandbox is ${state}`,
  leadOn({ sandbox_id: id }, state),
]

function leadOn(
  sandbox: { sandbox_id: string },
  state: State,
): Required<Pick<ErrorOptions, 'fix' | 'nextSteps'>> {
  const wait = (wanted: string) => ({
    tool: 'get_sandbox',
    why: `Wait until it is ${wanted}`,
    arguments: { ...sandbox, wait: wanted, timeout: SECONDS },
  })
  const resume = { tool: 'resume_sandbox', why: 'Resume it', arguments: sandbox }
  switch (state) {
    case 'paused':
      return { fix: 'Resume it with resume_sandbox, then repeat the call.', nextSteps: [resume] }
    case 'pausing':
      return {
        fix: 'Wait with get_sandbox until it is paused, and resume it with resume_sandbox.',
        nextSteps: [wait('paused'), resume],
      }
    case 'ended':
    case 'failed':
      return {
        fix: 'Make another sandbox with create_sandbox: this one is over.',
        nextSteps: [{ tool: 'create_sandbox', why: 'Make another' }],
      }
    default:
      return {
        fix: 'Wait with get_sandbox until it is running, then repeat the call.',
        nextSteps: [wait('running')],
      }
  }
}
