import type {
  CodeContext,
  CodeResult,
  ReadOptions,
  SandboxChannel,
  SandboxSample,
  SandboxTasks,
  TaskEnd,
  TaskInfo,
  TaskOffsets,
  TaskOutput,
  TaskRequest,
} from '../ports/sandbox-channel.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import { isEnvironment } from '../ports/sandbox-spec.ts'
import { list, number, object } from './agent-answer.ts'
import type { AgentSession } from './agent-session.ts'
import { createGuestFiles } from './files.ts'
import type { Message } from './session-frames.ts'

/** The form of the name of a task or context. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/
const MAX_WAIT_MS = 60_000
const ANSWER_MS = 30_000

/** The channel into sandboxes whose agents are reached by links. What agents say is read, never trusted. */
export function createGuestChannel(sessionOf: (id: string) => Promise<AgentSession>): SandboxChannel {
  const ask = async (id: string, op: string, args: object = {}, options = {}) =>
    (await sessionOf(id)).call(op, args, options)

  const start = async (id: string, taskId: string, request: TaskRequest, more: object, options: object) => {
    checkName(taskId)
    if (!isEnvironment(request.env ?? {})) throw new SandboxError('spec_invalid', 'Not an environment')
    const { run, ...rest } = request
    // Code may be long, and needs no quoting.
    const { code, ...how } = 'code' in run ? run : { ...run, code: undefined }
    const args = { taskId, request: { ...rest, run: how }, ...more }
    return ask(id, 'tasks.start', args, { ...options, body: Buffer.from(code ?? '') })
  }

  const tasks: SandboxTasks = {
    async start(id, taskId, request) {
      const { head } = await start(id, taskId, request, {}, {})
      return typeof head.pid === 'number' ? { pid: head.pid } : {}
    },

    async run(id, taskId, request, options = {}) {
      const { wanted, limit } = readingOf(options)
      const read = { from: { stdout: 0, stderr: 0 }, ...wanted }
      return readOutput(await start(id, taskId, request, { read }, limit))
    },

    async read(id, taskId, from, options = {}) {
      const { wanted, limit } = readingOf(options)
      return readOutput(await ask(id, 'tasks.read', { taskId, from, ...wanted }, limit))
    },

    async write(id, taskId, input, { end = false } = {}) {
      // It is answered when the task has read, which may take as long as the task likes.
      await ask(id, 'tasks.write', { taskId, end }, { body: input, timeoutMs: 24 * 3_600_000 })
    },

    async signal(id, taskId, signal) {
      await ask(id, 'tasks.signal', { taskId, signal })
    },

    async resize(id, taskId, size) {
      await ask(id, 'tasks.resize', { taskId, ...size })
    },

    async list(id) {
      const { head } = await ask(id, 'tasks.list')
      return list(head.tasks).map((task): TaskInfo => {
        const { taskId, title, isRunning, pid, startedAt, args, env, cwd, hasTerminal } = object(task)
        return {
          taskId: String(taskId),
          title: String(title),
          isRunning: isRunning === true,
          ...(typeof pid === 'number' && { pid }),
          startedAt: new Date(number(startedAt) * 1000),
          // A sandbox that was paused under an earlier version has that version's agent.
          args: list(args ?? []).map(String),
          env: texts(env ?? {}),
          ...(typeof cwd === 'string' && { cwd }),
          hasTerminal: hasTerminal === true,
        }
      })
    },

    async remove(id, taskId) {
      await ask(id, 'tasks.remove', { taskId })
    },
  }

  return {
    tasks,
    files: createGuestFiles(sessionOf),

    contexts: {
      async create(id, contextId, request) {
        checkName(contextId)
        await ask(id, 'contexts.create', { contextId, ...request })
      },
      async list(id) {
        const { head } = await ask(id, 'contexts.list')
        return list(head.contexts).map((context): CodeContext => {
          const { contextId, language, cwd } = object(context)
          return {
            contextId: String(contextId),
            language: language as CodeContext['language'],
            cwd: String(cwd),
          }
        })
      },
      async restart(id, contextId) {
        await ask(id, 'contexts.restart', { contextId })
      },
      async remove(id, contextId) {
        await ask(id, 'contexts.remove', { contextId })
      },
    },

    async connect(id, port) {
      return (await sessionOf(id)).open('connect', { port })
    },

    async metrics(id) {
      const { head } = await ask(id, 'metrics')
      return numbers(head, [...MEASURED, 'processes'])
    },

    async history(id, { since, until } = {}) {
      const seconds = (at: Date) => at.getTime() / 1000
      const { head } = await ask(id, 'metrics.history', {
        ...(since && { since: seconds(since) }),
        ...(until && { until: seconds(until) }),
      })
      return list(head.samples).map((sample): SandboxSample => {
        const { at, ...said } = object(sample)
        const measured = numbers(said, [...MEASURED, 'cpuPercent', 'memoryCacheBytes'])
        return { ...measured, at: new Date(number(at) * 1000) }
      })
    },
  }
}

const MEASURED = [
  'cpuSeconds',
  'vcpus',
  'memoryUsedBytes',
  'memoryTotalBytes',
  'diskUsedBytes',
  'diskTotalBytes',
] as const

const numbers = <N extends string>(said: Record<string, unknown>, names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, number(said[name])])) as Record<N, number>

const texts = (said: unknown) =>
  Object.fromEntries(Object.entries(object(said)).map(([name, text]) => [name, String(text)]))

function readingOf({ waitMs = 0, untilEnd = false, reader }: ReadOptions) {
  const wait = Math.min(waitMs, MAX_WAIT_MS)
  const wanted = { waitMs: wait, untilEnd, ...(reader !== undefined && { reader }) }
  return { wanted, limit: { timeoutMs: ANSWER_MS + wait } }
}

function readOutput({ head, body }: Message): TaskOutput {
  const stdoutBytes = number(head.stdoutBytes)
  const end = head.end ? readEnd(head.end) : undefined
  return {
    stdout: body.subarray(0, stdoutBytes),
    stderr: body.subarray(stdoutBytes),
    from: readOffsets(head.from),
    next: readOffsets(head.next),
    ...(head.results !== undefined && { results: list(head.results).map(readResult) }),
    ...(end && { end }),
  }
}

function checkName(name: string): void {
  if (!NAME.test(name)) throw new SandboxError('spec_invalid', `Not a name of a task or context: ${name}`)
}

function readOffsets(value: unknown): TaskOffsets {
  const { stdout, stderr, results } = object(value)
  return {
    stdout: number(stdout),
    stderr: number(stderr),
    ...(results !== undefined && { results: number(results) }),
  }
}

function readResult(value: unknown): CodeResult {
  const { data, isMain } = object(value)
  return { data: texts(data), isMain: isMain === true }
}

function readEnd(value: unknown): TaskEnd {
  const { exitCode, signal, timedOut, durationMs, results, error, count } = object(value)
  const { name, value: said, traceback } = error ? object(error) : {}
  return {
    ...(typeof exitCode === 'number' && { exitCode }),
    ...(typeof signal === 'string' && { signal }),
    timedOut: timedOut === true,
    durationMs: number(durationMs),
    results: list(results).map(readResult),
    ...(typeof count === 'number' && { count }),
    ...(error !== undefined &&
      error !== null && {
        error: { name: String(name), value: String(said), traceback: String(traceback) },
      }),
  }
}
