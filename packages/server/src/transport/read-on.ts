import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import type { FastifyInstance } from 'fastify'

/** As nginx's `lingering_time`. */
const LONGEST_MS = 30_000

/**
 * Reads on, and drops, what still comes of a body that is answered before its end. Closing a connection with bytes that
 * nobody read resets it, and a reset takes the answer away from whoever still sends (RFC 9112, 9.6).
 */
export function readOnAfterAnswers(app: FastifyInstance, { longestMs = LONGEST_MS } = {}): void {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  app.addHook('onSend', async ({ raw }, reply) => {
    if (raw.complete || raw.destroyed || !hasBody(raw)) return
    reply.header('connection', 'keep-alive')
    readOn(raw, AbortSignal.any([closing.signal, AbortSignal.timeout(longestMs)]))
  })
}

async function readOn(request: IncomingMessage, signal: AbortSignal): Promise<void> {
  request.resume()
  try {
    await finished(request, { signal })
    // The header of the answer said otherwise, so that it would not be closed too early.
    if (/\bclose\b/i.test(request.headers.connection ?? '')) request.socket.destroySoon()
  } catch {
    request.destroy()
  }
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
