import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'

const HOUR_MS = 3_600_000

let service: TestService
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_ORDERS: '1000/min' } })
})
afterAll(() => service.close())

type Buyer = { token: string; accountId: string }
const order = ({ token }: Buyer, hostname: string, body: object = {}) =>
  service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1, hostname, ...body } })
const orderMany = async (buyer: Buyer, count: number, name = 'web') => {
  const answers = []
  for (let index = 0; index < count; index++) {
    service.clock.advance(1000)
    answers.push(await order(buyer, `${name}-${index}`))
  }
  return answers
}
const cancel = ({ token }: Buyer, invoice: { id: string }) =>
  service.ask('POST', `/invoices/${invoice.id}/cancel`, { token, body: {} })
const rows = async (table: 'vps_order' | 'deposit_address', { accountId }: Buyer) =>
  (await service.services.db.query(`select from ${table} where account_id = $1`, [accountId])).rowCount

test('default: a sixth unpaid order is refused with what to do, and leaves nothing', async () => {
  const buyer = await service.customer()
  const [first, ...rest] = await orderMany(buyer, 5)
  expect([first, ...rest].map((answer) => answer!.status)).toEqual(Array(5).fill(402))
  const { status, body } = await order(buyer, 'sixth', { user_data: `#!/bin/sh\n# ${'x'.repeat(60_000)}` })
  expect(status).toBe(409)
  expect(body).toMatchObject({
    code: 'unpaid_order_limit',
    message: '5 orders of this account wait for their payment',
    next_steps: [
      { tool: 'pay_invoice', arguments: { invoice_id: first!.body.invoice.id } },
      { tool: 'cancel_invoice', arguments: { invoice_id: first!.body.invoice.id } },
      { tool: 'topup_balance' },
    ],
  })
  expect([await rows('vps_order', buyer), await rows('deposit_address', buyer)]).toEqual([5, 5])
})

test('behavior: of twenty at the same moment five are kept', async () => {
  const buyer = await service.customer()
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => order(buyer, `web-${index}`)))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(402), ...Array(15).fill(409)])
})

test('behavior: one that is kept is continued; create_invoice=false and orders that are paid have no limit', async () => {
  const buyer = await service.customer()
  const [first] = await orderMany(buyer, 5)
  expect((await order(buyer, 'web-0')).body.order_id).toBe(first!.body.order_id)
  expect((await order(buyer, 'sixth', { create_invoice: false })).status).toBe(402)
  await service.credit(buyer.accountId, 3_000_000n)
  expect((await order(buyer, 'sixth')).status).toBe(200)
})

test('behavior: cancelling the invoice cancels the order and makes room, so does time', async () => {
  const buyer = await service.customer()
  const [first] = await orderMany(buyer, 5)
  expect((await cancel(buyer, first!.body.invoice)).body.status).toBe('cancelled')
  const cancelled = await service.ask('GET', `/orders/${first!.body.order_id}`, buyer)
  expect(cancelled.body).toMatchObject({ status: 'cancelled', service_id: null })
  expect((await order(buyer, 'sixth')).status).toBe(402)
  expect((await order(buyer, 'seventh')).status).toBe(409)
  service.clock.advance(24 * HOUR_MS)
  expect((await order(buyer, 'seventh')).status).toBe(402)
})

test('behavior: cancelling does not make room for ever: twenty in a day', async () => {
  const buyer = await service.customer()
  for (let turn = 0; turn < 4; turn++)
    for (const { body } of await orderMany(buyer, 5, `turn-${turn}`)) await cancel(buyer, body.invoice)
  const refused = await order(buyer, 'another')
  expect(refused).toMatchObject({
    status: 409,
    body: { code: 'unpaid_order_limit', next_steps: [{ tool: 'topup_balance' }] },
  })
  expect(await rows('deposit_address', buyer)).toBe(20)
  service.clock.advance(24 * HOUR_MS)
  expect((await order(buyer, 'another')).status).toBe(402)
})
