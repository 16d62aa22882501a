import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { SandboxError, type SandboxErrorCode } from '../ports/sandbox-runtime.ts'
import {
  decodeMessage,
  encodeFrame,
  encodeMessage,
  type Frame,
  FrameReader,
  FrameType,
  filler,
  type Message,
} from './session-frames.ts'
import { SessionStream, WINDOW } from './session-stream.ts'

/**
 * A session with the agent of one sandbox. What comes from there is believed in nothing: its size is bounded, and what
 * is no frame, or more than was asked for, ends the session.
 */
export interface AgentSession {
  /** Asks, and waits for the answer. Throws SandboxError as the agent says, or `guest_failed`. */
  call(op: string, args?: object, options?: CallOptions): Promise<Message>
  /** Asks for a stream of bytes, which has to be read to its end or destroyed. */
  open(op: string, args?: object): Promise<Duplex>
  close(): void
  /** Why it ended; undefined while it works. */
  readonly failure: SandboxError | undefined
}

export interface CallOptions {
  body?: Uint8Array
  /** Default half a minute. */
  timeoutMs?: number
}

const CALL_TIMEOUT_MS = 30_000
/** Half of what was written before may be on its way still. */
const GREET_AGAIN_MS = 400
const MESSAGE_BYTES = 16 * 1024 ** 2
/** The limit of all answers that are not whole yet. */
const PARTIAL_BYTES = 32 * 1024 ** 2
/** The bytes that may precede a greeting. */
const JUNK_BYTES = 4 * 1024 ** 2

/** The codes that the agent may refuse with; any other is a failure of its own. */
const REFUSALS: readonly SandboxErrorCode[] = [
  'spec_invalid',
  'file_refused',
  'task_unknown',
  'task_ended',
  'context_unknown',
  'language_unknown',
  'port_refused',
  'too_many',
]

interface Pending {
  resolve(message: Message): void
  reject(error: Error): void
  parts: Buffer[]
  bytes: number
}

