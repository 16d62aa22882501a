import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import type { CallOptions, Client } from './client.ts'
import type { CodeListeners, Wire } from './sandbox-wire.ts'

type Ended = Output<Operations['getTask']>
type Signal = NonNullable<NonNullable<Parameters<Client['killTask']>[0]>['signal']>

/** The size of a terminal, in characters. */
export interface TerminalSize {
  columns: number
  rows: number
}

/** A command or code in the background: it goes on without a reader. */
export interface SandboxTask {
  id: string
  /** Reads on from these offsets; nothing is lost between reads. */
  read(from?: { stdout?: number; stderr?: number; timeout?: number }, call?: CallOptions): Promise<Ended>
  /**
   * Follows it to its end, also over connections that break. @returns how it ended, with the first MiB of each output;
   * of what was written before, the oldest beyond 1 MiB is gone. `onResult` is told of every result, also of those before this.
   */
  wait(options?: CodeListeners & { signal?: AbortSignal }): Promise<Ended>
  /** Types into it; with `end` its input is closed. */
  write(input: string, options?: CallOptions & { end?: boolean }): Promise<void>
  /** Gives its terminal another size. */
  resize(size: TerminalSize, call?: CallOptions): Promise<void>
  kill(signal?: Signal, call?: CallOptions): Promise<void>
}

/** @returns a task of a sandbox, by its id */
export function createTask(client: Client, wire: Wire, sandboxId: string, taskId: string): SandboxTask {
  const task = { sandbox_id: sandboxId, task_id: taskId }
  return {
    id: taskId,
    read: (from = {}, call) => client.getTask({ ...task, ...from }, call),
    wait: ({ signal, ...listeners } = {}) => wire.task(taskId, listeners, signal),
    write: async (input, { end = false, ...call } = {}) =>
      void (await client.sendInput({ ...task, input, end }, call)),
    resize: async (terminal, call) => void (await client.sendInput({ ...task, terminal }, call)),
    kill: async (signal = 'SIGKILL', call) => void (await client.killTask({ ...task, signal }, call)),
  }
}

/** What a program is asked: text at once, or piece by piece while it runs. */
export type Stdin = string | AsyncIterable<string> | Iterable<string>

/** Types all of it into a task, and closes its input. A task that has ended wants no more. */
export async function typeInto(task: SandboxTask, stdin: Stdin, call: CallOptions): Promise<void> {
  try {
    for await (const piece of typeof stdin === 'string' ? [stdin] : stdin)
      for (const part of partsOf(piece)) await task.write(part, call)
    await task.write('', { ...call, end: true })
  } catch (error) {
    passOverEnd(error)
  }
}

/** A task that has ended cannot be typed into, which is no failure of its own. */
export function passOverEnd(error: unknown): void {
  if ((error as { code?: string }).code !== 'task_ended') throw error
}

/** What one call carries, in characters. */
const PART_CHARACTERS = 65_536

function* partsOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + PART_CHARACTERS, text.length)
    // A character of two halves stays whole.
    if (end < text.length && /[\ud800-\udbff]/.test(text[end - 1]!)) end--
    yield text.slice(at, end)
    at = end
  }
}
