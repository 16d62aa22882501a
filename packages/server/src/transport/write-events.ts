import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { headersSoFar } from './for-browsers.ts'

/*
 * Server-Sent Events, as the HTML standard writes them: what every stream of them shares.
 */

/** Proxies close what is silent for long. */
export const HEARTBEAT_MS = 15_000
export const HEARTBEAT = ': still here\n\n'
/** A client that takes nothing for so long is let go. */
const STUCK_MS = 30_000

/** Takes the answer over from the server and begins the stream. */
export function beginEvents(reply: FastifyReply, headers: Record<string, string> = {}): ServerResponse {
  reply.hijack()
  reply.raw.writeHead(200, {
    ...headersSoFar(reply),
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  return reply.raw
}

/** Aborts when the client is gone or the service ends. */
export function goneOf(request: FastifyRequest, closing: AbortSignal): AbortSignal {
  const gone = new AbortController()
  request.raw.socket.once('close', () => gone.abort())
  return AbortSignal.any([gone.signal, closing])
}

/** @returns whether the client took it in time */
export function writeEvent(
  out: ServerResponse,
  text: string | Uint8Array,
  end: AbortSignal,
  stuckMs = STUCK_MS,
): Promise<boolean> {
  if (end.aborted || out.destroyed) return Promise.resolve(false)
  if (out.write(text)) return Promise.resolve(true)
  return new Promise((resolve) => {
    const done = (drained: boolean) => {
      clearTimeout(timer)
      out.off('drain', onDrain)
      end.removeEventListener('abort', onEnd)
      resolve(drained)
    }
    const onDrain = () => done(true)
    const onEnd = () => done(false)
    const timer = setTimeout(() => {
      out.destroy()
      done(false)
    }, stuckMs)
    out.once('drain', onDrain)
    end.addEventListener('abort', onEnd, { once: true })
  })
}

/** JSON has no line ends. */
export const eventText = (event: string, data: unknown, id?: number) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
