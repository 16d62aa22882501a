import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoChains } from '../chain/demo-chains.ts'
import { startTestChains, testWallet } from '../chain/testing.ts'
import { snapshot } from '../database/testing.ts'
import { expireInvoices } from '../payments/expire-invoices.ts'
import { type PaymentsWorld, paymentsWorld, usd } from '../payments/testing.ts'
import { expireOrders } from '../vps/orders/expire-orders.ts'
import { forgetWhatIsOld } from './reconcilers.ts'

const DAY_MS = 86_400_000

let demo: DemoChains
let world: PaymentsWorld
let wallet: ReturnType<typeof testWallet>
beforeAll(async () => {
  demo = await startTestChains()
  world = await paymentsWorld(demo.chains)
  wallet = testWallet(demo.chains[0]!, demo.demo.faucet_key)
})
afterAll(async () => {
  await demo.stop()
  await world?.close()
})

const count = async (table: string, where: string, values: unknown[]) =>
  (await world.services.db.query(`select from ${table} where ${where}`, values)).rowCount
/** Does the background work of so many days, with two services at it. */
async function pass(days: number) {
  world.clock.advance(days * DAY_MS)
  await expireOrders(world.services)
  await expireInvoices(world.services)
  for (let round = 0; round < 3; round++)
    await Promise.all([forgetWhatIsOld(world.services), forgetWhatIsOld(world.services)])
}
const unpaidOrder = { product: 'nano', os_id: 1, user_data: '#!/bin/sh\ntrue' }

test('default: an unpaid order goes with its invoice after thirty days; money that comes later is credited', async () => {
  const customer = await world.customer()
  const { body } = await customer.post('/orders', unpaidOrder)
  const { invoice, order_id } = body
  await world.look()
  await pass(29)
  expect((await customer.get(`/orders/${order_id}`)).body.status).toBe('expired')
  expect((await customer.get(`/invoices/${invoice.id}`)).body.status).toBe('expired')

  // The thirty days begin when it expires.
  await pass(3)
  expect((await customer.get(`/orders/${order_id}`)).status).toBe(404)
  expect((await customer.get(`/invoices/${invoice.id}`)).status).toBe(404)
  expect((await customer.get('/invoices')).body).toEqual([])
  const page = await world.app.inject({ url: new URL(invoice.checkout_url).pathname })
  expect(page.statusCode).toBe(404)

  const topup = (await customer.post('/balance/topup', { amount: 20 })).body.invoice
  await wallet.pay('USDC', invoice.payment_options[0].address, usd(7))
  await world.settle()
  expect(await customer.balance()).toMatchObject({ available: usd(7) })
  expect((await customer.get('/balance/transactions')).body).toMatchObject([
    { kind: 'deposit', amount: '7.00' },
  ])
  // The address was another invoice's: the open top-up is not paid by it.
  expect((await customer.get(`/invoices/${topup.id}`)).body).toMatchObject({
    status: 'unpaid',
    received: '0.00',
  })
  await world.expectBooksToBalance()
})

test('behavior: an invoice that anything was paid for stays, and so does what refers to it', async () => {
  const customer = await world.customer()
  const { body } = await customer.post('/orders', unpaidOrder)
  await wallet.pay('USDC', body.invoice.payment_options[0].address, usd(1))
  await world.settle()
  const paid = (await customer.post('/balance/topup', { amount: 5 })).body.invoice
  await wallet.pay('USDC', paid.payment_options[0].address, usd(5))
  await world.settle()
  await pass(31)
  expect((await customer.get(`/invoices/${body.invoice.id}`)).body).toMatchObject({
    status: 'expired',
    received: '1.00',
    payments: [{ status: 'credited' }],
  })
  expect((await customer.get(`/invoices/${paid.id}/receipt`)).status).toBe(200)
  expect((await customer.get('/events')).status).toBe(200)
  expect((await customer.get('/balance/transactions')).body).toHaveLength(2)
})