/** Greets the agent behind a socket. Throws `guest_failed` when it does not answer in time. */
export async function openSession(
  socket: Socket,
  { timeoutMs }: { timeoutMs: number },
): Promise<AgentSession> {
  const reader = new FrameReader()
  const pending = new Map<number, Pending>()
  const streams = new Map<number, SessionStream>()
  let failure: SandboxError | undefined
  let lastNumber = 0
  let partialBytes = 0
  /** The bytes that may still come of streams that were given up. */
  let lateBytes = 0
  const welcome = Promise.withResolvers<void>()
  welcome.promise.catch(() => {})
  let nonce: Buffer | undefined = Buffer.alloc(0)
  let junk = 0

  const fail = (message: string, cause?: unknown) => {
    if (failure) return
    failure = new SandboxError('guest_failed', message, { cause })
    socket.destroy()
    welcome.reject(failure)
    for (const { reject } of pending.values()) reject(failure)
    pending.clear()
    for (const stream of streams.values()) stream.destroy(failure)
    streams.clear()
  }

  const greet = () => {
    nonce = randomBytes(16)
    socket.write(encodeFrame(FrameType.hello, 0, nonce))
  }

  /** Everything before our own welcome is of an earlier session. */
  const awaitWelcome = () => {
    for (let frame = reader.next(); frame; frame = reader.next()) {
      if (frame === 'broken') reader.skip()
      else if (frame.type === FrameType.welcome && nonce && frame.payload.equals(nonce)) {
        nonce = undefined
        welcome.resolve()
        return
      }
    }
  }

  const takeAnswer = (waiting: Pending, frame: Frame) => {
    waiting.parts.push(frame.payload)
    waiting.bytes += frame.payload.length
    partialBytes += frame.payload.length
    if (waiting.bytes > MESSAGE_BYTES || partialBytes > PARTIAL_BYTES) return fail('An answer without end')
    if (frame.hasMore) return
    pending.delete(frame.stream)
    partialBytes -= waiting.bytes
    try {
      waiting.resolve(decodeMessage(Buffer.concat(waiting.parts)))
    } catch (error) {
      fail('An answer that is none', error)
      waiting.reject(failure!)
    }
  }

  const take = (frame: Frame) => {
    const { type, stream: number, payload } = frame
    const waiting = pending.get(number)
    const stream = streams.get(number)
    if (type === FrameType.answer && waiting) return takeAnswer(waiting, frame)
    if (type === FrameType.abort && (waiting || stream)) {
      pending.delete(number)
      if (waiting) partialBytes -= waiting.bytes
      const error = readRefusal(payload)
      waiting?.reject(error)
      stream?.destroy(error)
      return
    }
    if (stream && (type === FrameType.data || type === FrameType.end || type === FrameType.credit)) {
      if (!stream.receive(type, payload)) fail('More bytes than were asked for')
      return
    }
    lateBytes -= payload.length + 1
    if (lateBytes < 0) fail('Frames that nobody asked for')
  }

  socket.on('data', (bytes: Buffer) => {
    if (failure) return
    reader.add(bytes)
    if (nonce) {
      junk += bytes.length
      if (junk > JUNK_BYTES) return fail('The agent does not stop talking')
      awaitWelcome()
    }
    if (nonce) return
    for (let frame = reader.next(); frame && !failure; frame = reader.next()) {
      if (frame === 'broken') return fail('What comes from the agent is no frame')
      take(frame)
    }
  })
  socket.on('error', (error) => fail('The connection to the agent broke', error))
  socket.on('close', () => fail('The connection to the agent ended'))

  const begin = (op: string, args: object, { body = Buffer.alloc(0), timeoutMs: limit }: CallOptions) => {
    if (failure) throw failure
    lastNumber += 1
    const number = lastNumber
    const { promise, resolve, reject } = Promise.withResolvers<Message>()
    pending.set(number, { resolve, reject, parts: [], bytes: 0 })
    const timer = setTimeout(() => {
      const waiting = pending.get(number)
      if (!waiting) return
      pending.delete(number)
      partialBytes -= waiting.bytes
      abandon(number)
      reject(new SandboxError('guest_failed', `No answer to ${op} within ${limit ?? CALL_TIMEOUT_MS} ms`))
    }, limit ?? CALL_TIMEOUT_MS)
    socket.write(encodeMessage(FrameType.call, number, { op, ...args }, body))
    return { number, answer: promise.finally(() => clearTimeout(timer)) }
  }

  const abandon = (number: number) => {
    streams.delete(number)
    // The bytes that it was allowed to send, or the answer to a call.
    lateBytes += 2 * WINDOW
    if (!failure) socket.write(encodeFrame(FrameType.abort, number, Buffer.alloc(0)))
  }

  greet()
  const again = setInterval(() => {
    socket.write(filler())
    greet()
  }, GREET_AGAIN_MS)
  const timer = setTimeout(() => fail(`No agent answers within ${timeoutMs} ms`), timeoutMs)
  try {
    await welcome.promise
  } finally {
    clearInterval(again)
    clearTimeout(timer)
  }

  return {
    get failure() {
      return failure
    },

    call: async (op, args = {}, options = {}) => begin(op, args, options).answer,

    async open(op, args = {}) {
      const { number, answer } = begin(op, args, {})
      const stream = new SessionStream({
        send: (type, payload) => {
          if (!failure) socket.write(encodeFrame(type, number, payload))
        },
        onDone: (isWhole) => {
          if (!streams.has(number)) return
          if (isWhole) streams.delete(number)
          else abandon(number)
        },
      })
      streams.set(number, stream)
      try {
        await answer
        return stream
      } catch (error) {
        streams.delete(number)
        stream.destroy()
        throw error
      }
    },

    close: () => fail('The link was closed'),
  }
}

function readRefusal(payload: Buffer): SandboxError {
  try {
    const { code, message } = JSON.parse(payload.toString()) as { code: string; message: string }
    const known = REFUSALS.find((refusal) => refusal === code)
    if (known) return new SandboxError(known, String(message))
    return new SandboxError('guest_failed', `The agent failed: ${message}`)
  } catch (cause) {
    return new SandboxError('guest_failed', 'The agent refused without words', { cause })
  }
}
