import type { AddressInfo } from 'node:net'
import { basePath } from '@coinrack/contract/index.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { snapshot } from '../../database/testing.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'

/* Over HTTP, each order on a connection of its own. */

const ORDERS = 50
const PRICE = 3_000_000n
const PAID = 7
/** As many as may wait for their payment. */
const UNPAID = 5
/** Short of an eighth order by a micro-dollar. */
const BALANCE = PRICE * 8n - 1n

const services: TestService[] = []
afterAll(async () => {
  for (const service of services) {
    await expectBooksToBalance(service.services.db)
    await service.close()
  }
})

async function start(env: Record<string, string>) {
  const service = await startTestService({ env })
  services.push(service)
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = service.app.server.address() as AddressInfo
  const customer = await service.customer(BALANCE)
  const ask = async (path: string, body?: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}${basePath}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${customer.token}`, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
    })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
  const orderAll = () =>
    Promise.all(
      Array.from({ length: ORDERS }, (_, index) =>
        ask('/orders', { product: 'nano', os_id: 1, hostname: `web-${index}` }),
      ),
    )
  return { service, ask, orderAll }
}

type Started = Awaited<ReturnType<typeof start>>
const statusesOf = (answers: { status: number }[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, of]) => [status, of.length]),
  )
const ordersOf = async ({ ask }: Started) =>
  Map.groupBy((await ask('/orders/list?limit=100')).body, ({ status }: { status: string }) => status)

describe('fifty orders at the same moment, of a balance that covers seven', () => {
  let limited: Started
  let unlimited: Started
  beforeAll(async () => {
    unlimited = await start({ COINRACK_RATE_ORDERS: '1000/min' })
    limited = await start({})
  })

  test('default: with a limit above fifty, seven are paid, five answer 402 and the others 409', async () => {
    const answers = await unlimited.orderAll()
    expect(statusesOf(answers)).toEqual({ 200: PAID, 402: UNPAID, 409: ORDERS - PAID - UNPAID })
    for (const { body } of answers.filter(({ status }) => status === 402)) {
      expect(body).toMatchObject({
        code: 'insufficient_balance',
        required: '3.00',
        balance: '2.999999',
        shortfall: '0.000001',
        paid_from_balance: false,
        invoice: { status: 'unpaid', amount: '3.00' },
      })
    }
    expect((await unlimited.ask('/balance')).body).toMatchObject({ balance: '2.999999', held: '21.00' })
    const orders = await ordersOf(unlimited)
    expect(orders.get('provisioning')).toHaveLength(PAID)
    expect(orders.get('awaiting_payment')).toHaveLength(UNPAID)

    await unlimited.service.reconcile()
    expect(unlimited.service.driver.machines.size).toBe(PAID)
    expect((await unlimited.ask('/balance')).body).toMatchObject({ balance: '2.999999', held: '0.00' })
  })

  test('behavior: at the default limit forty answer 429 and leave nothing, neither charge nor order', async () => {
    const answers = await limited.orderAll()
    expect(statusesOf(answers)).toEqual({ 200: PAID, 402: 3, 429: 40 })
    const refused = answers.filter(({ status }) => status === 429)
    for (const { body, headers } of refused) {
      expect(body).toMatchObject({ code: 'rate_limited' })
      expect(headers.get('retry-after')).toBe('6')
      expect(headers.get('ratelimit-policy')).toBe('"orders";q=10;w=60')
      expect(headers.get('ratelimit')).toMatch(/^"orders";r=0;t=\d+$/)
    }
    expect((await limited.ask('/balance')).body).toMatchObject({ balance: '2.999999', held: '21.00' })
    const orders = await ordersOf(limited)
    expect([...orders].map(([status, of]) => [status, of.length]).sort()).toEqual([
      ['awaiting_payment', 3],
      ['provisioning', PAID],
    ])

    const before = await snapshot(limited.service.services.db)
    expect(statusesOf(await limited.orderAll())).toEqual({ 429: ORDERS })
    expect(await snapshot(limited.service.services.db)).toEqual(before)
  })
})
