import { basePath } from '@coinrack/contract/index.ts'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import { decodePaymentResponseHeader, wrapFetchWithPayment } from '@x402/fetch'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains, testWallet } from '../../chain/testing.ts'
import { type Customer, usd } from '../testing.ts'
import {
  encodePayment,
  type Payer,
  present,
  type SignedPayment,
  sendElsewhere,
  signPayment,
  stockClient,
  termsOf,
  type X402World,
  x402World,
} from './testing.ts'

/*
 * Invoices that are paid by signature, by a payer with their checkout URL and no token.
 */

let demo: DemoChains
let world: X402World
let customer: Customer
let payer: Payer

beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo)
  await world.look()
})
afterAll(async () => {
  await demo.stop()
  await world?.close()
})
beforeEach(async () => {
  customer = await world.customer()
  payer = await world.payer([{ symbol: 'USDC', amount: usd(20) }])
})

const wallet = () => testWallet(demo.chains[0]!, demo.demo.faucet_key)

/** The path that pays an invoice without a token, from its checkout URL. */
const linkOf = (body: { checkout_url: string }) => `${new URL(body.checkout_url).pathname}/x402`
const topupLink = async (amount = 5) => linkOf((await customer.post('/balance/topup', { amount })).body)
async function orderLink() {
  const { body } = await customer.post('/orders', { product: 'nano', os_id: 1 })
  return { link: linkOf(body), orderId: body.order_id as string, invoiceId: body.invoice.id as string }
}

let calls = 0
/** @param address a new IP address for each call by default, since rate limits count by address */
async function pay(link: string, payment?: unknown, address = `10.76.${++calls >> 8}.${calls & 255}`) {
  const reply = await world.app.inject({
    method: 'POST',
    url: link,
    remoteAddress: address,
    headers: payment === undefined ? {} : { 'payment-signature': encodePayment(payment) },
  })
  return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
}

async function sign(link: string, by = payer): Promise<SignedPayment> {
  const { body } = await pay(link)
  return signPayment(by, body.accepts[0])
}

test('default: the stock client pays the invoice of an order in one retry, and the machine is begun', async () => {
  const { link, orderId } = await orderLink()
  const origin = world.topupUrl.slice(0, -`${basePath}/balance/topup`.length)
  const asked: number[] = []
  const counting: typeof fetch = async (...call) => {
    const answer = await fetch(...call)
    asked.push(answer.status)
    return answer
  }
  const reply = await wrapFetchWithPayment(counting, stockClient(payer))(origin + link, { method: 'POST' })
  const body = await reply.json()
  expect(asked).toEqual([402, 200])
  expect(body).toMatchObject({
    state: 'credited',
    invoice: { kind: 'order', status: 'paid', received: '3.00' },
    settlement: { success: true, network: 'eip155:8453', payer: payer.address, amount: '3000000' },
  })
  expect(decodePaymentResponseHeader(reply.headers.get('payment-response')!)).toEqual(body.settlement)
  expect((await customer.get(`/orders/${orderId}`)).body.status).toBe('provisioning')
  expect(await wallet().client.getTransactionCount({ address: payer.address })).toBe(0)
  await world.settle()
  await world.expectBooksToBalance()
  expect(await world.deposits(customer.accountId)).toHaveLength(1)
})

test('default: without a payment the terms are what is still to be paid, at the address of the invoice', async () => {
  const link = await topupLink()
  await wallet().pay('USDC', (await customer.address()) as `0x${string}`, usd(2))
  await world.settle()
  const { status, body, headers } = await pay(link)
  expect(status).toBe(402)
  expect(body).toMatchObject({ code: 'payment_required', x402Version: 2, next_steps: [] })
  const required = decodePaymentRequiredHeader(headers['payment-required'] as string)
  expect(required.accepts).toEqual(body.accepts)
  expect(required.resource!.url.endsWith(link)).toBe(true)
  expect(body.accepts[0]).toMatchObject({ amount: '3000000', network: 'eip155:8453' })
  expect(body.accepts[0].payTo.toLowerCase()).toBe(await customer.address())
})

