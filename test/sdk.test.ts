import { freePort } from '@coinrack/host/free-port.ts'
import { ConnectionError, createClient } from '@coinrack/sdk/index.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

let service: TestService
let url: string

beforeAll(async () => {
  service = await startTestService()
  const port = await freePort()
  url = await service.app.listen({ host: '127.0.0.1', port })
})
afterAll(() => service?.close())

const customer = async (balance = 0n) => {
  const { token, accountId } = await service.customer(balance)
  return { sdk: createClient({ url, token }), token, accountId }
}

test('default: from registration to an order, with bigint and Date', async () => {
  const session = await createClient({ url }).registerAccount({ email: 'sdk@rackmail.net' })
  expect(session.token_expires_at).toBeInstanceOf(Date)
  await service.credit(session.account.id, 20_000_000n)

  const sdk = createClient({ url, token: session.token })
  expect((await sdk.getBalance()).balance).toBe(20_000_000n)
  const { items: plans } = await sdk.listPlans()
  const plan = plans.find(({ available }) => available)!
  const order = await sdk.orderVps({ product: plan.slug, os_id: plan.os_images[0]!.os_id })
  expect(order.total).toBe(plan.price)
  expect(order.balance).toBe(20_000_000n - plan.price)
  expect((await sdk.getVpsStatus({ service_id: order.service_id! })).status).toBe('provisioning')
})

test('behavior: all goes through every page of a list', async () => {
  const { sdk, accountId } = await customer()
  for (let amount = 1n; amount <= 5n; amount++) await service.credit(accountId, amount * 1_000_000n)
  const { items, nextCursor } = await sdk.listTransactions({ limit: 2 })
  expect(items).toHaveLength(2)
  expect(nextCursor).toBeTypeOf('string')
  const amounts = await Array.fromAsync(sdk.listTransactions.all({ limit: 2 }), ({ amount }) => amount)
  expect(amounts).toEqual([5n, 4n, 3n, 2n, 1n].map((amount) => amount * 1_000_000n))
})

test('behavior: a write whose answer was lost is sent again and runs once', async () => {
  const { token } = await customer(50_000_000n)
  let lost = 0
  const sdk = createClient({
    url,
    token,
    async fetch(address, init) {
      const response = await fetch(address, init)
      if (init.method === 'GET' || lost > 0) return response
      await response.text()
      lost++
      throw new TypeError('fetch failed', { cause: new Error('the connection broke') })
    },
  })
  const order = await sdk.orderVps({ product: 'nano', os_id: 1 })
  expect(lost).toBe(1)
  const orders = await Array.fromAsync(sdk.listOrders.all())
  expect(orders.map(({ id }) => id)).toEqual([order.id])
})

test('error: a refusal has the words of the service', async () => {
  const { sdk } = await customer()
  await expect(sdk.orderVps({ product: 'none-such', os_id: 1 })).rejects.toMatchObject({
    name: 'CoinrackError',
    code: 'unknown_product',
    status: 422,
    requestId: expect.any(String),
    nextSteps: [{ tool: 'list_plans', why: expect.any(String) }],
  })
  await expect(createClient({ url, token: 'crk_wrong' }).whoami()).rejects.toMatchObject({
    code: 'unauthorized',
    status: 401,
  })
})

test('error: where nothing listens there is no answer', async () => {
  const nobody = createClient({ url: `http://127.0.0.1:${await freePort()}`, retry: { attempts: 2 } })
  await expect(nobody.listPlans()).rejects.toThrow(ConnectionError)
})
