import type {
  SandboxChannel,
  TaskEnd,
  TaskInfo,
  TaskOffsets,
  TaskRequest,
} from '@coinrack/compute/ports/sandbox-channel.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { OperationError } from '../../platform/errors.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'
import { type Entered, type InsideWorld, userOf } from './enter.ts'
import { NotServed, type Refusal, Refused } from './refusals.ts'
import { type MessageSink, serveStream, serveUnary } from './remote-calls.ts'
import { Connect, SendInput, SendSignal, Start, Update } from './shapes.ts'

const WAIT_MS = 5_000
const KEEPALIVE = { event: { keepalive: {} } }
/** Later than anything that a program has written: a read from there on begins at its end. */
const NOW = Number.MAX_SAFE_INTEGER
const TOO_LONG: Refusal = {
  status: 504,
  message: 'The program ran longer than its timeout, and was ended',
  rpcCode: 'deadline_exceeded',
  headers: {},
}
const path = (name: string) => `/process.Process/${name}`

/** What E2B's clients ask of the programs of a sandbox. A client that hangs up leaves its program running. */
export function registerProcesses(scope: FastifyInstance, world: InsideWorld): void {
  const { services } = world
  const follow = createFollowing(world)
  const inside = <T>({ id, row }: Entered, work: (channel: SandboxChannel) => Promise<T>) =>
    askSandbox(services, id, row, work)
  /** Does something with a program that runs. */
  const withTask = (
    sandbox: Entered,
    selected: Selected,
    work: (channel: SandboxChannel, task: TaskInfo) => Promise<void>,
  ) =>
    inside(sandbox, async (channel) => {
      await work(channel, await findTask(channel, sandbox.id, selected))
      return {}
    })

  serveStream(scope, world, [path('Start'), Start, KEEPALIVE], (sandbox, asked, sink) =>
    inside(sandbox, async (channel) => {
      const taskId = services.newId('task')
      const { pid = 0 } = await channel.tasks.start(sandbox.id, taskId, taskOf(asked, sink.request))
      await sink.send({ event: { start: { pid } } })
      const task = { id: sandbox.id, taskId, isTerminal: asked.pty !== undefined }
      await follow(channel, task, { stdout: 0, stderr: 0 }, sink)
    }),
  )

  serveStream(scope, world, [path('Connect'), Connect, KEEPALIVE], (sandbox, { process }, sink) =>
    inside(sandbox, async (channel) => {
      const { taskId, pid, hasTerminal } = await findTask(channel, sandbox.id, process)
      const { next } = await channel.tasks.read(sandbox.id, taskId, { stdout: NOW, stderr: NOW })
      await sink.send({ event: { start: { pid } } })
      await follow(channel, { id: sandbox.id, taskId, isTerminal: hasTerminal }, next, sink)
    }),
  )

  serveUnary(scope, world, [path('List'), z.object({})], (sandbox) =>
    inside(sandbox, async ({ tasks }) => {
      const running = (await tasks.list(sandbox.id)).filter(isProgram)
      return { processes: running.map(processView) }
    }),
  )

  serveUnary(scope, world, [path('SendInput'), SendInput], (sandbox, { process, input }) =>
    withTask(sandbox, process, ({ tasks }, { taskId }) =>
      tasks.write(sandbox.id, taskId, Buffer.from(input.stdin ?? input.pty ?? '', 'base64')),
    ),
  )

  serveUnary(scope, world, [path('CloseStdin'), Connect], (sandbox, { process }) =>
    withTask(sandbox, process, ({ tasks }, { taskId }) =>
      tasks.write(sandbox.id, taskId, Buffer.of(), { end: true }),
    ),
  )

  serveUnary(scope, world, [path('SendSignal'), SendSignal], (sandbox, { process, signal }) =>
    withTask(sandbox, process, ({ tasks }, { taskId }) =>
      tasks.signal(sandbox.id, taskId, signal === 'SIGNAL_SIGKILL' || signal === 9 ? 'SIGKILL' : 'SIGTERM'),
    ),
  )

  serveUnary(scope, world, [path('Update'), Update], (sandbox, { process, pty }) =>
    withTask(sandbox, process, async ({ tasks }, { taskId }) => {
      if (pty) await tasks.resize(sandbox.id, taskId, { columns: pty.size.cols, rows: pty.size.rows })
    }),
  )
}

