import type {
  CodeContext,
  CodeResult,
  ReadOptions,
  SandboxChannel,
  SandboxMetrics,
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
    start: async (id, taskId, request) => void (await start(id, taskId, request, {}, {})),

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
        const { taskId, title, isRunning, pid, startedAt } = object(task)
        return {
          taskId: String(taskId),
          title: String(title),
          isRunning: isRunning === true,
          ...(typeof pid === 'number' && { pid }),
          startedAt: new Date(number(startedAt) * 1000),
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
      const names = ['cpuSeconds', 'vcpus', 'memoryUsedBytes', 'memoryTotalBytes', 'diskUsedBytes']
      const known = [...names, 'diskTotalBytes', 'processes'].map((name) => [name, number(head[name])])
      return Object.fromEntries(known) as SandboxMetrics
    },
  }
}

function readingOf({ waitMs = 0, untilEnd = false }: ReadOptions) {
  const wait = Math.min(waitMs, MAX_WAIT_MS)
  return { wanted: { waitMs: wait, untilEnd }, limit: { timeoutMs: ANSWER_MS + wait } }
}

function readOutput({ head, body }: Message): TaskOutput {
  const stdoutBytes = number(head.stdoutBytes)
  const end = head.end ? readEnd(head.end) : undefined
  return {
    stdout: body.subarray(0, stdoutBytes),
    stderr: body.subarray(stdoutBytes),
    from: readOffsets(head.from),
    next: readOffsets(head.next),
    ...(end && { end }),
  }
}

function checkName(name: string): void {
  if (!NAME.test(name)) throw new SandboxError('spec_invalid', `Not a name of a task or context: ${name}`)
}

function readOffsets(value: unknown): TaskOffsets {
  const { stdout, stderr } = object(value)
  return { stdout: number(stdout), stderr: number(stderr) }
}

function readEnd(value: unknown): TaskEnd {
  const { exitCode, signal, timedOut, durationMs, results, error } = object(value)
  const { name, value: said, traceback } = error ? object(error) : {}
  return {
    ...(typeof exitCode === 'number' && { exitCode }),
    ...(typeof signal === 'string' && { signal }),
    timedOut: timedOut === true,
    durationMs: number(durationMs),
    results: list(results).map((result): CodeResult => {
      const { data, isMain } = object(result)
      const forms = Object.entries(object(data)).map(([form, text]) => [form, String(text)])
      return { data: Object.fromEntries(forms), isMain: isMain === true }
    }),
    ...(error !== undefined &&
      error !== null && {
        error: { name: String(name), value: String(said), traceback: String(traceback) },
      }),
  }
}
