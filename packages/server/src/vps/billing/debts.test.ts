import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { collectDebts } from '../../balance/collect-debts.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { type Buyer, buyerOf, DAY_MS, forgetVps, goTo, HOUR_MS } from './testing.ts'
import { type PayableService, startPayableService } from './testing-payments.ts'

/*
 * A payment that was credited and spent is taken back by its chain: what the balance does not cover is owed.
 */

let service: PayableService
let buyer: Buyer
let address: string
let id: string
beforeAll(async () => {
  service = await startPayableService({
    COINRACK_RATE_REGISTER: '100000/min',
    COINRACK_RATE_ORDERS: '100000/min',
  })
})
beforeEach(async () => {
  buyer = await buyerOf(service, 0n)
  address = (await buyer.post('/balance/topup', { amount: 4 })).body.invoice.payment_options[0].address
  await service.arrive(address, 4_000_000n)
  id = await buyer.order()
  await service.takeBack()
})
afterEach(() => forgetVps(service))
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

const later = (milliseconds: number) => goTo(service, new Date(service.clock.now().getTime() + milliseconds))
const balance = async () => (await service.ask('GET', '/balance', { token: buyer.token })).body

test('default: it is told, and nothing new is charged while it is owed', async () => {
  expect(await balance()).toMatchObject({ balance: '0.00', owed: '3.00' })
  expect((await buyer.mails()).at(-1)).toBe('Your account owes 3.00 USD')
  await buyer.credit(20_000_000n)
  const refusal = { status: 402, body: { code: 'account_owes', owed: '3.00', paid_from_balance: false } }
  const { body: order } = await buyer.post('/orders', { product: 'nano', os_id: 1 })
  expect(order).toMatchObject(refusal.body)
  expect(await buyer.renew(id)).toMatchObject(refusal)
  expect(
    await buyer.post(`/services/${id}/change-plan`, { target_plan: 'micro', confirm: true }),
  ).toMatchObject(refusal)
  for (const method of ['balance', 'crypto'])
    expect((await buyer.post(`/invoices/${order.invoice.id}/pay`, { method })).status).toBe(
      method === 'balance' ? 402 : 200,
    )
  expect(await balance()).toMatchObject({ balance: '20.00', owed: '3.00' })
})

test('behavior: money at the invoice of an order pays the debt first, and begins the order only without one', async () => {
  const { body: order } = await buyer.post('/orders', { product: 'nano', os_id: 1 })
  const to = order.invoice.payment_options[0].address
  await buyer.credit(20_000_000n)
  await service.arrive(to, 2_000_000n)
  await service.arrive(to, 999_999n)
  expect(await balance()).toMatchObject({ owed: '0.000001' })
  const orderStatus = async () =>
    (await service.ask('GET', `/orders/${order.order_id}`, { token: buyer.token })).body.status
  expect(await orderStatus()).toBe('awaiting_payment')
  await service.arrive(to, 1n)
  expect(await orderStatus()).toBe('provisioning')
  expect(await balance()).toMatchObject({ balance: '17.00', held: '3.00', owed: '0.00' })
})

test('default: after a day its machines are powered off, and go on with their paid time once it is paid', async () => {
  const until = (await buyer.vps(id)).billing.paid_until
  await later(DAY_MS - 1)
  expect(await buyer.vps(id)).toMatchObject({ status: 'active' })
  await later(1)
  expect(await buyer.vps(id)).toMatchObject({ status: 'suspended', ssh_ready: false })
  expect((await buyer.mail()).at(-1)!.text).toContain('owes for a payment that its chain took back')
  expect(service.driver.machines.get(id)!.startedAt).toBeUndefined()
  await later(3 * HOUR_MS)
  expect(await buyer.vps(id)).toMatchObject({ status: 'suspended' })

  await service.arrive(address, 3_000_000n)
  expect(await balance()).toMatchObject({ balance: '0.00', owed: '0.00' })
  await later(1000)
  expect(await buyer.vps(id)).toMatchObject({
    status: 'active',
    ssh_ready: true,
    billing: { paid_until: until },
  })
  expect(await buyer.renewals()).toEqual([])
  expect((await buyer.mails()).at(-1)).toBe('web goes on')
})

test('behavior: it is kept until a week after its paid time, and deleted then', async () => {
  const until = Date.parse((await buyer.vps(id)).billing.paid_until)
  await later(DAY_MS)
  expect(Date.parse((await buyer.vps(id)).billing.delete_at!)).toBe(until + 7 * DAY_MS)
  await goTo(service, new Date(until + 7 * DAY_MS - 1))
  expect((await buyer.vps(id)).status).toBe('suspended')
  await later(1)
  expect((await buyer.vps(id)).status).toBe('deleted')
})

test('behavior: a debt that was paid and came back has a day of its own', async () => {
  await later(DAY_MS / 2)
  await service.arrive(address, 3_000_000n)
  await later(HOUR_MS)
  await service.takeBack()
  await later(DAY_MS - 1)
  expect((await buyer.vps(id)).status).toBe('active')
  await later(1)
  expect((await buyer.vps(id)).status).toBe('suspended')
})

test('behavior: money that came otherwise pays it too', async () => {
  await buyer.credit(1_000_000n)
  await Promise.all([collectDebts(service.services), collectDebts(service.services)])
  expect(await balance()).toMatchObject({ balance: '0.00', owed: '2.00' })
  await buyer.credit(5_000_000n)
  await collectDebts(service.services)
  expect(await balance()).toMatchObject({ balance: '3.00', owed: '0.00' })
  const { body } = await service.ask('GET', '/balance/transactions?limit=1', { token: buyer.token })
  expect(body).toMatchObject([{ kind: 'debt_payment', amount: '-2.00', balance: '3.00' }])
})
