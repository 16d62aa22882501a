import { networks, tokenSymbols } from '@coinrack/contract/invoices.ts'
import { type Asset, script, style } from '@coinrack/web/checkout/assets.ts'
import { checkoutPage, unknownCheckoutPage } from '@coinrack/web/checkout/page.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { payFromFaucet } from '../chain/pay-from-faucet.ts'
import { OperationError } from '../errors.ts'
import { checkoutEvents, checkoutView } from '../payments/checkout-view.ts'
import type { Services } from '../services.ts'
import { countStreams } from './count-streams.ts'

/** Proxies and browsers give a silent connection up. */
const KEEP_ALIVE_MS = 15_000
const RECONNECT_MS = 2_000
/** People look at an invoice in a few places; each stream holds a connection and asks the database. */
const MOST_STREAMS = 5

/** Whoever knows the secret sees the invoice, so the address goes nowhere: to no other site and into no cache. */
const PRIVATE = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}
const PAGE = {
  ...PRIVATE,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}
const FOR_EVER = 'public, max-age=31536000, immutable'

const assets = { style: style.path, script: script.path }

const Choice = z.object({ network: z.enum(networks), token: z.enum(tokenSymbols) })

type BySecret = FastifyRequest<{ Params: { secret: string } }>

/**
 * The checkout of an invoice, for whoever knows its secret: the page, the same as JSON (`.json`), its changes as
 * server-sent events (`/events`) and, in the demo profile, a payment from the faucet (`/demo-pay`).
 */
export function registerCheckout(app: FastifyInstance, services: Services): void {
  for (const asset of [style, script]) serveAsset(app, asset)

  app.get('/checkout/:secret', async (request: BySecret, reply) => {
    const { secret } = request.params
    if (secret.endsWith('.json')) return sendJson(services, secret.slice(0, -'.json'.length), reply)
    const view = await checkoutView(services, secret)
    if (!view) return reply.code(404).headers(PAGE).send(unknownCheckoutPage(assets))
    const page = checkoutPage(view, {
      path: pathOf(secret),
      chosen: Choice.safeParse(request.query).data,
      demo: services.demo !== undefined,
      assets,
    })
    return reply.headers(PAGE).send(page)
  })

  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  const takeStream = countStreams(MOST_STREAMS, { of: 'invoice', retryAfter: KEEP_ALIVE_MS / 1000 })
  app.get('/checkout/:secret/events', async (request: BySecret, reply) => {
    const { secret } = request.params
    await demandView(services, secret)
    const giveBack = takeStream(secret)
    reply.hijack()
    await streamEvents(services, secret, reply, closing.signal).finally(giveBack)
  })

  if (services.demo) registerDemoPay(app, services, services.demo)
}

const pathOf = (secret: string) => `/checkout/${encodeURIComponent(secret)}`

function serveAsset(app: FastifyInstance, { path, type, body }: Asset) {
  app.get(path, (_request, reply) => reply.header('cache-control', FOR_EVER).type(type).send(body))
}

async function sendJson(services: Services, secret: string, reply: FastifyReply) {
  return reply.headers(PRIVATE).send(await demandView(services, secret))
}

/** @throws OperationError `not_found` */
async function demandView(services: Services, secret: string) {
  const view = await checkoutView(services, secret)
  if (!view) throw new OperationError('not_found', 'There is no invoice at this address')
  return view
}

/** Each change as an event `view`, and `end` when nothing can change any more. */
async function streamEvents(services: Services, secret: string, { raw }: FastifyReply, closing: AbortSignal) {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  raw.writeHead(200, {
    ...PRIVATE,
    'content-type': 'text/event-stream; charset=utf-8',
    // Kept for another request, it would hold up the end of the service.
    connection: 'close',
    // Proxies that collect answers before they pass them on are asked not to.
    'x-accel-buffering': 'no',
  })
  raw.write(`retry: ${RECONNECT_MS}\n\n`)
  const keepAlive = setInterval(() => raw.write(': still here\n\n'), KEEP_ALIVE_MS)
  const signal = AbortSignal.any([gone.signal, closing])
  try {
    for await (const view of checkoutEvents(services, secret, signal)) {
      raw.write(`event: view\ndata: ${JSON.stringify(view)}\n\n`)
    }
    if (!signal.aborted) raw.write('event: end\ndata: {}\n\n')
  } catch (error) {
    services.log.error({ err: error }, 'A checkout stream broke off')
  } finally {
    clearInterval(keepAlive)
    raw.end()
  }
}

/** A real transfer on the local chain: asked for by a script, or by the form itself where there is none. */
function registerDemoPay(app: FastifyInstance, services: Services, demo: NonNullable<Services['demo']>) {
  app.register(async (form) => {
    form.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
    )
    form.post('/checkout/:secret/demo-pay', async (request: BySecret, reply) => {
      const { secret } = request.params
      const { invoice } = await demandView(services, secret)
      const choice = Choice.safeParse(request.body).data
      const option = invoice.payment_options.find(
        ({ network, token }) => network === choice?.network && token === choice.token,
      )
      if (!option)
        throw new OperationError('payment_method_unavailable', 'This is no way to pay this invoice')
      const hash = await payFromFaucet(demo, option)
      if (request.headers.accept?.includes('application/json')) {
        return reply.headers(PRIVATE).send({ tx_hash: hash })
      }
      return reply.headers(PRIVATE).redirect(pathOf(secret), 303)
    })
  })
}
