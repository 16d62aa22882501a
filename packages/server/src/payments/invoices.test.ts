import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../chain/demo-chains.ts'
import { startTestChains, testWallet } from '../chain/testing.ts'
import { numberEvents } from '../events/number-events.ts'
import { sendQueuedMail } from '../platform/queue-mail.ts'
import { expireOrders } from '../vps/orders/expire-orders.ts'
import { expireInvoices } from './expire-invoices.ts'
import { type Customer, type PaymentsWorld, paymentsWorld, usd } from './testing.ts'

const DAY_MS = 24 * 3_600_000
let demo: DemoChains
let world: PaymentsWorld
let wallet: ReturnType<typeof testWallet>
let customer: Customer

beforeAll(async () => {
  demo = await startTestChains()
  // Twenty top-ups at once exceed the default rate limit; here the database itself must keep them apart.
  world = await paymentsWorld(demo.chains, { COINRACK_RATE_TOPUPS: '1000/min' })
  wallet = testWallet(demo.chains[0]!, demo.demo.faucet_key)
})
afterAll(async () => {
  // The nodes would outlive this process, so they are stopped first, even when the service could not be set up.
  await demo.stop()
  await world?.close()
})
beforeEach(async () => {
  customer = await world.customer()
})

const topup = async (amount: unknown = 10) => (await customer.post('/balance/topup', { amount })).body
const pay = (invoice: { payment_options: { address: `0x${string}` }[] }, dollars: number) =>
  wallet.pay('USDC', invoice.payment_options[0]!.address, usd(dollars))
const read = async (invoice: { id: string }) => (await customer.get(`/invoices/${invoice.id}`)).body
const balance = async () => (await customer.get('/balance')).body

