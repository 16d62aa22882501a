import { type OperationName, operations } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput } from '@coinrack/contract/operation.ts'
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Answer, Request } from '../../dispatch/dispatch.ts'
import { TOOL_OUTPUT_BYTES } from '../../platform/fit-output.ts'
import type { Services } from '../../platform/services.ts'
import type { McpAddress } from './addresses.ts'
import { readTaskId, type TaskedCall, taskId } from './task-id.ts'
import { toolResult } from './tool-result.ts'

/** The extension by which a client takes the handle of a task for an answer (SEP-2663). */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** So long a call is waited for before its answer is a task, in seconds. */
const GRACE_S = 2
const POLL_MS = 2_000
const HOUR_MS = 3_600_000
/** As many characters of an output are shown as a tool shows of one. */
const FULL = TOOL_OUTPUT_BYTES / 2
/** As long as `exec_command` runs without a `timeout`. */
const DEFAULT_S = 30

/** Operations that run something in a sandbox: they can go on there, and be read later. */
const RUNS: readonly OperationName[] = ['execCommand', 'runCode']

/** Asks an operation for the caller of this request. */
export type Ask = (
  name: OperationName,
  call: Pick<Request, 'resourceId' | 'input'> & Partial<Request>,
) => Promise<Answer>

/** A call as its client sent it. */
export interface Called {
  name: OperationName
  input: Record<string, unknown>
}

/** Whether the request was sent by a client that takes tasks. */
export function takesTasks({ mcpReq }: ServerContext): boolean {
  const envelope: Record<string, unknown> = { ...mcpReq.envelope }
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as
    | { extensions?: Record<string, unknown> }
    | undefined
  return declared?.extensions?.[TASKS] !== undefined
}

const waits = (op: Operation) => op.method === 'GET' && op.resource !== undefined && 'wait' in op.input.shape

/** The call as it is made for a client that takes tasks: it waits for a moment only, and what it runs is a task. */
export function asTask(name: OperationName, input: Record<string, unknown>) {
  const isRun = RUNS.includes(name) && input.background !== true
  const { timeout = GRACE_S } = input
  const isWait = waits(operations[name]) && input.wait !== undefined && typeof timeout === 'number'
  return { input: isWait ? { ...input, timeout: Math.min(timeout, GRACE_S) } : input, asTask: isRun }
}

/** The tasks of an agent address: calls that go on after they were answered with a handle. */
export function createTasks({ sealer, clock }: Pick<Services, 'sealer' | 'clock'>, at: McpAddress) {
  /** The task that a call becomes, or undefined where its answer is the result. */
  function taskOf({ name, input }: Called, { status, body, isEarly, found }: Answer): TaskedCall | undefined {
    const { resource }: Operation = operations[name]
    if (status !== 200 || resource === undefined) return undefined
    const about = resourceInput(resource)
    const resourceId = found ?? String(input[about])
    const call = { name, resourceId, createdAt: clock.now().getTime() }
    const isRun = RUNS.includes(name) && input.background !== true && typeof body.task_id === 'string'
    if (isRun) {
      const seconds = typeof input.timeout === 'number' ? input.timeout : DEFAULT_S
      const { max_output } = input
      const kept = { [about]: resourceId, ...(max_output === undefined ? {} : { max_output }) }
      return { ...call, input: kept, run: String(body.task_id), ttlMs: seconds * 1000 + HOUR_MS }
    }
    return isEarly
      ? { ...call, input: { ...input, [about]: resourceId, timeout: 0 }, ttlMs: HOUR_MS }
      : undefined
  }

  /** How the call stands: its answer, once there is one, as if it had been waited for. */
  async function look(ask: Ask, call: TaskedCall): Promise<Looked> {
    if (call.run !== undefined) return readRun(ask, call, call.run, { seconds: 0 })
    const answer = await ask(call.name, { resourceId: call.resourceId, input: () => call.input })
    const isOver = clock.now().getTime() >= call.createdAt + call.ttlMs
    return { ...answer, isEarly: answer.isEarly === true && !isOver }
  }

  /** @throws ProtocolError where there is no such task for the caller */
  async function find(ask: Ask, id: string) {
    const call = readTaskId(sealer, id)
    if (!call) throw noTask()
    const answer = await look(ask, call)
    if (HIDDEN.includes(answer.status)) throw noTask()
    return { call, answer }
  }

  const shown = (call: TaskedCall, id: string, pollIntervalMs = POLL_MS) => ({
    taskId: id,
    createdAt: new Date(call.createdAt).toISOString(),
    lastUpdatedAt: clock.now().toISOString(),
    ttlMs: call.ttlMs,
    pollIntervalMs,
  })

  return {
    /** The result of a call: what it answered, or the handle of the task that it has become. */
    async resultOf(ask: Ask, { name, input }: Called, first: Answer, gone: AbortSignal) {
      const call = taskOf({ name, input }, first)
      if (!call) return toolResult(operations[name], input, first, at)
      if (call.run !== undefined) {
        const answer = await readRun(ask, call, call.run, { seconds: GRACE_S, gone })
        if (!answer.isEarly) return toolResult(operations[name], call.input, answer, at)
        if (gone.aborted) await end(ask, call)
      }
      return { resultType: 'task', status: 'working', ...shown(call, taskId(sealer, call)) }
    },
    /** `tasks/get`. */
    async get(ask: Ask, id: string) {
      const { call, answer } = await find(ask, id)
      const { retry_after } = answer.body
      if (LATER.includes(answer.status) && typeof retry_after === 'number')
        return { ...shown(call, id, retry_after * 1000), status: 'working' }
      if (answer.isEarly) {
        const { progress, status } = answer.body
        const statusMessage = progress ?? status
        return {
          ...shown(call, id),
          status: 'working',
          ...(typeof statusMessage === 'string' ? { statusMessage } : {}),
        }
      }
      const result = toolResult(operations[call.name], call.input, answer, at)
      return { ...shown(call, id), status: 'completed', result: { ...result, resultType: 'complete' } }
    },
    /** `tasks/cancel`: ends what runs in a sandbox. What a VPS or a payment does goes on; nobody waits for it any longer. */
    async cancel(ask: Ask, id: string) {
      const { call, answer } = await find(ask, id)
      if (answer.isEarly) await end(ask, call)
      return {}
    },
    /** `tasks/update`: no task asks its client for anything, so there is nothing to take. */
    async update(ask: Ask, id: string) {
      await find(ask, id)
      return {}
    },
  }
}

