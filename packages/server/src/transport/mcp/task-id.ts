import { type OperationName, operations } from '@coinrack/contract/index.ts'
import type { Sealer } from '../../platform/sealer.ts'

/**
 * A call that is answered later. All that is needed to answer it stands in its identifier, sealed, and what it waits for is
 * in the database or in the sandbox: so any replica answers, and none remembers anything.
 */
export interface TaskedCall {
  name: OperationName
  /** The input of the call, without secrets and code. */
  input: Record<string, unknown>
  /** The resource that it is about, to which the caller has to have the right at every look. */
  resourceId: string
  /** The task in the sandbox, where the call runs something. */
  run?: string
  /** Milliseconds since 1970. */
  createdAt: number
  ttlMs: number
}

/** Only the replica that has the sandboxes can look after a run, so that others can tell one without the key. */
const KINDS = { run: 'run_', wait: 'wait_' } as const
const CONTEXT = 'mcp-task:'

/** The identifier of the task: it cannot be guessed, read or changed, and alone it opens nothing. */
export function taskId(sealer: Sealer, call: TaskedCall): string {
  const kind = KINDS[call.run === undefined ? 'wait' : 'run']
  return kind + sealer.seal(JSON.stringify(call), CONTEXT + kind).toString('base64url')
}

/** @returns undefined for what is no identifier of a task of this service */
export function readTaskId(sealer: Sealer, id: string): TaskedCall | undefined {
  const kind = Object.values(KINDS).find((prefix) => id.startsWith(prefix))
  if (!kind) return undefined
  try {
    const call = JSON.parse(sealer.open(Buffer.from(id.slice(kind.length), 'base64url'), CONTEXT + kind))
    return call.name in operations ? call : undefined
  } catch {
    return undefined
  }
}

/** Whether a message is about a task that runs in a sandbox. */
export const isRun = (id: unknown): boolean => String(id).startsWith(KINDS.run)
