import type { CodeResult, SandboxChannel, TaskOutput } from '@coinrack/compute/ports/sandbox-channel.ts'
import type { Handler, OutputStream } from '../../dispatch/handler.ts'
import { fitOutputs, outputLimit } from '../../platform/fit-output.ts'
import { textOf, wholeBytes } from '../../platform/text-bytes.ts'
import { askSandbox } from './ask-sandbox.ts'
import { besideResults, fitResults, keepIn, orNone } from './fit-answer.ts'
import { shownResult } from './task-output.ts'

const LONGEST_MS = 46_000
const WAIT_MS = 5_000

export const getTask: Handler<'getTask'> = async ({ input, resource, services, stream, asTool }) => {
  const { sandbox_id: id, task_id: taskId, stdout, stderr, results, timeout, max_output } = input
  return askSandbox(services, id, resource, async (channel) => {
    const most = stream ? undefined : outputLimit(asTool, max_output)
    const show = (read: TaskOutput) => shown(channel, { id, taskId }, read, most)
    if (!stream) {
      const waitMs = Math.min(timeout * 1000, LONGEST_MS)
      return show(await channel.tasks.read(id, taskId, { stdout, stderr }, { waitMs }))
    }
    for (let from = { stdout, stderr, results }; ; ) {
      const read = await channel.tasks.read(id, taskId, from, { waitMs: WAIT_MS })
      const output = await show(read)
      const told = { ...output.next, results: from.results }
      const isHeard =
        (output.stdout === '' || (await stream.emit('stdout', { text: output.stdout, next: told }))) &&
        (output.stderr === '' || (await stream.emit('stderr', { text: output.stderr, next: told }))) &&
        (await tellResults(stream, read.results ?? [], told))
      from = { ...output.next, results: read.next.results ?? from.results }
      // A caller that hangs up leaves the task running.
      if (!output.running || !isHeard || stream.gone.aborted) return { ...output, stdout: '', stderr: '' }
    }
  })
}

/** Each with where to read on after it. @returns whether the stream takes more */
async function tellResults(
  { emit }: OutputStream,
  made: CodeResult[],
  from: { stdout: number; stderr: number; results: number },
): Promise<boolean> {
  for (const [index, result] of made.entries()) {
    const next = { ...from, results: from.results + index + 1 }
    if (!(await emit('result', { ...shownResult(result), next }))) return false
  }
  return true
}

/** Whole characters alone, and as much as fits: the rest comes with the next read. */
async function shown(
  channel: SandboxChannel,
  { id, taskId }: { id: string; taskId: string },
  { stdout, stderr, from, end }: TaskOutput,
  most: number | undefined,
) {
  const there = {
    stdout: end ? stdout.length : wholeBytes(stdout),
    stderr: end ? stderr.length : wholeBytes(stderr),
  }
  const whole = { stdout: stdout.subarray(0, there.stdout), stderr: stderr.subarray(0, there.stderr) }
  const fits = most === undefined ? there : fitOutputs(whole, besideResults(end ?? {}, most)!)
  const cut = (['stdout', 'stderr'] as const).flatMap((part) =>
    fits[part] < there[part] ? [{ part, bytes: there[part], shown: fits[part], path: null }] : [],
  )
  const { cut: cutResults, ...result } = await fitResults(end ?? {}, most, keepIn(channel, id, taskId))
  return {
    task_id: taskId,
    running: end === undefined,
    stdout: textOf(whole.stdout.subarray(0, fits.stdout)),
    stderr: textOf(whole.stderr.subarray(0, fits.stderr)),
    from,
    next: { stdout: from.stdout + fits.stdout, stderr: from.stderr + fits.stderr },
    exit_code: end?.exitCode ?? null,
    signal: end?.signal ?? null,
    timed_out: end?.timedOut ?? false,
    duration_ms: end?.durationMs ?? null,
    ...result,
    ...orNone([...cut, ...cutResults]),
  }
}
