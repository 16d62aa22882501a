import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains, testWallet } from '../../chain/testing.ts'
import { type PaymentsWorld, paymentsWorld, usd } from '../testing.ts'
import { type CheckoutView, checkoutEvents, checkoutView } from './checkout-view.ts'

let demo: DemoChains
let world: PaymentsWorld

beforeAll(async () => {
  demo = await startTestChains()
  world = await paymentsWorld(demo.chains)
})
afterAll(async () => {
  // The nodes would outlive this process, so they are stopped first, even when the service could not be set up.
  await demo.stop()
  await world?.close()
})

async function openTopup() {
  const customer = await world.customer()
  const { invoice, checkout_url } = (await customer.post('/balance/topup', { amount: 10 })).body
  return { customer, invoice, secret: (checkout_url as string).split('/').at(-1)! }
}

test('default: the invoice as its owner sees it, to whoever has the secret', async () => {
  const { customer, invoice, secret } = await openTopup()
  expect(await checkoutView(world.services, secret)).toEqual({
    state: 'waiting',
    progress: null,
    invoice: (await customer.get(`/invoices/${invoice.id}`)).body,
  })
})

test('error: another secret, or the id in its place', async () => {
  const { invoice } = await openTopup()
  expect(await checkoutView(world.services, '0'.repeat(32))).toBeUndefined()
  expect(await checkoutView(world.services, invoice.id)).toBeUndefined()
})

test('behavior: events tell every step of a payment, and end with it', async () => {
  const { invoice, secret } = await openTopup()
  const views: CheckoutView[] = []
  const reading = (async () => {
    for await (const view of checkoutEvents(world.services, secret, new AbortController().signal))
      views.push(view)
  })()
  const wallet = testWallet(demo.chains[0]!, demo.demo.faucet_key)
  await wallet.pay('USDC', invoice.payment_options[0].address, usd(10))
  // Each look mines a block while the payment waits, and each block is announced before the next.
  for (let told = 1; told < 6; told++) {
    await world.look()
    await vi.waitFor(() => expect(views.length).toBeGreaterThan(told), { timeout: 5_000 })
  }
  await reading
  expect(views.map(({ state }) => state)).toEqual(['waiting', 'seen', 'seen', 'seen', 'seen', 'credited'])
  expect(views.flatMap(({ progress }) => progress ?? [])).toEqual(
    [1, 2, 3, 4].map((confirmations) => ({ confirmations, required: 5 })),
  )
})

test('behavior: events end when the reader is gone', async () => {
  const { secret } = await openTopup()
  const gone = new AbortController()
  const events = checkoutEvents(world.services, secret, gone.signal)
  await events.next()
  const next = events.next()
  gone.abort()
  expect(await next).toMatchObject({ done: true })
})
