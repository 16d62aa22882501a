import type { TaskOffsets, TaskOutput } from '@coinrack/compute/ports/sandbox-channel.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { askSandbox } from './ask-sandbox.ts'
import { shownEnd, textOf, wholeBytes } from './task-output.ts'

const LONGEST_MS = 46_000
const WAIT_MS = 5_000

export const getTask: Handler<'getTask'> = async ({ input, resource, services, stream }) => {
  const { sandbox_id: id, task_id: taskId, stdout, stderr, timeout } = input
  return askSandbox(services, id, resource, async ({ tasks }) => {
    const read = async (from: TaskOffsets, waitMs: number) =>
      shown(taskId, await tasks.read(id, taskId, from, { waitMs }))
    if (!stream) return read({ stdout, stderr }, Math.min(timeout * 1000, LONGEST_MS))
    for (let from = { stdout, stderr }; ; ) {
      const output = await read(from, WAIT_MS)
      from = output.next
      const isHeard =
        (output.stdout === '' || (await stream.emit('stdout', { text: output.stdout, next: from }))) &&
        (output.stderr === '' || (await stream.emit('stderr', { text: output.stderr, next: from })))
      // A caller that hangs up leaves the task running.
      if (!output.running || !isHeard || stream.gone.aborted) return { ...output, stdout: '', stderr: '' }
    }
  })
}

/** Whole characters alone: the rest of one that was cut comes with the next read. */
function shown(taskId: string, { stdout, stderr, from, end }: TaskOutput) {
  const outLength = end ? stdout.length : wholeBytes(stdout)
  const errLength = end ? stderr.length : wholeBytes(stderr)
  return {
    task_id: taskId,
    running: end === undefined,
    stdout: textOf(stdout.subarray(0, outLength)),
    stderr: textOf(stderr.subarray(0, errLength)),
    from,
    next: { stdout: from.stdout + outLength, stderr: from.stderr + errLength },
    exit_code: end?.exitCode ?? null,
    signal: end?.signal ?? null,
    timed_out: end?.timedOut ?? false,
    duration_ms: end?.durationMs ?? null,
    ...shownEnd(end ?? {}),
  }
}
