import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { OperationError } from '../../platform/errors.ts'
import { headersSoFar } from '../../transport/for-browsers.ts'
import { hungUp } from '../../transport/rest.ts'
import { writeEvent } from '../../transport/write-events.ts'
import { type Entered, enter, type InsideWorld } from './enter.ts'
import { NotServed, refusalOf } from './refusals.ts'
import { readJson } from './shapes.ts'

/*
 * Remote calls as E2B's clients make them: the Connect protocol with JSON, over HTTP/1.1 and a POST each.
 * https://connectrpc.com/docs/protocol
 */

/** Set in the flags of the last message of a stream. */
const END = 2
const COMPRESSED = 1
const HEAD_BYTES = 5
/** A client that takes nothing for so long is let go. */
const STUCK_MS = 5 * 60_000
const KEEPALIVE_MS = 50_000
const SHORTEST_KEEPALIVE_MS = 1_000
/** What is typed into a program comes as base64. */
const MESSAGE_BYTES = 8 * 1024 ** 2

/** Takes the messages of an answer. */
export interface MessageSink {
  /** Resolves when it may have more, and to false when the client takes no more. */
  send(message: object): Promise<boolean>
  /** Aborted when the client has hung up, or the service ends. */
  gone: AbortSignal
  request: FastifyRequest
}

/** Serves a call that is answered by one message. */
export function serveUnary<T extends z.ZodType>(
  scope: FastifyInstance,
  world: InsideWorld,
  [path, shape]: readonly [string, T],
  handle: (sandbox: Entered, message: z.output<T>, request: FastifyRequest) => Promise<object>,
): void {
  scope.post(path, { config: { onMachines: true }, bodyLimit: MESSAGE_BYTES }, async (request, reply) => {
    try {
      const sandbox = await enter(world, request)
      return await reply.send(await handle(sandbox, readJson(shape, String(request.body ?? '')), request))
    } catch (error) {
      const { status, rpcCode, message } = refusalOf(world.services, error, request.id)
      return reply.code(status).send({ code: rpcCode, message })
    }
  })
}

/**
 * Serves a call that is answered by messages until it ends.
 * @param keepalive sent while nothing else is: proxies close what is silent for long
 */
export function serveStream<T extends z.ZodType>(
  scope: FastifyInstance,
  world: InsideWorld,
  [path, shape, keepalive]: readonly [string, T, object],
  handle: (sandbox: Entered, message: z.output<T>, sink: MessageSink) => Promise<void>,
): void {
  scope.post(path, { config: { onMachines: true } }, async (request, reply) => {
    const gone = AbortSignal.any([hungUp(reply), world.closing])
    const write = createWriter(reply, gone)
    let spokenAt = performance.now()
    const send = (message: object, flags = 0) => {
      spokenAt = performance.now()
      return write(frame(message, flags))
    }
    const every = keepaliveMs(request)
    const timer = setInterval(() => {
      if (reply.raw.headersSent && !reply.raw.writableNeedDrain && performance.now() - spokenAt >= every)
        void send(keepalive)
    }, every / 4)
    try {
      const sandbox = await enter(world, request)
      await handle(sandbox, readJson(shape, messageIn(request.body)), { send, gone, request })
      await send({}, END)
    } catch (error) {
      const refusal = refusalOf(world.services, error, request.id)
      const { status, rpcCode, message } = refusal
      // By this status alone clients learn that the sandbox does not run.
      if (status === 502 && !reply.raw.headersSent) return reply.code(status).send({ code: rpcCode, message })
      await send({ error: { code: rpcCode, message } }, END)
    } finally {
      clearInterval(timer)
      if (reply.raw.headersSent) reply.raw.end()
    }
    return reply
  })
}

function createWriter(reply: FastifyReply, gone: AbortSignal) {
  return (bytes: Uint8Array): Promise<boolean> => {
    if (!reply.raw.headersSent) {
      reply.hijack()
      reply.raw.writeHead(200, {
        ...headersSoFar(reply),
        'content-type': 'application/connect+json',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
    }
    return writeEvent(reply.raw, bytes, gone, STUCK_MS)
  }
}

function frame(message: object, flags: number): Buffer {
  const text = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt8(flags, 0)
  head.writeUInt32BE(text.length, 1)
  return Buffer.concat([head, text])
}

/** The one message of a request. */
function messageIn(body: unknown): string {
  if (!Buffer.isBuffer(body) || body.length < HEAD_BYTES)
    throw new OperationError('malformed_json', 'The body is no message of a stream')
  if (body.readUInt8(0) & COMPRESSED) throw new NotServed('Compressed messages')
  if (body.readUInt32BE(1) !== body.length - HEAD_BYTES)
    throw new OperationError('malformed_json', 'The body is not one message of a stream')
  return body.toString('utf8', HEAD_BYTES)
}

function keepaliveMs({ headers }: FastifyRequest): number {
  const asked = Number(headers['keepalive-ping-interval']) * 1000
  return asked > 0 ? Math.max(SHORTEST_KEEPALIVE_MS, Math.min(asked, KEEPALIVE_MS)) : KEEPALIVE_MS
}
