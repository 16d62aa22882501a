import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { startTestChains, testWallet } from '../../chain/testing.ts'
import { type Customer, usd } from '../testing.ts'
import {
  type Payer,
  present,
  signPayment,
  stockClient,
  termsOf,
  topUp,
  type X402World,
  x402World,
} from './testing.ts'

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
  payer = await world.payer([{ symbol: 'USDC', amount: usd(10) }])
})

const wallet = () => testWallet(demo.chains[0]!, demo.demo.faucet_key)

test('default: the stock client pays with no gas, and the balance is credited in the same call', async () => {
  const { status, body, settled } = await topUp(world, customer, payer, { amount: 5, method: 'x402' })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    balance: '5.00',
    invoice: { kind: 'topup', status: 'paid', amount: '5.00', received: '5.00' },
    settlement: { success: true, network: 'eip155:8453', payer: payer.address, amount: '5000000' },
  })
  expect(settled).toEqual(body.settlement)
  expect(body.invoice.payments).toMatchObject([{ tx_hash: settled!.transaction, status: 'credited' }])
  expect(await wallet().balance('USDC', payer.address)).toBe(usd(5))
  expect(await wallet().client.getTransactionCount({ address: payer.address })).toBe(0)
  await world.settle()
  expect(await customer.balance()).toMatchObject({ available: usd(5), owed: 0n })
  expect(await world.deposits(customer.accountId)).toHaveLength(1)
  await world.expectBooksToBalance()
})

test('behavior: it tops up, and begins no order whose room is gone: not then, and not later', async () => {
  const order = () => customer.post('/orders', { product: 'nano', os_id: 1 })
  const { order_id, invoice } = (await order()).body
  await world.hostSays({ capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } })
  await topUp(world, customer, payer, { amount: 5, method: 'x402' })
  const refused = await order()
  await world.hostSays()
  expect([refused.status, refused.body.code]).toEqual([503, 'capacity'])
  await world.settle()
  expect((await customer.get(`/orders/${order_id}`)).body.status).toBe('awaiting_payment')
  expect((await customer.get(`/invoices/${invoice.id}`)).body.status).toBe('unpaid')
  expect(await customer.balance()).toMatchObject({ available: usd(5), held: 0n })
  expect((await order()).body).toMatchObject({ id: order_id, status: 'provisioning' })
})

test('default: asked for without a payment, the answer is 402 with every token that can be signed for', async () => {
  const { status, body, headers } = await customer.post('/balance/topup', { amount: 5, method: 'x402' })
  expect(status).toBe(402)
  expect(body).toMatchObject({
    code: 'payment_required',
    x402Version: 2,
    fix: expect.stringMatching(/Sign one/),
  })
  const required = JSON.parse(Buffer.from(headers['payment-required'] as string, 'base64').toString())
  expect(required).toEqual({
    x402Version: 2,
    error: body.message,
    resource: body.resource,
    accepts: body.accepts,
  })
  const { tokens } = demo.chains[0]!
  expect(body.accepts.slice(0, 2)).toMatchObject([
    {
      scheme: 'exact',
      network: 'eip155:8453',
      asset: tokens.find(({ symbol }) => symbol === 'USDC')!.address,
      amount: '5000000',
      extra: { name: 'USD Coin', version: '2' },
    },
    { network: 'eip155:8453', extra: { name: 'PayPal USD', version: '1' } },
  ])
  expect(body.accepts).toHaveLength(6)
  expect(body.accepts[0].payTo.toLowerCase()).toBe(await customer.address())
  expect((await customer.get('/invoices')).body).toEqual([])
})

test('behavior: each network and token that can be signed for is settled, as the filters say', async () => {
  for (const chain of demo.chains) {
    const one = await world.payer([{ symbol: 'PYUSD', amount: usd(3) }], chain)
    const asked = { amount: 3, method: 'x402', network: chain.network, token: 'PYUSD' }
    expect(await topUp(world, customer, one, asked)).toMatchObject({
      status: 200,
      body: { settlement: { success: true } },
    })
  }
  expect((await customer.balance()).available).toBe(usd(9))
})

