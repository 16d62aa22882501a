import type { FastifyInstance } from 'fastify'
import { payFromFaucet } from '../../chain/pay-from-faucet.ts'
import type { RateLimiter } from '../../dispatch/rate-limiter.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { paymentHeaders } from '../../transport/payment-headers.ts'
import { payInvoiceByX402 } from '../x402/pay-invoice-by-x402.ts'
import type { BySecret } from './checkout.route.ts'
import { Choice, demandView, PRIVATE, pathOf } from './checkout-page.ts'
import { checkoutInvoice } from './checkout-view.ts'
import { walletRequest } from './wallet-request.ts'

/**
 * The routes that pay an invoice from its page: the data for a wallet in the browser (`/wallet`), payments by signature
 * (`/x402`, which any client of x402 can use) and, in the demo profile, a payment from the faucet (`/demo-pay`).
 */
export function registerCheckoutPayments(
  app: FastifyInstance,
  services: Services,
  limiter: RateLimiter,
): void {
  app.get('/checkout/:secret/wallet', async (request: BySecret, reply) => {
    const invoice = await demandInvoice(services, request.params.secret)
    const choice = Choice.safeParse(request.query).data
    const wanted = choice && walletRequest(services, invoice, choice)
    if (!wanted) throw noSuchWay()
    return reply.headers(PRIVATE).send(wanted)
  })

  app.post('/checkout/:secret/x402', async (request: BySecret, reply) => {
    const invoice = await demandInvoice(services, request.params.secret)
    const payment = request.headers['payment-signature'] ?? request.headers['x-payment']
    if (payment !== undefined) {
      // Each try may cost gas, and anyone with the URL may try, so tries do not count against the account's own limits.
      await limiter.take('topups', undefined, request.ip)
      await limiter.take('topups', invoice.id, request.ip)
    }
    reply.headers(PRIVATE)
    const isGone = () => request.raw.socket.destroyed
    const body = await payInvoiceByX402(services, invoice, { payment, isGone }).catch((error) => {
      throw withPaymentHeaders(error)
    })
    return reply.headers(paymentHeaders({ ...body })).send(body)
  })

  if (services.demo) registerDemoPay(app, services, services.demo)
}

const noSuchWay = () =>
  new OperationError('payment_method_unavailable', 'This invoice cannot be paid that way', { nextSteps: [] })

/** @throws OperationError `not_found` */
async function demandInvoice(services: Services, secret: string) {
  const invoice = await checkoutInvoice(services, secret)
  if (!invoice) throw new OperationError('not_found', 'There is no invoice at this address')
  return invoice
}

/** Adds the terms as headers, where clients of x402 read them. */
function withPaymentHeaders(error: unknown): unknown {
  if (!(error instanceof OperationError)) return error
  const headers = { ...error.options.headers, ...paymentHeaders(error.options.fields ?? {}) }
  return new OperationError(error.code, error.message, { ...error.options, headers })
}

/** Makes a real transfer on the local chain, requested by the page's script, or by the form itself without scripts. */
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
      if (!option) throw noSuchWay()
      const hash = await payFromFaucet(demo, option)
      if (request.headers.accept?.includes('application/json')) {
        return reply.headers(PRIVATE).send({ tx_hash: hash })
      }
      return reply.headers(PRIVATE).redirect(pathOf(secret), 303)
    })
  })
}
