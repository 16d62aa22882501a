import { basePath } from '@coinrack/contract/index.ts'
import { decodePaymentResponseHeader, wrapFetchWithPayment } from '@x402/fetch'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains, testWallet } from '../../chain/testing.ts'
import { type Customer, usd } from '../testing.ts'
import {
  encodePayment,
  type Payer,
  type SignedPayment,
  signPayment,
  stockClient,
  type X402World,
  x402World,
} from '../x402/testing.ts'
import { count } from './testing.ts'

/*
 * An account that orders or renews without enough balance pays in the same call, by signature.
 */

const NANO = { product: 'nano', os_id: 1 }

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
  await demo?.stop()
  await world?.close()
})
beforeEach(async () => {
  customer = await world.customer()
  payer = await world.payer([{ symbol: 'USDC', amount: usd(20) }])
})

const left = (of = payer) => testWallet(demo.chains[0]!, demo.demo.faucet_key).balance('USDC', of.address)
const machines = () => count(world, 'vps where account_id = $1', [customer.accountId])
const present = (path: string, body: object, payment: unknown, headers = {}) =>
  customer.post(path, body, { 'payment-signature': encodePayment(payment), ...headers })
async function sign(path: string, body: object, by = payer): Promise<SignedPayment> {
  const refused = await customer.post(path, body)
  expect(refused.status).toBe(402)
  return signPayment(by, refused.body.accepts[0])
}

