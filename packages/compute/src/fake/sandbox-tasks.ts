import { type ChildProcess, spawn } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import {
  type CodeLanguage,
  type CodeResult,
  OUTPUT_BYTES,
  type SandboxTasks,
  TASKS,
  type TaskEnd,
  type TaskOffsets,
  type TaskRequest,
} from '../ports/sandbox-channel.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import { codeCommand, readReport } from './sandbox-code.ts'

export interface FakeContext {
  language: CodeLanguage
  cwd: string
  /** The code that ran in it, which is run again before the next, without its output. */
  ran: string[]
}

/** A read that waits for the end waits no longer than for so much output. */
const READ_BYTES = 256 * 1024

interface Inside {
  here(id: string): Promise<{ root: string; home: string; env: Record<string, string> }>
  context(id: string, contextId: string): Promise<FakeContext>
}

/** So long a named reader may stay away from a task that is followed. */
const READER_MS = 10_000

interface Task {
  title: string
  request: TaskRequest
  child: ChildProcess
  startedAt: Date
  hasStdin: boolean
  hasTerminal: boolean
  stdout: Output
  stderr: Output
  /** The line that code has not said to its end, beside its outputs. */
  saying: string
  results: CodeResult[]
  error?: TaskEnd['error']
  end?: TaskEnd
  timedOut: boolean
  /** The last read of each reader that it waits for. */
  readers: Map<string, { at: number; offsets: TaskOffsets }>
  wake: (() => void)[]
}

interface Output {
  /** Offset of the first byte that is kept. */
  from: number
  bytes: Buffer
}

export function createFakeTasks({ here, context }: Inside) {
  const all = new Map<string, Map<string, Task>>()
  const alone = oneAtATime()
  const of = (id: string) => {
    const tasks = all.get(id) ?? new Map<string, Task>()
    all.set(id, tasks)
    return tasks
  }
  const known = async (id: string, taskId: string) => {
    await here(id)
    const task = all.get(id)?.get(taskId)
    if (!task) throw new SandboxError('task_unknown', `There is no task ${taskId}`)
    return task
  }

  const start = async (id: string, taskId: string, request: TaskRequest) => {
    const { root, home, env } = await here(id)
    if (of(id).has(taskId)) return
    if (of(id).size >= TASKS) throw new SandboxError('too_many', `More than ${TASKS} tasks`)
    const { run, user = 'user', overflow = 'drop', terminal, stdin = terminal !== undefined } = request
    if (!['user', 'root'].includes(user)) throw new SandboxError('spec_invalid', `There is no user ${user}`)
    const used = 'code' in run && run.context ? await context(id, run.context) : undefined
    const folder = request.cwd ?? used?.cwd
    const cwd = folder === undefined ? home : join(root, folder)
    if (!(await stat(cwd).catch(() => undefined))?.isDirectory())
      throw new SandboxError('spec_invalid', `There is no folder ${folder}`)

    const [program, ...args] = commandOf(run, used, terminal !== undefined)
    const child = spawn(program!, args, {
      cwd,
      env: { PATH: process.env.PATH, HOME: home, USER: user, ROOT: root, ...env, ...request.env },
      stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    })
    const startedAt = new Date()
    const begun = performance.now()
    const empty = () => ({ from: 0, bytes: Buffer.alloc(0) })
    const task: Task = {
      title: titleOf(run),
      request,
      child,
      startedAt,
      hasStdin: stdin,
      hasTerminal: terminal !== undefined,
      stdout: empty(),
      stderr: empty(),
      saying: '',
      results: [],
      timedOut: false,
      readers: new Map(overflow === 'follow' ? [['', { at: begun, offsets: { stdout: 0, stderr: 0 } }]] : []),
      wake: [],
    }
    of(id).set(taskId, task)
    child.stdin?.on('error', () => {})
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]!.on('data', (chunk: Buffer) => {
        task[name].bytes = Buffer.concat([task[name].bytes, chunk])
        if (!isHeld(task)) dropTo(task[name], task[name].from + task[name].bytes.length - OUTPUT_BYTES)
        else if (task[name].bytes.length >= OUTPUT_BYTES) {
          child[name]!.pause()
          if (task.readers.size > 0) setTimeout(() => goOn(task), READER_MS).unref()
        }
        wake(task)
      })
    }
    ;(child.stdio[3] as NodeJS.ReadableStream).on('data', (chunk: Buffer) => hear(task, chunk.toString()))
    const timer =
      request.timeoutMs !== undefined &&
      setTimeout(() => {
        task.timedOut = true
        signalTask(task, 'SIGKILL')
      }, request.timeoutMs)
    if (used && 'code' in run) used.ran.push(run.code)
    child.on('close', (code, signal) => {
      if (timer) clearTimeout(timer)
      task.end = {
        ...(signal === null ? { exitCode: code! } : { signal }),
        timedOut: task.timedOut,
        durationMs: Math.round(performance.now() - begun),
        results: task.results,
        ...(used && { count: used.ran.length }),
        ...(task.error && { error: task.error }),
      }
      wake(task)
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (cause) => {
        of(id).delete(taskId)
        reject(new SandboxError('spec_invalid', cause.message, { cause }))
      })
    })
  }

  const tasks: SandboxTasks = {
    async start(id, taskId, request) {
      await alone(`${id} ${taskId}`, () => start(id, taskId, request))
      return { pid: of(id).get(taskId)!.child.pid! }
    },

    async run(id, taskId, request, options) {
      await tasks.start(id, taskId, request)
      return tasks.read(id, taskId, { stdout: 0, stderr: 0 }, options)
    },

    async read(id, taskId, offsets, { waitMs = 0, untilEnd = false, reader } = {}) {
      const task = await known(id, taskId)
      const { overflow } = task.request
      if (overflow === 'follow' && reader !== undefined) {
        task.readers.delete('')
        task.readers.set(reader, { at: performance.now(), offsets })
      }
      for (const name of ['stdout', 'stderr'] as const)
        if (overflow === 'wait') dropTo(task[name], offsets[name])
      goOn(task)
      const end = (name: 'stdout' | 'stderr') => task[name].from + task[name].bytes.length
      const least = untilEnd ? READ_BYTES : 1
      const hasNews = () =>
        task.end !== undefined ||
        task.results.length > (offsets.results ?? task.results.length) ||
        end('stdout') - offsets.stdout >= least ||
        end('stderr') - offsets.stderr >= least
      for (const latest = performance.now() + waitMs; !hasNews() && performance.now() < latest; ) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, latest - performance.now())
          task.wake.push(() => {
            clearTimeout(timer)
            resolve()
          })
        })
      }
      const partOf = ({ from, bytes }: Output, offset: number) => bytes.subarray(Math.max(offset - from, 0))
      return {
        stdout: partOf(task.stdout, offsets.stdout),
        stderr: partOf(task.stderr, offsets.stderr),
        from: {
          stdout: Math.min(Math.max(offsets.stdout, task.stdout.from), end('stdout')),
          stderr: Math.min(Math.max(offsets.stderr, task.stderr.from), end('stderr')),
        },
        next: {
          stdout: end('stdout'),
          stderr: end('stderr'),
          ...(offsets.results !== undefined && { results: task.results.length }),
        },
        ...(offsets.results !== undefined && { results: task.results.slice(offsets.results) }),
        ...(task.end && { end: task.end }),
      }
    },

    async write(id, taskId, input, { end = false } = {}) {
      const { child, hasStdin, end: hasEnded } = await known(id, taskId)
      if (hasEnded || !hasStdin || child.stdin!.writableEnded)
        throw new SandboxError('task_ended', `Task ${taskId} takes no input`)
      if (input.length > 0 && !child.stdin!.write(input))
        await new Promise<void>((resolve) => {
          child.stdin!.once('drain', resolve)
          child.once('exit', () => resolve())
        })
      if (end) child.stdin!.end()
    },

    async signal(id, taskId, signal) {
      signalTask(await known(id, taskId), signal)
    },

    async resize(id, taskId) {
      const { hasTerminal } = await known(id, taskId)
      if (!hasTerminal) throw new SandboxError('spec_invalid', `Task ${taskId} has no terminal`)
    },

    async list(id) {
      await here(id)
      return [...of(id)].map(([taskId, { title, request, child, startedAt, end }]) => ({
        taskId,
        title,
        isRunning: end === undefined,
        pid: child.pid!,
        startedAt,
        args: argsOf(request.run),
        env: request.env ?? {},
        ...(request.cwd !== undefined && { cwd: request.cwd }),
        hasTerminal: request.terminal !== undefined,
      }))
    },

    async remove(id, taskId) {
      await here(id)
      const task = of(id).get(taskId)
      if (task) signalTask(task, 'SIGKILL')
      of(id).delete(taskId)
    },
  }

  return {
    ...tasks,
    signalAll(id: string, signal: NodeJS.Signals) {
      for (const task of all.get(id)?.values() ?? []) signalTask(task, signal)
    },
    forget: (id: string) => void all.delete(id),
  }
}

