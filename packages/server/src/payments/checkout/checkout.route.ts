import { script, style, wallet } from '@coinrack/web/checkout/assets.ts'
import { liveParts } from '@coinrack/web/checkout/live-parts.ts'
import { checkoutPage, paymentPart, unknownCheckoutPage } from '@coinrack/web/checkout/page.ts'
import { paymentReceiptPage } from '@coinrack/web/checkout/payment-receipt.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RateLimiter } from '../../dispatch/rate-limiter.ts'
import type { Services } from '../../platform/services.ts'
import { serveAssets } from '../../transport/serve-assets.ts'
import { registerCheckoutEvents } from './checkout-events.route.ts'
import { assets, demandView, PAGE, PRIVATE, pageOptions } from './checkout-page.ts'
import { registerCheckoutPayments } from './checkout-payments.route.ts'
import { checkoutView, isReceipted } from './checkout-view.ts'

export type BySecret = FastifyRequest<{ Params: { secret: string } }>

/**
 * The checkout of an invoice, for anyone who knows its secret: the page and its parts, the same as JSON (`.json`), the
 * receipt, changes as server-sent events, and the payment routes.
 */
export function registerCheckout(app: FastifyInstance, services: Services, limiter: RateLimiter): void {
  serveAssets(app, style, script, wallet)

  app.get('/checkout/:secret', async (request: BySecret, reply) => {
    const { secret } = request.params
    if (secret.endsWith('.json')) return sendJson(services, secret.slice(0, -'.json'.length), reply)
    const view = await checkoutView(services, secret)
    if (!view) return reply.code(404).headers(PAGE).send(unknownCheckoutPage(assets))
    return reply.headers(PAGE).send(checkoutPage(view, pageOptions(services, secret, request.query)))
  })

  app.get('/checkout/:secret/panel', async (request: BySecret, reply) => {
    const { secret } = request.params
    const view = await demandView(services, secret)
    return reply.headers(PAGE).send(paymentPart(view, pageOptions(services, secret, request.query)).text)
  })

  app.get('/checkout/:secret/parts', async (request: BySecret, reply) => {
    const { secret } = request.params
    const view = await demandView(services, secret)
    return reply.headers(PRIVATE).send(liveParts(view, pageOptions(services, secret, {})))
  })

  app.get('/checkout/:secret/receipt', async (request: BySecret, reply) => {
    const { secret } = request.params
    const view = await checkoutView(services, secret)
    if (!view) return reply.code(404).headers(PAGE).send(unknownCheckoutPage(assets))
    const options = pageOptions(services, secret, {})
    if (!isReceipted(view)) return reply.headers(PRIVATE).redirect(options.path, 303)
    return reply.headers(PAGE).send(paymentReceiptPage(view, { ...options, style: assets.style }))
  })

  registerCheckoutEvents(app, services)
  registerCheckoutPayments(app, services, limiter)
}

async function sendJson(services: Services, secret: string, reply: FastifyReply) {
  return reply.headers(PRIVATE).send(await demandView(services, secret))
}
