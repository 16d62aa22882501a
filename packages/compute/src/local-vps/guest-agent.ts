import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectToGuest } from '../machine/guest-socket.ts'
import { GuestError } from '../ports/guest-channel.ts'
import type { ProgramOutput } from '../scripted-guest/scripted-channel.ts'

/*
 * The QEMU guest agent's protocol: one JSON object per line over a serial channel that does not know connections, so
 * what an earlier talker left behind may still come. `guest-sync-delimited` with a number of our own is answered behind
 * a byte 0xFF, which stands in no JSON: all before it is old.
 * https://www.qemu.org/docs/master/interop/qemu-ga-ref.html
 */

const MARK = 0xff
const NEWLINE = 0x0a
/** The limit of one answer: both outputs at their limit in base64, and room for the rest. */
const ANSWER_BYTES = 4 * 1024 * 1024
const SYNC_MS = 5_000
const ANSWER_MS = 10_000
const FIRST_POLL_MS = 20
const LONGEST_POLL_MS = 500

export interface AgentOptions {
  /** The socket that QEMU serves for the channel, to one client at a time. */
  path: string
  /** A number that no earlier talker of the channel used. */
  newMark: () => number
  syncMs?: number
}

export interface Run {
  program: string
  args: string[]
  env?: string[]
  input?: Uint8Array
  /** How long it is waited for. */
  limitMs: number
  /** How late its end may be noticed. */
  longestPollMs?: number
}

type Json = Record<string, unknown>

/** One command and its answer. The connection is opened for it alone, so that others have their turn. */
export async function askAgent(options: AgentOptions, execute: string, args: Json = {}): Promise<unknown> {
  const { path, newMark, syncMs = SYNC_MS } = options
  const socket = connectToGuest(path)
  try {
    const lines = answersOf(socket)
    const mark = newMark()
    // Ends whatever an earlier talker left half said; the agent's complaint of it comes before our mark.
    socket.write(Buffer.from([MARK]))
    send(socket, 'guest-sync-delimited', { id: mark })
    const synced = await within(syncMs, socket, lines.afterMark(mark))
    if (!synced) throw new GuestError('guest_away', 'No guest agent answers')
    send(socket, execute, args)
    const answer = await within(ANSWER_MS, socket, lines.next())
    if (!answer) throw new GuestError('guest_failed', `The guest agent did not answer ${execute}`)
    if (answer.error !== undefined) {
      const { desc } = answer.error as { desc?: unknown }
      throw new GuestError('guest_failed', `${execute}: ${String(desc).slice(0, 300)}`)
    }
    return answer.return
  } finally {
    socket.destroy()
  }
}

/**
 * Runs a program in the guest to its end.
 * @param ask `askAgent`, one call at a time
 * @returns undefined when it has not ended within `limitMs`
 */
export async function runInGuest(
  options: AgentOptions,
  ask: typeof askAgent,
  run: Run,
): Promise<ProgramOutput | undefined> {
  const started = await ask(options, 'guest-exec', {
    path: run.program,
    arg: run.args,
    ...(run.env ? { env: run.env } : {}),
    ...(run.input ? { 'input-data': Buffer.from(run.input).toString('base64') } : {}),
    'capture-output': true,
  })
  const pid = numberOf(started, 'pid')
  const { limitMs, longestPollMs = LONGEST_POLL_MS } = run
  const end = performance.now() + limitMs
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, longestPollMs)) {
    const status = await ask(options, 'guest-exec-status', { pid })
    if (!isObject(status)) throw lie('a status')
    if (status.exited === true) {
      return {
        stdout: bytesOf(status, 'out-data'),
        stderr: bytesOf(status, 'err-data'),
        exitCode: status.signal === undefined ? numberOf(status, 'exitcode') : undefined,
      }
    }
    if (performance.now() + pause > end) return undefined
    await sleep(pause)
  }
}

/**
 * Reads the beginning of a file by the agent itself, which starts no program for it.
 * @param ask `askAgent`, one call at a time
 */
export async function readByAgent(
  options: AgentOptions,
  ask: typeof askAgent,
  path: string,
  bytes: number,
): Promise<string> {
  const handle = await ask(options, 'guest-file-open', { path, mode: 'r' })
  if (typeof handle !== 'number') throw lie('a handle')
  try {
    const part = await ask(options, 'guest-file-read', { handle, count: bytes })
    if (!isObject(part)) throw lie('a part of a file')
    return bytesOf(part, 'buf-b64').subarray(0, bytes).toString('latin1')
  } finally {
    await ask(options, 'guest-file-close', { handle })
  }
}

function send(socket: Socket, execute: string, args: Json) {
  socket.write(`${JSON.stringify({ execute, arguments: args })}\n`)
}

/** Undefined when the time is over or the channel closed first. */
async function within(
  milliseconds: number,
  socket: Socket,
  answer: Promise<Json | undefined>,
): Promise<Json | undefined> {
  const timer = setTimeout(() => socket.destroy(), milliseconds)
  try {
    return await answer
  } finally {
    clearTimeout(timer)
  }
}

/** The agent's answers, line by line; never more than one answer is held in memory. */
function answersOf(socket: Socket) {
  let kept: Buffer[] = []
  let size = 0
  let wake = () => {}
  let failure: GuestError | undefined
  let isClosed = false
  socket.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > ANSWER_BYTES) {
      failure = lie('less than an endless answer')
      kept = []
      socket.destroy()
    } else kept.push(chunk)
    wake()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
    wake()
  })

  /** The bytes up to the first `byte`, without it; undefined when the channel closed before it came. */
  const upTo = async (byte: number): Promise<Buffer | undefined> => {
    for (;;) {
      if (failure) throw failure
      if (kept.at(-1)?.includes(byte) || (kept.length > 1 && kept[0]!.includes(byte))) {
        const all = Buffer.concat(kept)
        const at = all.indexOf(byte)
        const rest = all.subarray(at + 1)
        kept = rest.length === 0 ? [] : [rest]
        size = rest.length
        return all.subarray(0, at)
      }
      if (isClosed) return undefined
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const next = async () => {
    const line = await upTo(NEWLINE)
    return line && parse(line)
  }
  return {
    next,
    /** Goes over all that is old, to the answer that carries this mark. */
    async afterMark(mark: number): Promise<Json | undefined> {
      for (;;) {
        if ((await upTo(MARK)) === undefined) return undefined
        const line = await upTo(NEWLINE)
        if (line === undefined) return undefined
        // Another mark's, or a byte 0xFF that was none: the next one is waited for.
        const answer = parse(line, true)
        if (answer?.return === mark) return answer
      }
    },
  }
}

function parse(line: Buffer, isOld: true): Json | undefined
function parse(line: Buffer): Json
function parse(line: Buffer, isOld?: true): Json | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    if (isObject(value)) return value
  } catch {
    // Said below, with everything else that is no object.
  }
  if (isOld) return undefined
  throw lie('an object')
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function numberOf(value: unknown, name: string): number {
  const found = isObject(value) ? value[name] : undefined
  if (typeof found !== 'number' || !Number.isSafeInteger(found)) throw lie(`a number ${name}`)
  return found
}

function bytesOf(value: Json, name: string): Buffer {
  const found = value[name] ?? ''
  if (typeof found !== 'string') throw lie(`text ${name}`)
  return Buffer.from(found, 'base64')
}

const lie = (expected: string) =>
  new GuestError('guest_failed', `The guest agent did not say what an agent says: expected ${expected}`)
