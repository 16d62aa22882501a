import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../database/transaction.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { type Reply, startTestService, type TestService } from '../../process/testing.ts'

const DAY_MS = 86_400_000

let service: TestService
let token: string
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_REGISTER: '100000/min', COINRACK_RATE_ORDERS: '100000/min' },
  })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})
beforeEach(async () => {
  ;({ token } = await service.customer(100_000_000n))
})

/** A child token with a budget. */
const child = async (budget: object, by = token, scopes?: string[]) =>
  (await service.ask('POST', '/tokens', { token: by, body: { budget, scopes } })).body as {
    token: string
    details: { id: string }
  }
/** Costs 3 USD. */
const order = (by: string, body: object = {}) =>
  service.ask('POST', '/orders', { token: by, body: { product: 'nano', os_id: 1, ...body } })
const cancel = ({ body }: Reply) =>
  service.ask('POST', `/services/${body.service_id}/cancel`, {
    token,
    body: { mode: 'immediate', confirm: body.hostname },
  })
const spentBy = async ({ details }: { details: { id: string } }) => {
  const { body } = await service.ask('GET', '/tokens', { token })
  return body.find(({ id }: { id: string }) => id === details.id).spent
}
const balance = async () => (await service.ask('GET', '/balance', { token })).body.balance
const statuses = (replies: Reply[]) => replies.map(({ status }) => status).sort()

test('error: over a cap nothing is charged; the refusal says which, by how much, and who can raise it', async () => {
  const { token: by, details } = await child({ total: '5.00' })
  expect((await order(by)).status).toBe(200)
  const refused = await order(by)
  const own = (await service.ask('GET', '/account', { token })).body.token.id
  expect(refused).toMatchObject({
    status: 403,
    body: {
      code: 'budget_exceeded',
      cap: 'total',
      limit: '5.00',
      used: '3.00',
      short_by: '1.00',
      raised_by: { token_id: own, tool: 'update_token', arguments: { token_id: details.id } },
      next_steps: [{ tool: 'whoami' }],
    },
  })
  expect(await balance()).toBe('97.00')
  await service.ask('PATCH', `/tokens/${details.id}`, { token, body: { budget: { total: 6 } } })
  expect((await order(by)).status).toBe(200)
  expect((await order(by)).body.used).toBe('6.00')
})

test.each([
  ['max_per_charge', '2.99', { used: '0.00', short_by: '0.01' }],
  ['per_day', 2, { used: '0.00', short_by: '1.00' }],
  ['max_live_vps', 0, { limit: 0, used: 0, short_by: 1 }],
])('error: %s', async (cap, limit, fields) => {
  expect(await order((await child({ [cap]: limit })).token)).toMatchObject({
    status: 403,
    body: { code: 'budget_exceeded', cap, ...fields },
  })
  expect(await balance()).toBe('100.00')
})

test('behavior: over budget comes before 402, and leaves no order behind', async () => {
  const poor = await service.customer()
  const { token: by } = await child({ total: 1 }, poor.token)
  expect((await order(by)).body.code).toBe('budget_exceeded')
  expect((await service.ask('GET', '/orders/list', { token: poor.token })).body).toEqual([])
})

test('behavior: a day is one of UTC', async () => {
  const { token: by, details } = await child({ per_day: 3 })
  // The clock of the test stands at noon, or where the test before left it.
  service.clock.advance(DAY_MS - (service.clock.now().getTime() % DAY_MS) - 1)
  expect(statuses([await order(by), await order(by)])).toEqual([200, 403])
  service.clock.advance(1)
  expect(statuses([await order(by), await order(by)])).toEqual([200, 403])
  expect(await spentBy({ details })).toMatchObject({ today: '3.00', total: '6.00' })
})

test('behavior: orders at the same moment cannot both have the last of it', async () => {
  const { token: by } = await child({ total: 7 })
  const all = await Promise.all(Array.from({ length: 6 }, () => order(by)))
  expect(statuses(all)).toEqual([200, 200, 403, 403, 403, 403])
  expect(await balance()).toBe('94.00')
})