test('behavior: of an invoice for one network and token, only that', async () => {
  const { body } = await customer.post('/balance/topup', { amount: 3, network: 'polygon', token: 'PYUSD' })
  const { accepts } = (await pay(linkOf(body))).body
  expect(accepts).toMatchObject([{ network: 'eip155:137' }])
  const usdt = await world.customer()
  const other = await usdt.post('/balance/topup', { amount: 3, token: 'USDT' })
  expect((await pay(linkOf(other.body))).body.code).toBe('payment_method_unavailable')
})

test('behavior: whoever pays learns nothing of the account, its balance or its other invoices', async () => {
  await world.credit(customer.accountId, usd(1.23))
  const { link, invoiceId } = await orderLink()
  const topup = (await customer.post('/balance/topup', { amount: 5 })).body.invoice
  const payment = await sign(link)
  const answers = [await pay(link), await pay(link, payment), await pay(link, payment), await pay(link)]
  expect(answers.map(({ status }) => status)).toEqual([402, 200, 200, 409])
  const told = JSON.stringify(answers)
  expect(told).toContain(invoiceId)
  for (const secret of [customer.accountId, customer.token, topup.id, '1.23', '"balance"'])
    expect(told).not.toContain(secret)
  expect(told).not.toMatch(/@rackmail\.net/)
})

test('behavior: the same payment many times at once is settled once, and later is answered as before', async () => {
  const link = await topupLink()
  const payment = await sign(link)
  const replies = await Promise.all(Array.from({ length: 6 }, () => pay(link, payment)))
  expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(200))
  expect(new Set(replies.map(({ body }) => body.settlement.transaction)).size).toBe(1)
  await world.settle()
  const again = await pay(link, payment)
  expect(again).toMatchObject({ status: 200, body: { state: 'credited', settlement: { success: true } } })
  expect((await customer.balance()).available).toBe(usd(5))
  expect(await wallet().balance('USDC', payer.address)).toBe(usd(15))
})

test('behavior: of two payers at the same moment one pays, and the other is told to keep their money', async () => {
  const { link } = await orderLink()
  const other = await world.payer([{ symbol: 'USDC', amount: usd(20) }])
  const payments = [await sign(link), await sign(link, other)]
  const replies = await Promise.all(payments.map((payment) => pay(link, payment)))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
  const refused = replies.find(({ status }) => status === 409)!.body
  expect(['payment_arrived', 'payment_pending', 'payment_seen', 'invoice_closed']).toContain(refused.code)
  expect(refused.next_steps).toEqual([])
  const left = await Promise.all([payer, other].map(({ address }) => wallet().balance('USDC', address)))
  expect(left.sort()).toEqual([usd(17), usd(20)].sort())
  await world.settle()
  await world.expectBooksToBalance()
})

test('behavior: one that is looked at while another is credited is told to keep their money', async () => {
  const { link } = await orderLink()
  const other = await world.payer([{ symbol: 'USDC', amount: usd(20) }])
  const [first, second] = [await sign(link), await sign(link, other)]
  const gasWallet = world.services.chains[0]!.gasWallet!
  const { verify } = gasWallet
  gasWallet.verify = async (transfer) => {
    gasWallet.verify = verify
    expect(await pay(link, first)).toMatchObject({ status: 200, body: { state: 'credited' } })
    return verify(transfer)
  }
  expect(await pay(link, second)).toMatchObject({ status: 409, body: { code: 'payment_arrived' } })
  expect(await wallet().balance('USDC', other.address)).toBe(usd(20))
})

test('behavior: what somebody else sent first is answered as paid, and settles the invoice', async () => {
  const { link, orderId } = await orderLink()
  const payment = await sign(link)
  await sendElsewhere(wallet(), payment)
  expect(await pay(link, payment)).toMatchObject({ status: 200, body: { settlement: { success: true } } })
  await world.settle()
  expect((await customer.get(`/orders/${orderId}`)).body.status).toBe('provisioning')
  expect(await world.deposits(customer.accountId)).toHaveLength(1)
})

