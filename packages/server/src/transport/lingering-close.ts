import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import type { FastifyInstance } from 'fastify'

/** As nginx's `lingering_time`. */
const LONGEST_MS = 30_000

/**
 * Reads on, and drops, the rest of a body that is answered before its end. Closing a connection with unread bytes
 * resets it, and a reset takes the answer away from a client that still sends (RFC 9112, 9.6).
 */
export function lingerAfterAnswers(app: FastifyInstance, { longestMs = LONGEST_MS } = {}): void {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  app.addHook('onSend', async ({ raw }, reply) => {
    if (!isStillSent(raw)) return
    reply.header('connection', 'keep-alive')
    readToTheEnd(raw, closing.signal, longestMs)
  })
}

/** Whether more of its body comes, or may come. */
export const isStillSent = ({ complete, destroyed, headers }: IncomingMessage) =>
  !complete &&
  !destroyed &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)

/** Reads a body to its end and drops it; its connection is closed when that takes too long. */
export async function readToTheEnd(
  request: IncomingMessage,
  closing: AbortSignal,
  longestMs = LONGEST_MS,
): Promise<void> {
  request.unpipe().resume()
  try {
    await finished(request, { signal: AbortSignal.any([closing, AbortSignal.timeout(longestMs)]) })
    // The header of the answer said otherwise, so that it would not be closed too early.
    if (/\bclose\b/i.test(request.headers.connection ?? '')) request.socket.destroySoon()
  } catch {
    request.destroy()
  }
}
