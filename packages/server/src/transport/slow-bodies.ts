import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { failureAnswer } from '../dispatch/failure-answer.ts'
import { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import { isStillSent } from './lingering-close.ts'

/** As Apache's `RequestReadTimeout body=20,MinRate=500`: so long, and a second more for each 500 bytes that came. */
const FIRST_MS = 20_000
const BYTES_A_SECOND = 500

interface Watched {
  request: FastifyRequest
  reply: FastifyReply
  /** When it is too late, if no byte comes. */
  until: number
  bytesRead: number
}

/**
 * Ends requests whose bodies come too slowly: a connection costs who holds it nothing. An upload that makes progress goes on
 * however long it takes, and time in which what came waits for the service itself does not count.
 */
export function endSlowBodies(
  app: FastifyInstance,
  services: Services,
  { firstMs = FIRST_MS, lookMs = 1_000 } = {},
): void {
  const watched = new Set<Watched>()
  const look = () => {
    for (const each of watched) {
      const { request, reply } = each
      const { raw } = request
      if (!isStillSent(raw)) watched.delete(each)
      else if (raw.readableLength > 0) each.until += lookMs
      const came = raw.socket.bytesRead - each.bytesRead
      each.bytesRead += came
      each.until += (came / BYTES_A_SECOND) * 1_000
      if (performance.now() < each.until || !watched.delete(each)) continue
      end(services, request, reply)
    }
  }
  const timer = setInterval(look, lookMs).unref()
  app.addHook('onClose', async () => clearInterval(timer))
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request
    if (!isStillSent(raw) || !(raw.socket instanceof Socket)) return
    const each = { request, reply, until: performance.now() + firstMs, bytesRead: raw.socket.bytesRead }
    watched.add(each)
    for (const over of ['end', 'close']) raw.once(over, () => watched.delete(each))
  })
}

function end(services: Services, { raw, id }: FastifyRequest, reply: FastifyReply): void {
  if (reply.raw.headersSent) return void raw.destroy()
  const error = new OperationError('request_too_slow', 'The body of the request came too slowly')
  const body = JSON.stringify(failureAnswer(services, error, id).body)
  const head = [
    `HTTP/1.1 ${error.status} Request Timeout`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
  ].join('\r\n')
  // Past the framework, which waits for the body.
  raw.socket.write(`${head}\r\n\r\n${body}`)
  raw.socket.destroySoon()
}