/** The program that a client wants to run. */
function taskOf({ process, pty, stdin }: z.output<typeof Start>, request: FastifyRequest): TaskRequest {
  const { cmd, args, envs, cwd } = process
  const limitMs = Number(request.headers['connect-timeout-ms'])
  return {
    run: { program: [cmd, ...args] },
    env: envs,
    ...(cwd !== undefined && { cwd }),
    ...userOf(request),
    ...(pty ? { terminal: { columns: pty.size.cols, rows: pty.size.rows } } : { stdin }),
    ...(limitMs > 0 && { timeoutMs: limitMs }),
    overflow: 'follow',
  }
}

type Selected = z.output<typeof Connect>['process']

const isProgram = ({ isRunning, pid, args }: TaskInfo) => isRunning && pid !== undefined && args.length > 0

/** @throws OperationError `not_found` */
async function findTask({ tasks }: SandboxChannel, id: string, { pid }: Selected): Promise<TaskInfo> {
  if (pid === undefined) throw new NotServed('Programs are found by their pid here, not by a tag')
  const task = (await tasks.list(id)).find((each) => each.pid === pid && isProgram(each))
  if (!task) throw new OperationError('not_found', `process with pid ${pid} not found`)
  return task
}

const processView = ({ pid, args: [cmd, ...args], env, cwd }: TaskInfo) => ({
  pid,
  config: { cmd, args, envs: env, ...(cwd !== undefined && { cwd }) },
})

/** Tells clients what programs write, and how they end. What has ended is forgotten with the last client that follows it. */
function createFollowing({ services }: InsideWorld) {
  const followers = new Map<string, number>()
  const count = (taskId: string, by: 1 | -1) => {
    const left = (followers.get(taskId) ?? 0) + by
    if (left > 0) followers.set(taskId, left)
    else followers.delete(taskId)
    return left
  }

  return async (
    { tasks }: SandboxChannel,
    { id, taskId, isTerminal }: { id: string; taskId: string; isTerminal: boolean },
    begin: TaskOffsets,
    { send, gone }: MessageSink,
  ): Promise<void> => {
    const reader = services.newId('task')
    let end: TaskEnd | undefined
    count(taskId, 1)
    try {
      for (let from = begin; !gone.aborted && !end; ) {
        const output = await tasks.read(id, taskId, from, { waitMs: WAIT_MS, reader })
        for (const name of ['stdout', 'stderr'] as const) {
          if (output[name].length === 0) continue
          const bytes = Buffer.from(output[name]).toString('base64')
          if (!(await send({ event: { data: { [isTerminal ? 'pty' : name]: bytes } } }))) return
        }
        from = output.next
        end = output.end
      }
    } finally {
      const left = count(taskId, -1)
      if (end && left <= 0) tasks.remove(id, taskId).catch(() => {})
    }
    if (!end) return
    if (end.timedOut) throw new Refused(TOO_LONG)
    await send({ event: { end: endView(end) } })
  }
}

/** As Go says it, in which E2B's agent is written. */
function endView({ exitCode, signal }: TaskEnd) {
  if (exitCode === undefined) {
    const status = `signal: ${signal === 'SIGKILL' ? 'killed' : signal === 'SIGTERM' ? 'terminated' : signal}`
    return { exitCode: -1, exited: false, status, error: status }
  }
  const status = `exit status ${exitCode}`
  return { exitCode, exited: true, status, ...(exitCode !== 0 && { error: status }) }
}
