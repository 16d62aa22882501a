import { changedParts, type LiveParts, liveParts } from '@coinrack/web/checkout/live-parts.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Services } from '../../platform/services.ts'
import { countStreams } from '../../transport/count-streams.ts'
import type { BySecret } from './checkout.route.ts'
import { demandView, PRIVATE, pageOptions } from './checkout-page.ts'
import { type CheckoutView, checkoutEvents } from './checkout-view.ts'

/** Proxies and browsers give up a silent connection. */
const KEEP_ALIVE_MS = 15_000
const RECONNECT_MS = 2_000
/** A person views an invoice in only a few places; each stream holds a connection and queries the database. */
const MOST_STREAMS = 5

interface CheckoutEvent {
  event: 'view' | 'parts'
  data: CheckoutView | LiveParts
}

/**
 * Streams the changes of an invoice: each as an event `view` with the whole view as JSON, or with `?as=parts` as an event
 * `parts` with the changed parts of the page, the first with all; then `end` when nothing can change any more.
 */
export function registerCheckoutEvents(app: FastifyInstance, services: Services): void {
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  const takeStream = countStreams(MOST_STREAMS, { of: 'invoice', retryAfter: KEEP_ALIVE_MS / 1000 })
  app.get('/checkout/:secret/events', async (request: BySecret, reply) => {
    const { secret } = request.params
    const asParts = (request.query as { as?: unknown }).as === 'parts'
    await demandView(services, secret)
    const giveBack = takeStream(secret)
    reply.hijack()
    const writes = asParts
      ? partsWriter(services, secret)
      : (view: CheckoutView) => ({ event: 'view' as const, data: view })
    await streamEvents(services, secret, { reply, writes, closing: closing.signal }).finally(giveBack)
  })
}

/** Turns each view into the parts that differ from the previous one. */
function partsWriter(services: Services, secret: string): (view: CheckoutView) => CheckoutEvent {
  const options = pageOptions(services, secret, {})
  let before: LiveParts | undefined
  return (view) => {
    const now = liveParts(view, options)
    const data = changedParts(now, before)
    before = now
    return { event: 'parts', data }
  }
}

async function streamEvents(
  services: Services,
  secret: string,
  {
    reply: { raw },
    writes,
    closing,
  }: { reply: FastifyReply; writes: (view: CheckoutView) => CheckoutEvent; closing: AbortSignal },
) {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  raw.writeHead(200, {
    ...PRIVATE,
    'content-type': 'text/event-stream; charset=utf-8',
    // A connection kept alive for another request would delay the shutdown of the service.
    connection: 'close',
    // Asks proxies not to buffer the answer.
    'x-accel-buffering': 'no',
  })
  raw.write(`retry: ${RECONNECT_MS}\n\n`)
  const keepAlive = setInterval(() => raw.write(': still here\n\n'), KEEP_ALIVE_MS)
  const signal = AbortSignal.any([gone.signal, closing])
  try {
    for await (const view of checkoutEvents(services, secret, signal)) {
      const { event, data } = writes(view)
      raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    }
    if (!signal.aborted) raw.write('event: end\ndata: {}\n\n')
  } catch (error) {
    services.log.error({ err: error }, 'A checkout stream broke off')
  } finally {
    clearInterval(keepAlive)
    raw.end()
  }
}
