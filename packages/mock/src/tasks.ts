import type { Operations } from '@coinrack/contract/index.ts'
import type { Output } from '@coinrack/contract/operation.ts'
import { type Program, type Programs, pieces, type Run } from './programs.ts'
import { Refusal } from './refusal.ts'
import type { MockSandbox, MockTask, State } from './state.ts'

type Ended = Output<Operations['runCode']>

/** Runs a program to its end. */
export function runProgram(
  state: State,
  programs: Programs,
  run: Run,
  timeout = 30,
): Ended & { program: Program } {
  const program = programs(run) ?? {}
  const seconds = program.seconds ?? 0
  const timed_out = seconds > timeout
  state.pass(Math.min(seconds, timeout) * 1000)
  return {
    ...{ program, stdout: pieces(program.stdout).join(''), stderr: pieces(program.stderr).join('') },
    ...{
      exit_code: timed_out ? null : (program.exit_code ?? (program.error ? 1 : 0)),
      timed_out,
      truncated: false,
    },
    ...{ duration_ms: Math.min(seconds, timeout) * 1000, task_id: null },
    ...{ results: program.results ?? [], error: program.error ?? null },
  }
}

/** Begins a program in the background: it has ended at once, unless it waits for input. */
export function beginTask(state: State, sandbox: MockSandbox, programs: Programs, run: Run): MockTask {
  const ended = runProgram(state, programs, run, Number.POSITIVE_INFINITY)
  const task: MockTask = {
    ...{ id: state.id('task'), title: run.text, startedAt: state.now(), program: ended.program },
    ...{ stdout: ended.stdout, stderr: ended.stderr, wake: new Set() },
    end: ended.program.onInput ? undefined : { exit_code: ended.exit_code, signal: null },
  }
  sandbox.tasks.set(task.id, task)
  return task
}

/** @throws Refusal `not_found` */
export function demandTask(sandbox: MockSandbox, id: string): MockTask {
  const task = sandbox.tasks.get(id)
  if (!task) throw new Refusal('not_found', `There is no task ${id}`)
  return task
}

/** @throws Refusal `task_ended` */
export function typeInto(task: MockTask, text: string, end: boolean): void {
  if (task.end) throw new Refusal('task_ended', `The task ${task.id} has ended`)
  const more = text === '' ? '' : task.program.onInput!(text)
  task.stdout += more ?? ''
  if (more === undefined || end) task.end = { exit_code: task.program.exit_code ?? 0, signal: null }
  wake(task)
}

export function killTask(task: MockTask, signal: string): void {
  task.end ??= { exit_code: null, signal }
  wake(task)
}

function wake(task: MockTask): void {
  for (const each of task.wake) each()
  task.wake.clear()
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** What a task wrote, from these offsets on. */
export function readTask(
  task: MockTask,
  { stdout: outFrom, stderr: errFrom }: { stdout: number; stderr: number },
): Output<Operations['getTask']> {
  const from = { stdout: outFrom, stderr: errFrom }
  const [stdout, stderr] = [bytesOf(task.stdout), bytesOf(task.stderr)]
  const textFrom = (bytes: Uint8Array, offset: number) => new TextDecoder().decode(bytes.subarray(offset))
  return {
    ...{ task_id: task.id, running: task.end === undefined },
    ...{ stdout: textFrom(stdout, from.stdout), stderr: textFrom(stderr, from.stderr) },
    ...{ from, next: { stdout: stdout.length, stderr: stderr.length } },
    ...{ exit_code: task.end?.exit_code ?? null, signal: task.end?.signal ?? null, timed_out: false },
    ...{
      duration_ms: task.end ? 0 : null,
      results: (task.end && task.program.results) ?? [],
      error: (task.end && task.program.error) ?? null,
    },
  }
}

/** Resolves when it writes or ends. */
export const somethingOf = (task: MockTask) => new Promise<void>((resolve) => task.wake.add(resolve))