function commandOf(
  run: TaskRequest['run'],
  context: FakeContext | undefined,
  hasTerminal: boolean,
): string[] {
  if ('code' in run) {
    if (context && context.language !== run.language)
      throw new SandboxError('context_unknown', `Context ${run.context} is none of ${run.language}`)
    return codeCommand(run, context?.ran ?? [])
  }
  if ('command' in run)
    return hasTerminal ? ['script', '-qec', run.command, '/dev/null'] : ['/bin/bash', '-c', run.command]
  return run.program
}

const argsOf = (run: TaskRequest['run']): string[] =>
  'code' in run ? [] : 'command' in run ? ['/bin/bash', '-c', run.command] : run.program

/** Whether what it writes is kept until it was read. */
const isHeld = ({ request, readers }: Task) => request.overflow === 'wait' || readers.size > 0

/** Drops what all readers have, forgets those that stay away, and lets the task write on where there is room. */
function goOn(task: Task): void {
  for (const [name, { at }] of task.readers) if (performance.now() - at > READER_MS) task.readers.delete(name)
  for (const name of ['stdout', 'stderr'] as const) {
    const read = [...task.readers.values()].map(({ offsets }) => offsets[name])
    if (read.length > 0) dropTo(task[name], Math.min(...read))
    if (!isHeld(task) || task[name].bytes.length < OUTPUT_BYTES) task.child[name]!.resume()
  }
}

function hear(task: Task, text: string): void {
  const lines = (task.saying + text).split('\n')
  task.saying = lines.pop()!
  for (const { result, error } of lines.map(readReport)) {
    if (result) task.results.push(result)
    if (error) task.error = error
  }
  wake(task)
}

const titleOf = (run: TaskRequest['run']) =>
  'code' in run ? run.language : 'command' in run ? run.command : run.program.join(' ')

function signalTask({ child, end }: Task, signal: NodeJS.Signals): void {
  if (end || child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function dropTo(output: Output, offset: number): void {
  const by = Math.min(offset - output.from, output.bytes.length)
  if (by <= 0) return
  output.bytes = output.bytes.subarray(by)
  output.from += by
}

function wake(task: Task): void {
  for (const waiting of task.wake.splice(0)) waiting()
}