/** Calls like any program with the stock client. */
async function callWithStockClient(path: string, body: object) {
  const asked: number[] = []
  const counting: typeof fetch = async (...call) => {
    const answer = await fetch(...call)
    asked.push(answer.status)
    return answer
  }
  const reply = await wrapFetchWithPayment(counting, stockClient(payer))(world.origin + basePath + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any part of it
  return { asked, status: reply.status, headers: reply.headers, body: (await reply.json()) as any }
}

async function orderedService(): Promise<string> {
  const { body } = await callWithStockClient('/orders', NANO)
  await world.reconcile()
  return body.service_id
}

test('default: the stock client orders in one retry, and the order is the one that was refused', async () => {
  const { asked, body, headers } = await callWithStockClient('/orders', NANO)
  expect(asked, JSON.stringify(body)).toEqual([402, 200])
  expect(body).toMatchObject({ status: 'provisioning', total: '3.00', balance: '0.00' })
  expect(decodePaymentResponseHeader(headers.get('payment-response')!)).toEqual(body.settlement)
  expect((await customer.get(`/invoices/${body.invoice_id}`)).body).toMatchObject({ status: 'paid' })
  expect(await left()).toBe(usd(17))
  expect(await machines()).toBe(1)
  await world.settle()
  await world.expectBooksToBalance()
})

test('default: the stock client renews in one retry', async () => {
  const service = await orderedService()
  const before = (await customer.get(`/services/${service}`)).body.billing.paid_until
  const { asked, body } = await callWithStockClient(`/services/${service}/renew`, { months: 2 })
  expect(asked, JSON.stringify(body)).toEqual([402, 200])
  expect(body).toMatchObject({ charged: '6.00', balance: '0.00', settlement: { amount: '6000000' } })
  expect(Date.parse(body.service.billing.paid_until)).toBeGreaterThan(Date.parse(before))
  expect(await left()).toBe(usd(11))
  await world.settle()
  await world.expectBooksToBalance()
})

test('behavior: the refusal has the terms of its invoice, whose address is paid', async () => {
  const { status, body } = await customer.post('/orders', NANO)
  expect(status).toBe(402)
  expect(body).toMatchObject({ code: 'insufficient_balance', x402Version: 2, error: body.message })
  expect(body.fix).toContain('"accepts"')
  expect(body.resource.url.endsWith(`${basePath}/orders`)).toBe(true)
  const addresses = body.invoice.payment_options.map(({ address }: { address: string }) => address)
  for (const { amount, payTo } of body.accepts) {
    expect(amount).toBe('3000000')
    expect(addresses.map((address: string) => address.toLowerCase())).toContain(payTo.toLowerCase())
  }
})

test('behavior: without an invoice there is nothing to sign', async () => {
  const refused = await customer.post('/orders', { ...NANO, create_invoice: false })
  expect(refused).toMatchObject({ status: 402, body: { code: 'insufficient_balance', invoice: null } })
  expect(refused.body.accepts).toBeUndefined()
})

test('behavior: the same payment again is the same order, and with another body it is refused', async () => {
  const payment = await sign('/orders', NANO)
  const copies = await Promise.all(Array.from({ length: 5 }, () => present('/orders', NANO, payment)))
  expect(copies.map(({ status }) => status)).toEqual(Array(5).fill(200))
  expect(new Set(copies.map(({ body }) => body.service_id)).size).toBe(1)
  const other = await present('/orders', { ...NANO, hostname: 'other' }, payment)
  expect(other).toMatchObject({ status: 409, body: { code: 'payment_used' } })
  expect(await machines()).toBe(1)
  expect(await left()).toBe(usd(17))
})

test('behavior: an answer that was lost and a new signature for the same call buy one machine', async () => {
  const first = await sign('/orders', NANO)
  const placed = await present('/orders', NANO, first)
  await world.services.db.query('update x402_payment set told_at = null')
  const again = await callWithStockClient('/orders', NANO)
  expect(again.body.service_id).toBe(placed.body.service_id)
  expect(await left()).toBe(usd(17))
  expect(await machines()).toBe(1)
})

test('behavior: of two signatures for one order at the same moment one pays', async () => {
  const other = await world.payer([{ symbol: 'USDC', amount: usd(20) }])
  const payments = [await sign('/orders', NANO), await sign('/orders', NANO, other)]
  const replies = await Promise.all(payments.map((payment) => present('/orders', NANO, payment)))
  const statuses = replies.map(({ status }) => status)
  expect(statuses).toContain(200)
  await world.settle()
  expect([await left(), await left(other)].reduce((sum, amount) => sum + amount)).toBe(usd(37))
  expect(await machines()).toBe(1)
  await world.expectBooksToBalance()
})

test('behavior: when the balance covers it by now, the payment is not taken', async () => {
  const payment = await sign('/orders', NANO)
  await world.credit(customer.accountId, usd(5))
  const { status, body } = await present('/orders', NANO, payment)
  expect(status).toBe(200)
  expect(body).toMatchObject({ balance: '2.00' })
  expect(body.settlement).toBeUndefined()
  expect(await left()).toBe(usd(20))
})

test('error: what is not asked for, or cannot be read, takes nothing and says again what to sign', async () => {
  const refused = await customer.post('/orders', NANO)
  const wrong = await signPayment(payer, refused.body.accepts[0], { authorization: { value: '1' } })
  const answer = await present('/orders', NANO, wrong)
  expect(answer).toMatchObject({ status: 402, body: { code: 'payment_not_accepted', x402Version: 2 } })
  expect(answer.body.accepts).toEqual(refused.body.accepts)
  expect(await present('/orders', NANO, 'nonsense')).toMatchObject({
    status: 400,
    body: { code: 'payment_malformed' },
  })
  expect(await left()).toBe(usd(20))
  expect(await machines()).toBe(0)
})

test('error: of a payment for an order that can no longer begin the money is on the balance', async () => {
  const payment = await sign('/orders', NANO)
  const { gasWallet } = world.services.chains[0]!
  const { broadcast } = gasWallet!
  gasWallet!.broadcast = async (raw) => {
    await world.hostSays({ capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } })
    await broadcast(raw)
  }
  const answer = await present('/orders', NANO, payment)
  gasWallet!.broadcast = broadcast
  await world.hostSays()
  expect(answer).toMatchObject({ status: 409, body: { code: 'payment_arrived' } })
  expect(answer.body.fix).toContain('Do not pay again')
  expect((await customer.balance()).available).toBe(usd(3))
  expect(await customer.post('/orders', NANO)).toMatchObject({ status: 200, body: { balance: '0.00' } })
})

test('error: another account’s payment buys nothing', async () => {
  const payment = await sign('/orders', NANO)
  await present('/orders', NANO, payment)
  customer = await world.customer()
  const answer = await present('/orders', NANO, payment)
  expect(answer).toMatchObject({ status: 402, body: { code: 'payment_not_accepted' } })
  expect(await machines()).toBe(0)
})