test('behavior: without method and payment a top-up is an invoice, as before', async () => {
  const { status, body } = await customer.post('/balance/topup', { amount: 5 })
  expect(status).toBe(200)
  expect(Object.keys(body)).toEqual(['invoice', 'checkout_url'])
})

test('behavior: it pays for the top-up that is open, and another can be made then', async () => {
  const { body: open } = await customer.post('/balance/topup', { amount: 4 })
  const { body } = await topUp(world, customer, payer, { amount: 4, method: 'x402' })
  expect(body.invoice).toMatchObject({ id: open.invoice.id, status: 'paid' })
  expect((await customer.post('/balance/topup', { amount: 4 })).status).toBe(200)
})

test('behavior: the same payment many times at once is settled and credited once, and says so each time', async () => {
  const payment = await signPayment(payer, await termsOf(customer, { amount: 3 }))
  const replies = await Promise.all(Array.from({ length: 6 }, () => present(customer, 3, payment)))
  expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(200))
  expect(new Set(replies.map(({ body }) => body.settlement.transaction)).size).toBe(1)
  expect(await present(customer, 3, payment)).toMatchObject({ status: 200, body: { balance: '3.00' } })
  await world.settle()
  expect((await customer.balance()).available).toBe(usd(3))
  expect(await wallet().balance('USDC', payer.address)).toBe(usd(7))
  expect((await customer.get('/invoices')).body).toHaveLength(1)
})

test('behavior: another payment under the same Idempotency-Key is not taken', async () => {
  const terms = await termsOf(customer, { amount: 3 })
  const payAs = async (key: string) =>
    present(customer, 3, await signPayment(payer, terms), { 'idempotency-key': key })
  const first = await payAs('once')
  expect(first.status).toBe(200)
  expect((await payAs('once')).body).toEqual(first.body)
  expect(await wallet().balance('USDC', payer.address)).toBe(usd(7))
})

test('behavior: many customers at once get transactions of the gas wallet that follow each other', async () => {
  const all: { one: Customer; payment: unknown }[] = []
  for (let count = 0; count < 8; count++) {
    const one = await world.customer()
    const their = await world.payer([{ symbol: 'USDC', amount: usd(3) }])
    all.push({ one, payment: await signPayment(their, await termsOf(one, { amount: 3 })) })
  }
  const before = await wallet().client.getTransactionCount({ address: world.gasWallet })
  const replies = await Promise.all(all.map(({ one, payment }) => present(one, 3, payment)))
  expect(replies.map(({ body }) => body.settlement?.success)).toEqual(Array(8).fill(true))
  expect(await wallet().client.getTransactionCount({ address: world.gasWallet })).toBe(before + 8)
  for (const { one } of all) expect((await one.balance()).available).toBe(usd(3))
})

test('behavior: beyond the amount that is credited at once it waits for the chain, like any deposit', async () => {
  const rich = await world.payer([{ symbol: 'USDC', amount: usd(50) }])
  const paying = topUp(world, customer, rich, { amount: 30, method: 'x402' })
  await expect.poll(() => world.deposits(customer.accountId)).toMatchObject([{ status: 'seen' }])
  expect((await customer.balance()).available).toBe(0n)
  await world.settle()
  expect(await paying).toMatchObject({
    status: 200,
    body: { balance: '30.00', settlement: { success: true } },
  })
})

