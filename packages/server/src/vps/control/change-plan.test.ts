import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'

const DAY_MS = 86_400_000

let service: TestService
let token: string
let accountId: string
let id: string
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_REGISTER: '100000/min', COINRACK_RATE_ORDERS: '100000/min' },
  })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})
beforeEach(() => order(20_000_000n))

async function order(balance: bigint, hostname = 'web'): Promise<void> {
  ;({ token, accountId } = await service.customer(balance))
  const body = { product: 'nano', os_id: 1, hostname }
  id = (await service.ask('POST', '/orders', { token, body })).body.service_id
  await service.reconcile()
}
const change = (target_plan: string, more: object = {}) =>
  service.ask('POST', `/services/${id}/change-plan`, { token, body: { target_plan, confirm: true, ...more } })
const options = async () => (await service.ask('GET', `/services/${id}/upgrade-options`, { token })).body
const status = async () => (await service.ask('GET', `/services/${id}?reveal=false`, { token })).body
const balance = async () => (await service.ask('GET', '/balance', { token })).body
const power = async (action: string) => {
  await service.ask('POST', `/services/${id}/power`, { token, body: { action } })
  await service.reconcile()
}
const machine = () => service.driver.machines.get(id)!

test('default: the larger plans, and what each costs now', async () => {
  const { current_plan, options: offered } = await options()
  expect(current_plan).toBe('nano')
  expect(offered.map(({ target_plan }: { target_plan: string }) => target_plan)).not.toContain('nano')
  expect(offered[0]).toMatchObject({
    target_plan: 'micro',
    charge_now: '2.00',
    price: '5.00',
    available: true,
  })
})

test('default: charged for the rest of the period, booted once, grown', async () => {
  const until = Date.parse((await status()).billing.paid_until)
  service.clock.advance((until - service.clock.now().getTime()) / 2)
  const { body } = await change('micro')
  expect(body).toMatchObject({
    charged: '1.00',
    balance: '16.00',
    operation: { kind: 'change_plan', status: 'running' },
  })
  expect(body.service).toMatchObject({ status: 'resizing', product: 'micro', billing: { price: '5.00' } })
  await service.reconcile()
  expect(await status()).toMatchObject({ status: 'active', ssh_ready: true })
  expect(machine().spec).toMatchObject({ memoryMb: 1024, diskGb: 20 })
  expect(machine().starts).toBe(2)
  expect(Date.parse((await status()).billing.paid_until)).toBe(until)
  const operation = await service.ask('GET', `/operations/${body.operation.id}`, { token })
  expect(operation.body).toMatchObject({ status: 'succeeded' })
})

test('behavior: one that is off has the new size from its next start on', async () => {
  await power('stop')
  const { body } = await change('micro')
  expect(body.operation.status).toBe('succeeded')
  expect(body.service.status).toBe('stopped')
  await service.reconcile()
  expect(machine().spec.memoryMb).toBe(512)
  await power('start')
  expect(machine().spec).toMatchObject({ memoryMb: 1024, diskGb: 20 })
})

test('behavior: an immediate cancellation gives back what was paid for the rest, less the used hours', async () => {
  service.clock.advance(10 * DAY_MS)
  const { body } = await change('micro')
  expect(body.charged).toBe('1.285715')
  await service.reconcile()
  const cancelled = await service.ask('POST', `/services/${id}/cancel`, {
    token,
    body: { mode: 'immediate', confirm: 'web' },
  })
  // 3 + 1.285715 paid, 240 hours at 0.0045 and one at 0.0075 used.
  expect(cancelled.body.credited).toBe('3.198215')
  expect((await balance()).balance).toBe('18.9125')
})

test('behavior: twenty at the same moment are one change and one charge', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, () => change('micro')))
  expect(all.filter(({ status: code }) => code === 200)).toHaveLength(1)
  expect((await balance()).balance).toBe('15.00')
})

test('error: not enough money, in the words of an order', async () => {
  await order(3_500_000n)
  const refusal = await change('micro')
  expect(refusal).toMatchObject({
    status: 402,
    body: {
      code: 'insufficient_balance',
      required: '2.00',
      balance: '0.50',
      shortfall: '1.50',
      currency: 'USD',
      paid_from_balance: false,
      invoice: null,
    },
  })
  await service.reconcile()
  expect(await status()).toMatchObject({ status: 'active', product: 'nano' })
  expect(machine().starts).toBe(1)
  await service.credit(accountId, 1_500_000n)
  expect((await change('micro')).status).toBe(200)
  expect((await balance()).balance).toBe('0.00')
})

test('error: smaller, the same, unknown, unconfirmed', async () => {
  await change('micro')
  await service.reconcile()
  for (const plan of ['nano', 'micro'])
    expect(await change(plan)).toMatchObject({ status: 422, body: { code: 'plan_not_larger' } })
  expect(await change('none')).toMatchObject({ status: 422, body: { code: 'unknown_product' } })
  expect(await change('small', { confirm: false })).toMatchObject({
    status: 422,
    body: { code: 'confirmation_required' },
  })
})

test('error: no room, and nothing is charged', async () => {
  await service.hostSays({ capacity: { vcpus: 1, memoryMb: 600, diskGb: 11 } })
  const refusal = await change('micro')
  await service.hostSays()
  expect(refusal).toMatchObject({ status: 503, body: { code: 'capacity' } })
  expect((await balance()).balance).toBe('17.00')
  expect(await status()).toMatchObject({ status: 'active', product: 'nano' })
})

test('error: the order of checks: the plan, the state, the room, the money', async () => {
  await order(3_000_000n, 'slow-boot')
  await service.hostSays({ capacity: { vcpus: 1, memoryMb: 600, diskGb: 11 } })
  expect((await change('none')).body.code).toBe('unknown_product')
  expect((await change('micro')).body.code).toBe('service_busy')
  service.driver.finishBoot(id)
  await service.reconcile()
  expect((await change('micro')).body.code).toBe('capacity')
  await service.hostSays()
  expect((await change('micro')).body.code).toBe('insufficient_balance')
})
