import {
  OUTPUT_BYTES,
  type SandboxChannel,
  type TaskEnd,
  type TaskOffsets,
  type TaskOutput,
  type TaskRequest,
} from '@coinrack/compute/ports/sandbox-channel.ts'
import type { Call, OutputStream } from '../../dispatch/handler.ts'
import { OperationError } from '../../platform/errors.ts'
import { shownResult } from './task-output.ts'

/** Nothing answers later than 50 s: the last ones are for ending the task and fetching what it wrote. */
const LONGEST_MS = 46_000
const MOST_S = 50
const DEFAULT_S = 30
/** How long a task may take to end, after it was killed. */
const LATE_MS = 4_000
const WAIT_MS = 5_000

export interface Asked {
  timeout?: number | undefined
  background: boolean
  /** Typed into it, and closed. */
  input?: string | undefined
}

/** How the caller takes what comes of a task; see `Call`. */
export interface Taking extends Pick<Call<'execCommand'>, 'stream' | 'gone' | 'asTask'> {
  /** Whether the stream is told each result of code when it is shown. */
  tellResults?: boolean
}

export interface Done {
  outputs: { stdout: Uint8Array; stderr: Uint8Array }
  exit_code: number | null
  timed_out: boolean
  truncated: boolean
  duration_ms: number
  task_id: string | null
  end: Partial<TaskEnd>
}

/**
 * Runs a task to its end, telling the stream what it writes and shows as fast as that takes it; or begins it in the background.
 * A caller that hangs up ends its task, as no other caller can read it.
 */
export async function runTask(
  { tasks }: SandboxChannel,
  { id, taskId }: { id: string; taskId: string },
  request: TaskRequest,
  { timeout, background, input }: Asked,
  { stream, gone, asTask, tellResults = false }: Taking,
): Promise<Done> {
  if (background || asTask) {
    const seconds = timeout ?? (background ? undefined : DEFAULT_S)
    const hasInput = input !== undefined
    await tasks.start(id, taskId, {
      ...request,
      ...(seconds !== undefined && { timeoutMs: seconds * 1000 }),
      ...(hasInput && { stdin: true }),
    })
    if (hasInput && background) await tasks.write(id, taskId, Buffer.from(input))
    else if (hasInput) typeIn(tasks, id, taskId, input)
    return { ...nothing, task_id: taskId }
  }
  checkTimeout(timeout, stream)
  const wanted = (timeout ?? DEFAULT_S) * 1000
  const timeoutMs = stream ? wanted : Math.min(wanted, LONGEST_MS)
  const how = { waitMs: WAIT_MS, untilEnd: stream === undefined }
  const whole = { ...request, timeoutMs, overflow: 'wait' as const }
  const latest = performance.now() + timeoutMs + LATE_MS
  let first: Promise<TaskOutput>
  if (input !== undefined) {
    await tasks.start(id, taskId, { ...whole, stdin: true })
    typeIn(tasks, id, taskId, input)
    first = tasks.read(id, taskId, { stdout: 0, stderr: 0 }, how)
  } else if (stream && tellResults) {
    // `run` reads outputs alone: a result without one would wait for the next.
    await tasks.start(id, taskId, whole)
    first = tasks.read(id, taskId, { stdout: 0, stderr: 0, results: 0 }, how)
  } else first = tasks.run(id, taskId, whole, how)
  try {
    return await follow(first, (from) => tasks.read(id, taskId, from, how), latest, { stream, gone })
  } finally {
    // No caller waits for it; of a task that is gone, with its sandbox or without, nothing is left to remove.
    const remove = () => tasks.remove(id, taskId).catch(() => {})
    remove()
    // One that was not there yet.
    if ((stream?.gone ?? gone).aborted) first.then(remove, remove)
  }
}

const nothing: Omit<Done, 'task_id'> = {
  outputs: { stdout: Buffer.of(), stderr: Buffer.of() },
  exit_code: null,
  timed_out: false,
  truncated: false,
  duration_ms: 0,
  end: {},
}

function checkTimeout(timeout: number | undefined, stream: OutputStream | undefined): void {
  if (stream || timeout === undefined || timeout <= MOST_S) return
  const message = `Expected at most ${MOST_S}, or background, or a stream`
  throw new OperationError('invalid_input', `timeout: ${message}`, {
    fields: { details: [{ path: 'timeout', message }] },
  })
}

/** While it is read; one that does not want all of it ends without. */
function typeIn(tasks: SandboxChannel['tasks'], id: string, taskId: string, input: string): void {
  tasks.write(id, taskId, Buffer.from(input), { end: true }).catch(() => {})
}

async function follow(
  first: Promise<TaskOutput>,
  readOn: (from: TaskOffsets) => Promise<TaskOutput>,
  latest: number,
  { stream, gone }: Pick<Taking, 'stream' | 'gone'>,
): Promise<Done> {
  const outputs = { stdout: createOutput(stream, 'stdout'), stderr: createOutput(stream, 'stderr') }
  const view = (end: Partial<TaskEnd>): Done => ({
    outputs: { stdout: outputs.stdout.bytes(), stderr: outputs.stderr.bytes() },
    exit_code: end.exitCode ?? null,
    timed_out: end.timedOut ?? true,
    truncated: outputs.stdout.isTruncated() || outputs.stderr.isTruncated(),
    duration_ms: end.durationMs ?? 0,
    task_id: null,
    end,
  })
  const hungUp = new Promise<undefined>((resolve) => {
    const end = stream?.gone ?? gone
    if (end.aborted) resolve(undefined)
    end.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  for (let reading = first; ; ) {
    const read = await Promise.race([reading, hungUp])
    // The caller reads no further, so the outcome of the last read does not matter.
    if (!read) {
      reading.catch(() => {})
      return view({})
    }
    const isHeard =
      (await outputs.stdout.add(read.stdout, read.end !== undefined)) &&
      (await outputs.stderr.add(read.stderr, read.end !== undefined)) &&
      (await tell(stream, read.results))
    if (read.end) return view(read.end)
    // Or the guest does not end what it should have.
    if (!isHeard || performance.now() > latest) return view({})
    reading = readOn(read.next)
  }
}

/** @returns whether the stream takes more */
async function tell(stream: OutputStream | undefined, results: TaskOutput['results'] = []) {
  for (const result of results)
    if (stream && !(await stream.emit('result', shownResult(result)))) return false
  return true
}

/** Keeps the beginning of an output, or hands all of it on. */
function createOutput(stream: OutputStream | undefined, name: 'stdout' | 'stderr') {
  const kept: Uint8Array[] = []
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let [length, isTruncated] = [0, false]
  return {
    async add(bytes: Uint8Array, isEnd: boolean): Promise<boolean> {
      if (stream) {
        const text = decoder.decode(bytes, { stream: !isEnd })
        return text === '' || (await stream.emit(name, { text }))
      }
      const part = bytes.subarray(0, Math.max(0, OUTPUT_BYTES - length))
      isTruncated ||= part.length < bytes.length
      length += part.length
      if (part.length > 0) kept.push(part)
      return true
    },
    bytes: () => Buffer.concat(kept),
    isTruncated: () => isTruncated,
  }
}
