import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HostControl } from '../ports/host-control.ts'
import type { SandboxArtifacts } from '../ports/sandbox-artifacts.ts'
import type { SandboxChannel } from '../ports/sandbox-channel.ts'
import { SandboxError, type SandboxRuntime } from '../ports/sandbox-runtime.ts'
import { type Answering, type CallShape, calls, checkInput, type StreamName, streams } from './calls.ts'
import {
  ANSWERED,
  FAILED,
  fromHeader,
  INPUT,
  ignore,
  MESSAGE_BYTES,
  SIZE,
  settings,
  widen,
} from './connection.ts'
import { decodeMessage, encodeMessage, readWhole } from './message.ts'
import { fromPieces, intoPieces } from './pieces.ts'

/** All that a host does for the service. */
export interface ServedHost {
  runtime: SandboxRuntime
  channel: SandboxChannel
  artifacts: SandboxArtifacts
  control: HostControl
  log: { info(fields: object, message: string): void }
}

/** The service asks for a sign of life several times within it. */
const SILENCE_MS = 30_000

/**
 * Answers what the service asks over a connection that this host has opened to it. What is under way when the connection breaks
 * is brought to its end, but for what streams.
 * @returns when the connection is over
 */
export async function serveSandboxHost(socket: Duplex, host: ServedHost): Promise<void> {
  const session: ServerHttp2Session = performServerHandshake(socket as never, { settings })
  const over = new Promise<void>((resolve) => session.once('close', resolve))
  session.once('connect', () => widen(session))
  session.on('error', (error) => host.log.info({ err: error }, 'The connection to the service failed'))
  session.setTimeout(SILENCE_MS, () => socket.destroy())
  session.on('stream', (stream, headers) => {
    stream.on('error', ignore)
    void answer(stream, headers, host)
  })
  socket.once('close', () => session.destroy())
  await over
}

async function answer(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  host: ServedHost,
): Promise<void> {
  try {
    const name = String(headers[':path']).slice(1)
    if (Object.hasOwn(streams, name)) await carry(stream, headers, name as StreamName, host)
    else await call(stream, name, host)
  } catch (error) {
    if (!(error instanceof SandboxError)) host.log.info({ err: error }, 'A call of the service failed')
    refuse(stream, error)
  }
}

async function call(stream: ServerHttp2Stream, name: string, host: ServedHost): Promise<void> {
  const { shape, target } = find(name, host)
  const question = decodeMessage(await readWhole(stream, MESSAGE_BYTES))
  const input = checked(shape.input, question)
  finish(stream, await target(...input))
}

/** @throws SandboxError `unsupported` */
function find(name: string, { runtime, channel, artifacts, control }: ServedHost) {
  const { tasks, contexts, files } = channel
  const ports: Answering = { runtime, tasks, contexts, files, channel, artifacts, control }
  const [port = '', method = '', ...more] = name.split('/')
  const rows = Object.hasOwn(calls, port) ? (calls[port as keyof Answering] as Record<string, CallShape>) : {}
  if (more.length > 0 || !Object.hasOwn(rows, method))
    throw new SandboxError('unsupported', `This host knows no ${name.slice(0, 100)}`)
  const functions = ports[port as keyof Answering] as unknown as Record<string, Call>
  return { shape: rows[method]!, target: (...input: unknown[]) => functions[method]!(...input) }
}

type Call = (...input: unknown[]) => Promise<unknown>

function checked(shapes: CallShape['input'], given: unknown): unknown[] {
  try {
    return checkInput(shapes, given)
  } catch (error) {
    throw new SandboxError('spec_invalid', 'The parameters are not those of the call', { cause: error })
  }
}

async function carry(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  name: StreamName,
  { channel, artifacts }: ServedHost,
): Promise<void> {
  const input = checked(streams[name], fromHeader(headers[INPUT]))
  // What is not read to its end can still be answered.
  const received = fromPieces(stream.iterator({ destroyOnReturn: false }))
  switch (name) {
    case 'files/read': {
      const [id, path, options] = input as Parameters<SandboxChannel['files']['read']>
      const { content, size } = await channel.files.read(id, path, options)
      return send(stream, content, { [SIZE]: String(size) })
    }
    case 'artifacts/read': {
      const [id, file] = input as Parameters<SandboxArtifacts['read']>
      return send(stream, await artifacts.read(id, file), {})
    }
    case 'files/write': {
      const [id, path, options] = input as [string, string, object | undefined]
      return finish(stream, await channel.files.write(id, path, received, options))
    }
    case 'artifacts/write': {
      const [id, file] = input as [string, Parameters<SandboxArtifacts['write']>[1]]
      return finish(stream, await artifacts.write(id, file, received))
    }
    case 'channel/connect': {
      const [id, port] = input as [string, number]
      return join(stream, await channel.connect(id, port))
    }
    case 'files/watch':
      return watch(stream, channel, input as [string, string, { user?: string; recursive?: boolean }])
  }
}

/** Bytes that break off are nobody's failure but the reader's, who sees it. */
const send = async (
  stream: ServerHttp2Stream,
  content: AsyncIterable<Uint8Array>,
  headers: Record<string, string>,
): Promise<void> => {
  stream.respond({ ':status': ANSWERED, ...headers })
  await pipeline(intoPieces(content), stream).catch(ignore)
}

function join(stream: ServerHttp2Stream, inside: Duplex): void {
  inside.on('error', () => stream.destroy())
  inside.once('close', () => {
    if (!inside.readableEnded) stream.destroy()
  })
  stream.once('close', () => inside.destroy())
  stream.respond({ ':status': ANSWERED })
  stream.pipe(inside)
  inside.pipe(stream)
}

async function watch(
  stream: ServerHttp2Stream,
  { files }: SandboxChannel,
  [id, path, options]: [string, string, { user?: string; recursive?: boolean }],
): Promise<void> {
  const enough = new AbortController()
  stream.once('close', () => enough.abort())
  const events = await files.watch(id, path, { ...options, signal: enough.signal })
  async function* lines() {
    for await (const event of events) yield Buffer.from(`${JSON.stringify(event)}\n`)
  }
  await send(stream, lines(), {})
}

function finish(stream: ServerHttp2Stream, value: unknown): void {
  if (stream.destroyed) return
  stream.respond({ ':status': ANSWERED })
  end(stream, value)
}

function refuse(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.destroyed) return
  if (stream.headersSent) return void stream.destroy()
  const { code, message } =
    error instanceof SandboxError ? error : { code: 'guest_failed', message: 'The host failed' }
  stream.respond({ ':status': FAILED })
  end(stream, { code, message: message.slice(0, 2_000) })
}

/** Answers, and stops reading what the service still sends. */
function end(stream: ServerHttp2Stream, value: unknown): void {
  stream.end(encodeMessage(value), () => {
    if (!stream.readableEnded) stream.close()
  })
}