/** The statuses that say whose something is, or that it is not: to others there is no task. */
const HIDDEN = [401, 403, 404]
/** The statuses that say nothing of the task itself. */
const LATER = [429, 503]

const noTask = () =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'There is no task with this identifier, or none of yours',
  )

/** @throws ProtocolError to a client that does not take tasks */
export function demandTasks(context: ServerContext): void {
  if (takesTasks(context)) return
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } })
}

async function end(ask: Ask, { resourceId, run }: TaskedCall): Promise<void> {
  if (run === undefined) return
  const input = { sandbox_id: resourceId, task_id: run, signal: 'SIGKILL' }
  await ask('killTask', { resourceId, input: () => input })
}

/**
 * Reads what a run has written, and how it ended: in the form of the answer that the call would have had.
 * @param patience how many seconds to wait for its end, and what ends that
 */
async function readRun(
  ask: Ask,
  { name, resourceId, input }: TaskedCall,
  run: string,
  { seconds, gone }: { seconds: number; gone?: AbortSignal },
): Promise<Looked> {
  const latest = performance.now() + seconds * 1000
  const written = { stdout: '', stderr: '' }
  let from = { stdout: 0, stderr: 0 }
  let truncated = false
  for (let isMore = true; ; ) {
    const left = isMore ? 0 : Math.max(0, latest - performance.now())
    const looked = { ...input, task_id: run, ...from, timeout: Math.ceil(left / 1000) }
    const answer = await ask('getTask', { resourceId, input: () => looked })
    if (answer.status !== 200) return { ...answer, isEarly: false }
    const part = answer.body as unknown as TaskPart
    // A tool shows so much of an output and no more; get_task reads on.
    const isFull: boolean = truncated || written.stdout.length + written.stderr.length >= FULL
    if (!isFull) {
      written.stdout += part.stdout
      written.stderr += part.stderr
    }
    isMore = part.next.stdout > from.stdout || part.next.stderr > from.stderr
    truncated ||= (isFull && isMore) || part.cut !== undefined
    truncated ||= part.from.stdout > from.stdout || part.from.stderr > from.stderr
    from = part.next
    const isWaited = performance.now() < latest && !gone?.aborted
    if (part.running && (isMore || isWaited)) continue
    const { exit_code, timed_out, duration_ms, results, error, cut } = part
    const shown = name === 'runCode' ? { results, error } : {}
    const body = {
      ...{ ...written, exit_code, timed_out, truncated, duration_ms, ...shown },
      task_id: truncated ? run : null,
      ...(cut === undefined ? {} : { cut }),
    }
    return { ...answer, body, isEarly: part.running }
  }
}

type Looked = Answer & { isEarly: boolean }

interface TaskPart extends Record<string, unknown> {
  cut?: unknown
  running: boolean
  stdout: string
  stderr: string
  from: { stdout: number; stderr: number }
  next: { stdout: number; stderr: number }
}