describe('a top-up', () => {
  test('default: an invoice with all nine ways to pay, and the page where a person can', async () => {
    const { status, body } = await customer.post('/balance/topup', { amount: 12.5 })
    expect(status).toBe(200)
    expect(body.invoice).toMatchObject({
      kind: 'topup',
      status: 'unpaid',
      amount: '12.50',
      received: '0.00',
      currency: 'USD',
      order_id: null,
      paid_at: null,
      payments: [],
    })
    expect(body.invoice.checkout_url).toBe(body.checkout_url)
    expect(body.checkout_url).toMatch(/^http:\/\/127\.0\.0\.1:8080\/checkout\/[0-9a-f]{32}$/)
    expect(body.invoice.payment_options).toHaveLength(9)
    const addresses = body.invoice.payment_options.map((option: { address: string }) => option.address)
    expect(new Set(addresses).size).toBe(1)
    expect(body.invoice.payment_options[0]).toMatchObject({
      network: 'base',
      chain_id: 8453,
      token: 'USDC',
      decimals: 6,
      amount: '12.50',
      amount_atomic: '12500000',
    })
  })

  test('default: unpaid, confirming while the payment is seen, then paid and in the balance', async () => {
    const { invoice } = await topup()
    const hash = await pay(invoice, 10)
    await world.look()
    const confirming = await read(invoice)
    expect(confirming).toMatchObject({ status: 'confirming', received: '0.00', payment_options: [] })
    expect(confirming.payments).toMatchObject([
      {
        network: 'base',
        token: 'USDC',
        tx_hash: hash,
        amount: '10.00',
        confirmations: 1,
        required: '5',
        status: 'seen',
      },
    ])
    await world.settle()
    const paid = await read(invoice)
    expect(paid).toMatchObject({ status: 'paid', received: '10.00', payments: [{ status: 'credited' }] })
    expect(paid.paid_at).not.toBeNull()
    expect(await balance()).toMatchObject({ balance: '10.00', owed: '0.00' })
  })

  test('behavior: paid in parts, by other tokens on other networks; what is missing is asked for', async () => {
    const { invoice } = await topup()
    await pay(invoice, 4)
    await world.settle()
    const partly = await read(invoice)
    expect(partly).toMatchObject({ status: 'unpaid', received: '4.00' })
    expect(partly.payment_options[0].amount).toBe('6.00')
    expect(await balance()).toMatchObject({ balance: '4.00' })

    const polygon = testWallet(demo.chains[2]!, demo.demo.faucet_key)
    await polygon.pay('USDT', invoice.payment_options[0].address, usd(6))
    await world.settle()
    expect(await read(invoice)).toMatchObject({ status: 'paid', received: '10.00' })
  })

  test('behavior: more than was asked for is credited in full', async () => {
    const { invoice } = await topup()
    await pay(invoice, 11.5)
    await world.settle()
    expect(await read(invoice)).toMatchObject({ status: 'paid', received: '11.50' })
    expect(await balance()).toMatchObject({ balance: '11.50' })
  })

  test('behavior: paid twice, both payments are credited', async () => {
    const { invoice } = await topup()
    await pay(invoice, 10)
    await pay(invoice, 10)
    await world.settle()
    expect(await read(invoice)).toMatchObject({ status: 'paid', received: '20.00' })
    expect(await balance()).toMatchObject({ balance: '20.00' })
  })

  test('behavior: expires after a day; money that comes later is credited all the same', async () => {
    const { invoice } = await topup()
    world.clock.advance(DAY_MS - 1000)
    await expireInvoices(world.services)
    expect(await read(invoice)).toMatchObject({ status: 'unpaid' })
    world.clock.advance(1000)
    await expireInvoices(world.services)
    expect(await read(invoice)).toMatchObject({ status: 'expired', payment_options: [] })

    await pay(invoice, 10)
    await world.settle()
    expect(await read(invoice)).toMatchObject({ status: 'expired', received: '10.00' })
    expect(await balance()).toMatchObject({ balance: '10.00' })
  })

  test('behavior: does not expire under a payment that waits for its confirmations', async () => {
    const { invoice } = await topup()
    await pay(invoice, 10)
    await world.look()
    world.clock.advance(2 * DAY_MS)
    await expireInvoices(world.services)
    await world.settle()
    expect(await read(invoice)).toMatchObject({ status: 'paid' })
  })

  test('behavior: shows only the network and token that were asked for', async () => {
    const body = { amount: 10, network: 'polygon', token: 'PYUSD' }
    const { invoice } = (await customer.post('/balance/topup', body)).body
    expect(invoice.payment_options).toMatchObject([{ network: 'polygon', token: 'PYUSD' }])
  })

  test('behavior: the address stays the same from one top-up to the next', async () => {
    const first = (await topup()).invoice
    await customer.post(`/invoices/${first.id}/cancel`)
    const second = (await topup()).invoice
    expect(second.payment_options[0].address).toBe(first.payment_options[0].address)
    expect(second.checkout_url).not.toBe(first.checkout_url)
  })

  test('error: one at a time', async () => {
    const { invoice } = await topup()
    const { status, body } = await customer.post('/balance/topup', { amount: 20 })
    expect(status).toBe(409)
    expect(body).toMatchObject({
      code: 'topup_pending',
      checkout_url: invoice.checkout_url,
      invoice: { id: invoice.id },
    })
  })

  test('error: one at a time, also of twenty at the same moment', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => customer.post('/balance/topup', { amount: 10 })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])
    const urls = new Set(replies.map(({ body }) => body.checkout_url))
    expect(urls.size).toBe(1)
    expect((await customer.get('/invoices')).body).toHaveLength(1)
  })

  test.each([2.99, -1, 0, '3,00', '1e3', '3.0000001', '10000.01', 1e21, null, 'NaN'])(
    'error: refuses the amount %j and makes nothing',
    async (amount) => {
      const { status, body } = await customer.post('/balance/topup', { amount })
      expect(status).toBe(422)
      expect(body).toMatchObject({ code: 'invalid_input', details: [{ path: 'amount' }] })
      expect((await customer.get('/invoices')).body).toEqual([])
    },
  )

  test.each([3, '3.00', '3.000001', 10000])('behavior: takes the amount %j', async (amount) => {
    expect((await customer.post('/balance/topup', { amount })).status).toBe(200)
  })
})