describe('refusals take nothing, and say why', () => {
  const now = () => Math.floor(Date.now() / 1000)
  const expectNothing = async () => {
    expect(await wallet().balance('USDC', payer.address)).toBe(usd(10))
    expect((await customer.balance()).available).toBe(0n)
    expect((await customer.get('/invoices')).body).toEqual([])
    const { rows } = await world.services.db.query('select from x402_payment where account_id = $1', [
      customer.accountId,
    ])
    expect(rows).toEqual([])
  }

  test.each([
    ['another network', { accepted: { network: 'eip155:10' } }, 'payment_not_accepted'],
    ['another token', { accepted: { asset: `0x${'11'.repeat(20)}` } }, 'payment_not_accepted'],
    ['another scheme', { accepted: { scheme: 'upto' } }, 'payment_not_accepted'],
    ['another amount', { authorization: { value: '2999999' } }, 'payment_not_accepted'],
    ['another payee', { authorization: { to: `0x${'22'.repeat(20)}` } }, 'payment_not_accepted'],
    ['one that is over', { authorization: { validBefore: String(now() - 1) } }, 'payment_expired'],
    ['one of the future', { authorization: { validAfter: String(now() + 600) } }, 'payment_not_yet_valid'],
  ])('error: %s', async (_what, changes, code) => {
    const terms = await termsOf(customer, { amount: 3 })
    const reply = await present(customer, 3, await signPayment(payer, terms, changes))
    expect(reply).toMatchObject({ status: 402, body: { code, fix: expect.any(String) } })
    expect(reply.headers['payment-required']).toBeDefined()
    await expectNothing()
  })

  test('error: the signature of somebody else', async () => {
    const signer = await world.payer([])
    const payment = await signPayment(payer, await termsOf(customer, { amount: 3 }), { signer })
    expect(await present(customer, 3, payment)).toMatchObject({
      status: 402,
      body: { code: 'payment_signature_invalid' },
    })
    for (const signature of ['0x', '0x00', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(300)}`]) {
      const broken = { ...payment, payload: { ...payment.payload, signature } }
      expect(await present(customer, 3, broken)).toMatchObject({
        status: 402,
        body: { code: 'payment_signature_invalid' },
      })
    }
    await expectNothing()
  })

  test('error: more than the payer has', async () => {
    const payment = await signPayment(payer, await termsOf(customer, { amount: 11 }))
    expect(await present(customer, 11, payment)).toMatchObject({
      status: 402,
      body: { code: 'payment_insufficient_funds', message: expect.stringContaining('10.00 of 11.00') },
    })
    await expectNothing()
  })

  test('error: a nonce that paid before', async () => {
    const other = await world.customer()
    const first = await signPayment(payer, await termsOf(other, { amount: 3 }))
    expect((await present(other, 3, first)).status).toBe(200)
    const { nonce } = first.payload.authorization
    const again = await signPayment(payer, await termsOf(customer, { amount: 3 }), {
      authorization: { nonce },
    })
    expect(await present(customer, 3, again)).toMatchObject({
      status: 402,
      body: { code: 'payment_nonce_used' },
    })
    expect((await customer.balance()).available).toBe(0n)
  })

  test.each([
    'not base64 JSON',
    '',
    Buffer.from('[]').toString('base64'),
    { x402Version: 1 },
    { x402Version: 2 },
  ])('error: what is no payment: %j', async (payment) => {
    expect(await present(customer, 3, payment)).toMatchObject({
      status: 400,
      body: { code: 'payment_malformed' },
    })
    await expectNothing()
  })

  test('error: less than the least top-up, before anything is asked to be signed', async () => {
    const reply = await customer.post('/balance/topup', { amount: 2.99, method: 'x402' })
    expect(reply).toMatchObject({ status: 422, body: { code: 'invalid_input' } })
  })

  test('error: a token without transfers by signature', async () => {
    const reply = await customer.post('/balance/topup', { amount: 3, method: 'x402', token: 'USDT' })
    expect(reply).toMatchObject({ status: 422, body: { code: 'payment_method_unavailable' } })
  })

  test('error: the stock client as it comes refuses to pay more than a dollar', async () => {
    const client = stockClient(payer)
    client.setSpendControls({})
    const { body } = await customer.post('/balance/topup', { amount: 3, method: 'x402' })
    await expect(client.createPaymentPayload(body)).rejects.toThrow()
    expect(body.fix).toContain('spend controls')
  })
})