test('behavior: what the watcher saw first is credited once', async () => {
  const link = await topupLink()
  const payment = await sign(link)
  await sendElsewhere(wallet(), payment)
  await world.settle()
  const reply = await pay(link, payment)
  // The invoice is closed by now, so no payment is asked for.
  expect(reply).toMatchObject({ status: 409, body: { code: 'invoice_closed' } })
  expect((await customer.balance()).available).toBe(usd(5))
})

test('behavior: an earlier payment of an order does not stand in the way of an equal top-up', async () => {
  const { link } = await orderLink()
  const payment = await sign(link)
  await pay(link, payment)
  await world.services.db.query('update x402_payment set told_at = null')
  const topup = await signPayment(payer, await termsOf(customer, { amount: 3 }))
  expect(await present(customer, 3, topup)).toMatchObject({ status: 200 })
})

describe('refusals take nothing', () => {
  const expectNothing = async (from = usd(20)) => {
    expect(await wallet().balance('USDC', payer.address)).toBe(from)
    const { rows } = await world.services.db.query('select from x402_payment where account_id = $1', [
      customer.accountId,
    ])
    expect(rows).toEqual([])
  }

  test.each([
    ['another amount', { authorization: { value: '4999999' } }, 'payment_not_accepted'],
    ['another payee', { authorization: { to: `0x${'22'.repeat(20)}` } }, 'payment_not_accepted'],
    ['one that is over', { authorization: { validBefore: '1' } }, 'payment_expired'],
  ])('error: %s', async (_what, changes, code) => {
    const link = await topupLink()
    const { body } = await pay(link)
    const reply = await pay(link, await signPayment(payer, body.accepts[0], changes))
    expect(reply).toMatchObject({ status: 402, body: { code, next_steps: [] } })
    expect(reply.headers['payment-required']).toBeDefined()
    await expectNothing()
  })

  test('error: a payment of another invoice', async () => {
    const link = await topupLink()
    const payment = await sign(link)
    expect((await pay(link, payment)).status).toBe(200)
    const next = await topupLink()
    const reply = await pay(next, payment)
    expect(reply).toMatchObject({ status: 409, body: { code: 'payment_arrived' } })
    expect(reply.body.message).not.toMatch(/inv_|0x/)
    await world.settle()
    expect((await customer.balance()).available).toBe(usd(5))
  })

  test('error: a cancelled invoice', async () => {
    const { body } = await customer.post('/balance/topup', { amount: 5 })
    const payment = await sign(linkOf(body))
    await customer.post(`/invoices/${body.invoice.id}/cancel`)
    const reply = await pay(linkOf(body), payment)
    expect(reply).toMatchObject({ status: 409, body: { code: 'invoice_closed' } })
    await expectNothing()
  })

  test('error: an order whose room is gone', async () => {
    const { link } = await orderLink()
    const payment = await sign(link)
    await world.hostSays({ capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } })
    const reply = await pay(link, payment)
    await world.hostSays()
    expect(reply).toMatchObject({ status: 503, body: { code: 'capacity' } })
    await expectNothing()
  })

  test('error: an unknown secret', async () => {
    expect((await pay(`/checkout/${'0'.repeat(32)}/x402`)).status).toBe(404)
  })

  test('error: too many tries, of an address and of an invoice, which take nothing of the account', async () => {
    const link = await topupLink()
    const statuses: number[] = []
    for (let count = 0; count < 11; count++) statuses.push((await pay(link, 'x', `10.77.${count}.1`)).status)
    expect(statuses).toEqual([...Array(10).fill(400), 429])
    const others: number[] = []
    for (let count = 0; count < 11; count++)
      others.push((await pay(`/checkout/${'0'.repeat(32)}/x402`, 'x', '10.78.0.1')).status)
    expect(others).toEqual(Array(11).fill(404))
    const elsewhere: number[] = []
    for (let count = 0; count < 11; count++) {
      const next = await world.customer()
      const { body } = await next.post('/balance/topup', { amount: 3 })
      elsewhere.push((await pay(linkOf(body), 'x', '10.79.0.1')).status)
    }
    expect(elsewhere).toEqual([...Array(10).fill(400), 429])
    expect((await customer.post('/balance/topup', { amount: 3 })).status).toBe(409)
  })
})