describe('reading', () => {
  test('behavior: waits for the payment', async () => {
    const { invoice } = await topup()
    const waiting = customer.get(`/invoices/${invoice.id}?wait=paid&timeout=20`)
    await pay(invoice, 10)
    await world.settle()
    expect((await waiting).body).toMatchObject({ status: 'paid' })
  })

  test('behavior: waits no longer than it was told', async () => {
    const { invoice } = await topup()
    const begun = performance.now()
    const { status, body } = await customer.get(`/invoices/${invoice.id}?wait=paid&timeout=1`)
    expect([status, body.status]).toEqual([200, 'unpaid'])
    expect(performance.now() - begun).toBeGreaterThan(990)
    expect(performance.now() - begun).toBeLessThan(3000)
  })

  test('behavior: newest first, by status and in pages', async () => {
    const ids: string[] = []
    for (let index = 0; index < 3; index++) {
      world.clock.advance(1)
      const { invoice } = await topup()
      ids.unshift(invoice.id)
      if (index < 2) await customer.post(`/invoices/${invoice.id}/cancel`)
    }
    const idsOf = async (query: string) =>
      (await customer.get(`/invoices${query}`)).body.map((invoice: { id: string }) => invoice.id)
    expect(await idsOf('')).toEqual(ids)
    expect(await idsOf('?status=unpaid')).toEqual(ids.slice(0, 1))
    expect(await idsOf('?status=cancelled')).toEqual(ids.slice(1))
    const page = await customer.get('/invoices?limit=2')
    const next = /[?&]cursor=([^&>]+)/.exec(String(page.headers.link))![1]
    expect(await idsOf(`?limit=2&cursor=${next}`)).toEqual(ids.slice(2))
  })

  test("error: another account's invoice, and one that does not exist", async () => {
    const { invoice } = await topup()
    const stranger = await world.customer()
    expect((await stranger.get(`/invoices/${invoice.id}`)).status).toBe(403)
    expect((await stranger.get('/invoices/inv_nonsense')).status).toBe(404)
    expect((await stranger.get(`/invoices/inv_${'0'.repeat(26)}`)).status).toBe(404)
  })
})

describe('cancelling', () => {
  test('default: a closed invoice, and room for another top-up', async () => {
    const { invoice } = await topup()
    const { status, body } = await customer.post(`/invoices/${invoice.id}/cancel`)
    expect([status, body.status]).toEqual([200, 'cancelled'])
    expect((await customer.post('/balance/topup', { amount: 5 })).status).toBe(200)
  })

  test('behavior: again changes nothing', async () => {
    const { invoice } = await topup()
    await customer.post(`/invoices/${invoice.id}/cancel`)
    expect((await customer.post(`/invoices/${invoice.id}/cancel`)).body).toMatchObject({
      status: 'cancelled',
    })
  })

  test('behavior: money that was on its way is credited', async () => {
    const { invoice } = await topup()
    await customer.post(`/invoices/${invoice.id}/cancel`)
    await pay(invoice, 10)
    await world.settle()
    expect(await balance()).toMatchObject({ balance: '10.00' })
    expect(await read(invoice)).toMatchObject({ status: 'cancelled' })
  })

  test('error: when a payment was seen', async () => {
    const { invoice } = await topup()
    await pay(invoice, 1)
    await world.look()
    expect((await customer.post(`/invoices/${invoice.id}/cancel`)).body).toMatchObject({
      code: 'payment_seen',
    })
  })

  test('error: a paid one', async () => {
    const { invoice } = await topup()
    await pay(invoice, 10)
    await world.settle()
    const { status, body } = await customer.post(`/invoices/${invoice.id}/cancel`)
    expect([status, body.code]).toEqual([409, 'invoice_closed'])
  })
})

