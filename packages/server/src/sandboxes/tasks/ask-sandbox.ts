import type { SandboxChannel } from '@coinrack/compute/ports/sandbox-channel.ts'
import { SandboxError, type SandboxErrorCode } from '@coinrack/compute/ports/sandbox-runtime.ts'
import type { ErrorCode } from '@coinrack/contract/errors.ts'
import type { NextStep } from '@coinrack/contract/wire.ts'
import type { SandboxUse } from '../../dispatch/read-models.ts'
import { OperationError } from '../../platform/errors.ts'
import { demandSandboxes, sandboxHostOf } from '../../platform/sandbox-host.ts'
import type { Services } from '../../platform/services.ts'
import { touchSandbox } from '../life/sandbox-store.ts'
import { shownState } from '../life/sandbox-view.ts'
import { stateRefusal } from '../life/state-refusal.ts'

/** The error code that the caller is told for an error of the inside. */
const told: Partial<Record<SandboxErrorCode, ErrorCode>> = {
  sandbox_unknown: 'sandbox_not_running',
  sandbox_paused: 'sandbox_not_running',
  sandbox_ended: 'sandbox_not_running',
  guest_failed: 'sandbox_unreachable',
  host_unreachable: 'sandbox_unreachable',
  spec_invalid: 'task_refused',
  file_refused: 'file_refused',
  file_unknown: 'file_not_found',
  task_unknown: 'not_found',
  task_ended: 'task_ended',
  context_unknown: 'unknown_context',
  language_unknown: 'unknown_language',
  port_refused: 'port_refused',
  too_many: 'sandbox_limit',
}

/** Uses closer together are one. */
const USE_MS = 1_000
const STILL_USED_MS = 10_000

/**
 * Does something inside a sandbox that runs, which counts as use of it until it is done.
 * @throws OperationError `sandboxes_unavailable`, `sandbox_not_running`, `sandbox_unreachable`, and those of the work
 */
export async function askSandbox<T>(
  services: Services,
  id: string,
  row: SandboxUse,
  work: (channel: SandboxChannel) => Promise<T>,
): Promise<T> {
  demandSandboxes(services)
  const state = shownState(row)
  if (state !== 'running') throw new OperationError('sandbox_not_running', ...stateRefusal(id, state))
  const { channel } = sandboxHostOf(services, row)
  try {
    return await whileUsed(services, id, row, () => work(channel))
  } catch (error) {
    throw inWords(error, id)
  }
}

/** An error from inside a sandbox, as the contract says it; any other error stays what it is. */
export function inWords(error: unknown, id: string): unknown {
  if (!(error instanceof SandboxError)) return error
  const code = told[error.code]
  if (!code) return error
  const nextSteps = code in leadOn ? leadOn[code]!(id) : undefined
  return new OperationError(code, error.message, { ...(nextSteps && { nextSteps }) })
}

/** The next steps after an error of the inside. */
const leadOn: Partial<Record<ErrorCode, (id: string) => NextStep[]>> = {
  sandbox_not_running: (id) => [
    { tool: 'get_sandbox', why: 'See in which state it is', arguments: { sandbox_id: id } },
  ],
  sandbox_unreachable: (id) => [
    { tool: 'kill_sandbox', why: 'End it when it stays so', arguments: { sandbox_id: id } },
    { tool: 'create_sandbox', why: 'And make another' },
  ],
  file_not_found: (id) => [
    {
      tool: 'list_files',
      why: 'See what is in its home folder, or give it the path of another',
      arguments: { sandbox_id: id },
    },
  ],
  file_refused: (id) => [
    { tool: 'list_files', why: 'See what is in its home folder', arguments: { sandbox_id: id } },
  ],
  unknown_context: (id) => [
    {
      tool: 'run_code',
      why: 'Run it in the context that there is for its language, or in a new one',
      arguments: { sandbox_id: id, language: 'python', context: 'python' },
    },
  ],
  not_found: (id) => [
    { tool: 'list_tasks', why: 'See the tasks that there are', arguments: { sandbox_id: id } },
  ],
  task_ended: (id) => [{ tool: 'list_tasks', why: 'See which tasks run', arguments: { sandbox_id: id } }],
  sandbox_limit: (id) => [
    { tool: 'list_tasks', why: 'See which task can be ended', arguments: { sandbox_id: id } },
  ],
}

async function whileUsed<T>(
  services: Services,
  id: string,
  { idle_s, idle_at }: SandboxUse,
  work: () => Promise<T>,
): Promise<T> {
  const { db, clock } = services
  const touch = () => touchSandbox(db, id, clock.now())
  if (idle_at === null) return work()
  const begun = clock.now().getTime()
  const lastUse = Date.parse(idle_at) - idle_s * 1000
  if (begun - lastUse >= USE_MS) await touch()
  const timer = setInterval(() => void touch().catch(() => {}), STILL_USED_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    if (clock.now().getTime() - begun >= USE_MS) await touch()
  }
}