test('behavior: nor can two children of one budget, and it sees what both have spent', async () => {
  const parent = await child({ per_day: 7, max_live_vps: 5 })
  const [one, two] = [await child({}, parent.token), await child({ total: 50 }, parent.token)]
  const all = await Promise.all([one, two, one, two, one].map(({ token: by }) => order(by)))
  expect(statuses(all)).toEqual([200, 200, 403, 403, 403])
  expect(all.find(({ status }) => status === 403)!.body).toMatchObject({
    cap: 'per_day',
    raised_by: { arguments: { token_id: parent.details.id } },
  })
  expect((await spentBy(parent)).total).toBe('6.00')
  const spent = [await spentBy(one), await spentBy(two)].map(({ total }) => Number(total))
  expect(spent[0]! + spent[1]!).toBe(6)
})

test('behavior: live machines at the same moment are counted one by one; a deleted one makes room', async () => {
  const { token: by } = await child({ max_live_vps: 2 })
  const all = await Promise.all(Array.from({ length: 4 }, () => order(by)))
  expect(statuses(all)).toEqual([200, 200, 403, 403])
  await cancel(all.find(({ status }) => status === 200)!)
  expect(statuses([await order(by), await order(by)])).toEqual([200, 403])
})

test('behavior: what was held and never charged goes back to the budget', async () => {
  const parent = await child({})
  const low = await child({ total: 3 }, parent.token)
  const placed = await order(low.token)
  expect((await order(low.token)).status).toBe(403)
  await cancel(placed)
  expect([await spentBy(low), await spentBy(parent)]).toMatchObject([
    { today: '0.00', total: '0.00' },
    { today: '0.00', total: '0.00' },
  ])
  expect((await order(low.token)).status).toBe(200)
})

test('behavior: a change of plan is a charge like any other', async () => {
  const { token: by, details } = await child({ total: 4 })
  const { service_id } = (await order(by)).body
  await service.reconcile()
  const grow = () =>
    service.ask('POST', `/services/${service_id}/change-plan`, {
      token: by,
      body: { target_plan: 'micro', confirm: true },
    })
  expect((await grow()).body).toMatchObject({ code: 'budget_exceeded', used: '3.00', short_by: '1.00' })
  await service.ask('PATCH', `/tokens/${details.id}`, { token, body: { budget: { total: 5 } } })
  expect((await grow()).status).toBe(200)
  expect((await spentBy({ details })).total).toBe('5.00')
})

test('behavior: an order that awaits payment counts for whoever pays its invoice', async () => {
  const poor = await service.customer()
  const { token: by } = await child({ total: 3 }, poor.token)
  const waiting = (await order(by)).body
  expect(waiting.code).toBe('insufficient_balance')
  await service.credit(poor.accountId, 10_000_000n)
  const pay = (token: string) =>
    service.ask('POST', `/invoices/${waiting.invoice.id}/pay`, { token, body: { method: 'balance' } })
  expect((await pay((await child({ max_per_charge: 2 }, poor.token)).token)).body.code).toBe(
    'budget_exceeded',
  )
  expect((await pay(poor.token)).status).toBe(200)
  // Its own budget is whole.
  expect((await order(by)).status).toBe(200)
  expect((await order(by)).status).toBe(403)
})

test('behavior: an order whose budget was used meanwhile is not begun by money that arrives', async () => {
  const poor = await service.customer()
  const { token: by } = await child({ total: 3 }, poor.token)
  const [one, two] = [(await order(by)).body, (await order(by, { hostname: 'two' })).body]
  await service.credit(poor.accountId, 10_000_000n)
  const { ordering, db } = service.services
  const settle = async (orderId: string) => {
    const prepared = await ordering.prepareOrder(service.services, { begins: true })
    return inTransaction(db, (tx) =>
      ordering.payFromBalance(tx, service.services, prepared, orderId, { invoiceId: 'inv_0' }),
    )
  }
  expect(await settle(one.order_id)).toBe('paid')
  await expect(settle(two.order_id)).rejects.toMatchObject({ code: 'budget_exceeded' })
  expect((await service.ask('GET', '/balance', { token: poor.token })).body.total).toBe('10.00')
})
