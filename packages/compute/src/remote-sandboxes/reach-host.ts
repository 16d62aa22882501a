import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from 'node:http2'
import { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import type { HostControl } from '../ports/host-control.ts'
import type { SandboxArtifacts } from '../ports/sandbox-artifacts.ts'
import type { FileEvent, SandboxChannel } from '../ports/sandbox-channel.ts'
import { SandboxError, type SandboxRuntime } from '../ports/sandbox-runtime.ts'
import { type CallShape, calls, type StreamName } from './calls.ts'
import {
  ANSWERED,
  INPUT,
  ignore,
  MESSAGE_BYTES,
  NGHTTP2_CANCEL,
  SIZE,
  settings,
  toHeader,
  widen,
} from './connection.ts'
import { decodeMessage, encodeMessage, readWhole } from './message.ts'
import { fromPieces, intoPieces } from './pieces.ts'
import { Failure, FileChange } from './shapes.ts'

/** A host that has opened a connection to this service. */
export interface SandboxHostLink {
  runtime: SandboxRuntime
  channel: SandboxChannel
  artifacts: SandboxArtifacts
  control: HostControl
  /** Resolves when the connection is over. */
  closed: Promise<void>
  /** Ends it once all that is under way on it has ended. */
  retire(): void
  close(): void
}

const PING_MS = 5_000
/** So many signs of life have to be missing. */
const MISSED = 3
/** From a question to the head of the answer of what streams. */
const BEGIN_MS = 60_000
/** A file is checked and written out after its last byte. */
const WRITTEN_MS = 5 * 60_000
const LINE_BYTES = 64 * 1024

const Size = z.coerce.number().int().nonnegative()

/**
 * The ports of a host at the other end of a connection. All of them throw SandboxError: `host_unreachable` when the
 * connection is over or there is no answer in time, and `guest_failed` when an answer is none, or too large.
 * @param pingMs how often the host is asked for a sign of life
 */
export function reachSandboxHost(socket: Duplex, { pingMs = PING_MS } = {}): SandboxHostLink {
  const session = connect('http://host', { createConnection: () => socket as never, settings })
  const closed = new Promise<void>((resolve) => session.once('close', resolve))
  session.once('connect', () => widen(session))
  session.on('error', ignore)
  socket.once('close', () => session.destroy())
  // A session that is destroyed would wait for a peer to take what was sent to it.
  const cut = () => {
    session.destroy()
    socket.destroy()
  }
  keepAlive(session, pingMs, cut)
  const to = createAsker(session)
  const port = <P>(name: keyof typeof calls): P =>
    Object.fromEntries(
      Object.entries(calls[name] as Record<string, CallShape>).map(([method, shape]) => [
        method,
        (...input: unknown[]) => to.ask(`${name}/${method}`, shape, input),
      ]),
    ) as P

  const files: SandboxChannel['files'] = {
    ...port<SandboxChannel['files']>('files'),
    async read(...input) {
      const { stream, headers } = await to.open('files/read', input)
      const size = Size.safeParse(headers[SIZE])
      if (!size.success) {
        stream.destroy()
        throw nonsense('a file without its size')
      }
      return { content: contentOf(stream), size: size.data }
    },
    write: async (id, path, source, options) =>
      Size.parse(await to.send('files/write', [id, path, options], source)),
    async watch(id, path, { signal, ...options }) {
      const { stream } = await to.open('files/watch', [id, path, options], signal)
      return changes(stream, signal)
    },
  }
  return {
    runtime: port<SandboxRuntime>('runtime'),
    channel: {
      tasks: port<SandboxChannel['tasks']>('tasks'),
      contexts: port<SandboxChannel['contexts']>('contexts'),
      files,
      ...port<Pick<SandboxChannel, 'metrics' | 'history'>>('channel'),
      async connect(id, portNumber) {
        const { stream } = await to.open('channel/connect', [id, portNumber])
        return Duplex.from({ readable: stream, writable: stream } as never)
      },
    },
    artifacts: {
      ...port<SandboxArtifacts>('artifacts'),
      read: async (...input) => contentOf((await to.open('artifacts/read', input)).stream),
      write: async (id, file, source) => void (await to.send('artifacts/write', [id, file], source)),
    },
    control: port<HostControl>('control'),
    closed,
    retire: () => session.close(),
    close: cut,
  }
}

/** Cuts a connection whose other end shows no sign of life. */
function keepAlive(session: ClientHttp2Session, everyMs: number, cut: () => void): void {
  let missing = 0
  const timer = setInterval(() => {
    if (missing >= MISSED || session.destroyed) return cut()
    missing++
    session.ping((error) => {
      if (!error) missing = 0
    })
  }, everyMs)
  session.once('close', () => clearInterval(timer))
}

function createAsker(session: ClientHttp2Session) {
  const request = (path: string, headers: Record<string, string>): ClientHttp2Stream => {
    if (session.closed || session.destroyed) throw unreachable()
    const stream = session.request({ ':method': 'POST', ':path': `/${path}`, ...headers })
    stream.on('error', ignore)
    return stream
  }

  /** The failure of a stream, as far as it is not the host's answer. */
  const failureOf = (error: unknown, isLate: boolean): SandboxError => {
    if (error instanceof SandboxError) return error
    if (session.destroyed || session.closed) return unreachable(error)
    return isLate ? unreachable(error) : nonsense('an answer that is none', error)
  }

  /** Gives a stream up after so long; told whether it was. */
  const withLimit = async <T>(stream: ClientHttp2Stream, ms: number, work: () => Promise<T>): Promise<T> => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      stream.close(NGHTTP2_CANCEL)
    }, ms)
    try {
      return await work()
    } catch (error) {
      stream.close(NGHTTP2_CANCEL)
      throw failureOf(error, isLate)
    } finally {
      clearTimeout(timer)
    }
  }

  /** @throws SandboxError what the host answered */
  const demandAnswered = async (stream: ClientHttp2Stream, headers: IncomingHttpHeaders): Promise<void> => {
    if (Number(headers[':status']) === ANSWERED) return
    const { code, message } = Failure.parse(decodeMessage(await readWhole(stream, MESSAGE_BYTES)))
    throw new SandboxError(code, message)
  }

  return {
    async ask(path: string, { output, limitMs }: CallShape, input: readonly unknown[]): Promise<unknown> {
      const stream = request(path, {})
      const ms = typeof limitMs === 'number' ? limitMs : limitMs(input)
      return withLimit(stream, ms, async () => {
        const head = headOf(stream)
        stream.end(encodeMessage(given(input)))
        await demandAnswered(stream, await head)
        return output.parse(decodeMessage(await readWhole(stream, MESSAGE_BYTES)))
      })
    },

    /** Begins what streams. @param signal gives it up */
    async open(path: StreamName, input: readonly unknown[], signal?: AbortSignal) {
      const stream = request(path, { [INPUT]: toHeader(given(input)) })
      if (path !== 'channel/connect') stream.end()
      const giveUp = () => stream.close(NGHTTP2_CANCEL)
      signal?.addEventListener('abort', giveUp)
      stream.once('close', () => signal?.removeEventListener('abort', giveUp))
      return withLimit(stream, BEGIN_MS, async () => {
        const headers = await headOf(stream)
        await demandAnswered(stream, headers)
        return { stream, headers }
      })
    },

    /** Sends bytes to their end. Where the source fails, the host learns that it broke off. */
    async send(path: StreamName, input: readonly unknown[], source: AsyncIterable<Uint8Array>) {
      const stream = request(path, { [INPUT]: toHeader(given(input)) })
      let failure: unknown
      const guarded = async function* () {
        try {
          yield* source
        } catch (error) {
          failure = error
          throw error
        }
      }
      const head = headOf(stream)
      head.catch(ignore)
      const sent = pipeline(intoPieces(guarded()), stream, { end: true }).catch(() => {
        if (failure !== undefined) stream.close(NGHTTP2_CANCEL)
      })
      // A host that refuses says so before all is sent.
      await Promise.race([sent, head.catch(ignore)])
      if (failure !== undefined) throw failure
      return withLimit(stream, WRITTEN_MS, async () => {
        const headers = await head
        await demandAnswered(stream, headers)
        return decodeMessage(await readWhole(stream, MESSAGE_BYTES))
      }).catch((error) => {
        throw failure ?? error
      })
    },
  }
}