describe('an invoice of an order', () => {
  const order = { product: 'nano', os_id: 1 }

  async function unpaidOrder() {
    const { status, body } = await customer.post('/orders', order)
    expect([status, body.code]).toEqual([402, 'insufficient_balance'])
    return { invoice: body.invoice, orderId: body.order_id as string, price: Number(body.required) }
  }
  const orderStatus = async (id: string) => (await customer.get(`/orders/${id}`)).body.status

  test('default: money at its address pays the order, once', async () => {
    const { invoice, orderId, price } = await unpaidOrder()
    expect(invoice).toMatchObject({ kind: 'order', status: 'unpaid', order_id: orderId })
    await pay(invoice, price)
    await world.settle()
    const [vps, ...others] = (await customer.get('/services')).body
    expect(others).toEqual([])
    expect(await read(invoice)).toMatchObject({ status: 'paid', service_id: vps.id })
    const { body } = await world.tool('get_invoice', { invoice_id: invoice.id }, { token: customer.token })
    expect(body.next_steps).toMatchObject([
      { tool: 'get_vps_status', arguments: { service_id: vps.id, wait: 'ssh_ready' } },
    ])
    expect(await orderStatus(orderId)).toBe('provisioning')
    expect(await balance()).toMatchObject({ balance: '0.00' })
    await world.expectBooksToBalance()
  })

  test('behavior: a part of it is in the balance, and the rest pays the order', async () => {
    const { invoice, orderId, price } = await unpaidOrder()
    await pay(invoice, price - 1)
    await world.settle()
    expect(await orderStatus(orderId)).toBe('awaiting_payment')
    expect((await customer.balance()).available).toBe(usd(price - 1))
    await pay(invoice, 1.5)
    await world.settle()
    expect(await orderStatus(orderId)).toBe('provisioning')
    expect(await balance()).toMatchObject({ balance: '0.50' })
  })

  test("behavior: money at the account's own address never pays it", async () => {
    const { invoice, orderId, price } = await unpaidOrder()
    await wallet.pay('USDC', await customer.address(), usd(price))
    await world.settle()
    expect(await orderStatus(orderId)).toBe('awaiting_payment')
    expect(await read(invoice)).toMatchObject({ status: 'unpaid', received: '0.00' })
    expect((await customer.balance()).available).toBe(usd(price))
  })

  test('behavior: has an address of its own', async () => {
    const { invoice } = await unpaidOrder()
    const own = await customer.address()
    expect(invoice.payment_options[0].address.toLowerCase()).not.toBe(own)
  })

  test('behavior: paid from the balance when that covers it', async () => {
    const { invoice, orderId, price } = await unpaidOrder()
    await world.credit(customer.accountId, usd(price))
    const { status, body } = await customer.post(`/invoices/${invoice.id}/pay`)
    expect([status, body.status, body.invoice.status]).toEqual([200, 'settled', 'paid'])
    expect(await orderStatus(orderId)).toBe('provisioning')
    const again = await customer.post(`/invoices/${invoice.id}/pay`)
    expect([again.status, again.body.code]).toEqual([409, 'invoice_closed'])
  })

  test('behavior: paid from the balance five times at once, it is paid once', async () => {
    const { invoice, price } = await unpaidOrder()
    await world.credit(customer.accountId, usd(3 * price))
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => customer.post(`/invoices/${invoice.id}/pay`, { method: 'balance' })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
    expect(await customer.balance()).toMatchObject({ available: usd(2 * price), held: usd(price) })
  })

  test('behavior: by crypto when the balance does not cover it', async () => {
    const { invoice } = await unpaidOrder()
    const { status, body } = await customer.post(`/invoices/${invoice.id}/pay`)
    expect([status, body.status, body.checkout_url]).toEqual([200, 'initiated', invoice.checkout_url])
  })

  test('error: from a balance that does not cover it', async () => {
    const { invoice, price } = await unpaidOrder()
    const { status, body } = await customer.post(`/invoices/${invoice.id}/pay`, { method: 'balance' })
    expect(status).toBe(402)
    expect(body).toMatchObject({
      code: 'insufficient_balance',
      balance: '0.00',
      required: body.shortfall,
      currency: 'USD',
      paid_from_balance: false,
      invoice: { id: invoice.id },
    })
    expect(Number(body.required)).toBe(price)
  })

  /** The events of the customer, oldest first. */
  async function told() {
    await numberEvents(world.services)
    const events: { type: string; data: object }[] = (await customer.get('/events')).body
    return events.map(({ type, data }) => [type, data])
  }
  const checkoutOf = async ({ checkout_url }: { checkout_url: string }, form: string) =>
    (await world.app.inject(new URL(checkout_url).pathname + form)).body

  describe('that has no room when its money comes', () => {
    /** Without any memory to give, until it is called again. */
    async function fill() {
      await world.hostSays({ capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } })
      return () => world.hostSays()
    }

    test('default: settled to the balance with its reason; order, event, mail and checkout say so', async () => {
      const { invoice, orderId, price } = await unpaidOrder()
      const empty = await fill()
      await pay(invoice, price)
      await world.settle()
      await empty()
      const settled = await read(invoice)
      const reason = 'There is no room for a machine of this plan'
      expect(settled).toMatchObject({
        status: 'settled_to_balance',
        closed_reason: reason,
        received: settled.amount,
        service_id: null,
        payment_options: [],
        payments: [{ status: 'credited' }],
      })
      expect(await customer.balance()).toMatchObject({ available: usd(price), held: 0n })
      const failed = { status: 'failed', failure_reason: reason, service_id: null }
      expect((await customer.get(`/orders/${orderId}`)).body).toMatchObject(failed)
      expect(await told()).toEqual([
        ['balance.credited', expect.objectContaining({ invoice_id: invoice.id })],
        [
          'invoice.settled_to_balance',
          { invoice_id: invoice.id, order_id: orderId, service_id: null, received: settled.amount, reason },
        ],
        ['order.failed', { order_id: orderId, service_id: null, invoice_id: invoice.id, reason }],
      ])
      await sendQueuedMail(world.services)
      const { email } = (await customer.get('/account')).body
      expect(world.mails.at(-1)).toMatchObject({
        to: email,
        subject: expect.stringContaining('nothing was charged'),
      })
      expect(world.mails.at(-1)!.text).toContain(reason)
      expect(JSON.parse(await checkoutOf(invoice, '.json'))).toMatchObject({
        state: 'settled_to_balance',
        invoice: { closed_reason: reason },
      })
      expect(await checkoutOf(invoice, '')).toContain('are on the balance')
      expect(await customer.get(`/invoices/${invoice.id}/receipt`)).toMatchObject({ status: 409 })
      await world.expectBooksToBalance()
    })

    test('behavior: it never starts later; the same order again is another', async () => {
      const { invoice, orderId, price } = await unpaidOrder()
      const empty = await fill()
      await pay(invoice, price)
      await world.settle()
      await empty()
      await world.credit(customer.accountId, usd(price))
      await world.settle()
      world.clock.advance(3_600_000)
      await world.settle()
      expect((await customer.get('/services')).body).toEqual([])
      expect((await customer.balance()).available).toBe(usd(2 * price))
      const again = await customer.post('/orders', order)
      expect(again.status).toBe(200)
      expect(again.body.id).not.toBe(orderId)
      expect(await customer.balance()).toMatchObject({ available: usd(price), held: usd(price) })
      expect(await read(invoice)).toMatchObject({ status: 'settled_to_balance' })
    })

    test('behavior: in parts, of which one was spent meanwhile, it is settled to what is left', async () => {
      const { invoice, orderId, price } = await unpaidOrder()
      await pay(invoice, price - 1)
      await world.settle()
      const hourly = await customer.post('/orders', { ...order, billing_cycle: 'hourly' })
      expect(hourly.status).toBe(200)
      await pay(invoice, 1)
      await world.settle()
      expect(await read(invoice)).toMatchObject({
        status: 'settled_to_balance',
        closed_reason: expect.stringContaining('balance'),
      })
      expect(await orderStatus(orderId)).toBe('failed')
      await world.credit(customer.accountId, usd(10))
      await world.settle()
      expect((await customer.get('/services')).body).toHaveLength(1)
    })
  })

  test('behavior: an order does not expire under a payment that waits for its confirmations', async () => {
    const { invoice, orderId, price } = await unpaidOrder()
    await pay(invoice, price)
    await world.look()
    world.clock.advance(DAY_MS)
    await expireOrders(world.services)
    await expireInvoices(world.services)
    await world.settle()
    expect(await orderStatus(orderId)).toBe('provisioning')
    expect(await read(invoice)).toMatchObject({ status: 'paid' })
  })
})

test('error: a top-up is not paid from the balance', async () => {
  const { invoice } = await topup()
  const { status, body } = await customer.post(`/invoices/${invoice.id}/pay`, { method: 'balance' })
  expect([status, body.code]).toEqual([422, 'topup_by_crypto_only'])
  expect((await customer.post(`/invoices/${invoice.id}/pay`)).body).toMatchObject({ status: 'initiated' })
})