test('behavior: tokens go after thirty days, from below; those whose budget counts for a machine stay', async () => {
  const customer = await world.customer()
  await world.credit(customer.accountId, usd(50))
  const child = async (body: object, token = customer.token) =>
    (await world.ask('POST', '/tokens', { token, body: { expires_in_days: 1, ...body } })).body
  const plain = await child({ budget: { total: 5 } })
  const above = await child({ expires_in_days: 2 })
  const below = await child({}, above.token)
  const buyer = await child({ budget: { total: 20 } })
  const { body } = await world.ask('POST', '/orders', {
    token: buyer.token,
    body: { product: 'nano', os_id: 1 },
  })
  await world.reconcile()
  const left = async () =>
    (await customer.get('/tokens?ended=true')).body.map(({ id }: { id: string }) => id) as string[]
  expect(await left()).toHaveLength(5)
  await pass(31)
  expect(await left()).toHaveLength(5)
  await pass(2)
  expect(await left()).toHaveLength(2)
  expect((await world.ask('GET', '/balance', { token: plain.token })).status).toBe(401)
  expect((await world.ask('GET', '/balance', { token: below.token })).status).toBe(401)
  // Its renewals still count for the budget of the token that ordered it.
  expect(await count('vps_order', 'id = $1 and token_id is not null', [body.id])).toBe(1)

  const cancelled = await customer.post(`/services/${body.service_id}/cancel`, {
    mode: 'immediate',
    confirm: body.hostname,
  })
  expect(cancelled.status).toBe(200)
  await world.reconcile()
  await pass(31)
  expect(await left()).toHaveLength(1)
  expect((await customer.get(`/orders/${body.id}`)).status).toBe(200)
})

test('behavior: a deleted webhook goes after thirty days, with what was sent to it', async () => {
  const customer = await world.customer()
  const { body } = await customer.post('/webhooks', { url: 'https://hooks.rackmail.net/' })
  await world.ask('DELETE', `/webhooks/${body.id ?? body.webhook.id}`, { token: customer.token })
  const mine = () => count('webhook', 'account_id = $1', [customer.accountId])
  await pass(29)
  expect(await mine()).toBe(1)
  await pass(2)
  expect(await mine()).toBe(0)
})

test('behavior: counters of limits go once they are full again', async () => {
  const customer = await world.customer()
  await customer.post('/orders', unpaidOrder)
  const mine = () => count('rate_bucket', 'subject = $1', [`orders:${customer.accountId}`])
  await forgetWhatIsOld(world.services)
  expect(await mine()).toBe(1)
  await pass(1)
  expect(await mine()).toBe(0)
})

test('behavior: done once more it changes nothing', async () => {
  await pass(31)
  const before = await snapshot(world.services.db)
  await forgetWhatIsOld(world.services)
  expect(await snapshot(world.services.db)).toEqual(before)
})

test('error: what cannot be forgotten is logged, and holds up nothing else', async () => {
  const customer = await world.customer()
  await customer.post('/orders', unpaidOrder)
  const { db } = world.services
  await db.query(`create table pins_a_token (token_id text references token)`)
  const { body } = await customer.post('/tokens', { expires_in_days: 1 })
  await db.query('insert into pins_a_token select id from token where account_id = $1', [customer.accountId])
  await pass(40)
  expect(await count('invoice', 'account_id = $1', [customer.accountId])).toBe(0)
  expect((await customer.get('/tokens?ended=true')).body).toHaveLength(2)
  await db.query('drop table pins_a_token')
  await pass(0)
  expect((await customer.get('/tokens?ended=true')).body).toHaveLength(1)
  expect(body.token).toMatch(/^crk_/)
})

test('behavior: all that refers to a token or an invoice in the database is known to what forgets them', async () => {
  const { rows } = await world.services.db.query<{ reference: string }>(
    `select conrelid::regclass || '.' || attname as reference
     from pg_constraint join pg_attribute on attrelid = conrelid and attnum = any(conkey)
     where contype = 'f' and confrelid in ('token'::regclass, 'invoice'::regclass) order by 1`,
  )
  expect(rows.map(({ reference }) => reference)).toEqual([
    'approval.token_id',
    'console_link.token_id',
    'deposit.invoice_id',
    'oauth_state.token_id',
    'retired_token.token_id',
    'token.parent_id',
    'token_budget.token_id',
    'token_spending.token_id',
    'vps_order.token_id',
    'x402_payment.invoice_id',
    'x402_purchase.token_id',
  ])
})