/** The parameters without those at the end that were left out. */
function given(input: readonly unknown[]): unknown[] {
  const last = input.findLastIndex((each) => each !== undefined)
  return input.slice(0, last + 1)
}

function headOf(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve)
    stream.once('error', reject)
    stream.once('close', () => reject(new Error('The stream ended without an answer')))
  })
}

const contentOf = (stream: ClientHttp2Stream): Readable =>
  Readable.from(fromPieces(stream), { objectMode: false })

async function* changes(stream: ClientHttp2Stream, signal: AbortSignal): AsyncGenerator<FileEvent> {
  let rest = ''
  try {
    for await (const piece of fromPieces(stream)) {
      const lines = (rest + piece.toString()).split('\n')
      rest = lines.pop()!
      if (rest.length > LINE_BYTES) throw new RangeError('A line that does not end')
      for (const line of lines) yield FileChange.parse(JSON.parse(line))
    }
  } catch (error) {
    if (!signal.aborted)
      throw error instanceof SandboxError ? error : nonsense('changes that are none', error)
  } finally {
    stream.close(NGHTTP2_CANCEL)
  }
}

const unreachable = (cause?: unknown) =>
  new SandboxError('host_unreachable', 'The host of the sandbox cannot be reached', { cause })
const nonsense = (what: string, cause?: unknown) =>
  new SandboxError('guest_failed', `The host gave ${what}`, { cause })
