import { expect, expectTypeOf, test } from 'vitest'
import { type Client, createClient } from './client.ts'
import { CoinrackError, ConnectionError } from './errors.ts'
import { scriptedWorld } from './testing.ts'

const url = 'https://vps.example.net'
const noRetry = { attempts: 1 }
const balance = {
  balance: '12.50',
  held: '0.00',
  total: '12.50',
  owed: '0.00',
  currency: 'USD',
  burn_per_hour: '0.0075',
  runs_out_at: '2026-02-01T00:00:00.000Z',
}
const order = {
  id: 'ord_1',
  status: 'active',
  product: 'nano',
  os_id: 1,
  hostname: 'vps-1',
  total: '5.00',
  currency: 'USD',
  service_id: null,
  invoice_id: null,
  failure_reason: null,
  created_at: '2026-01-31T12:00:00.000Z',
}
const refusal = (code: string, more: object = {}) => ({
  message: `It is ${code}`,
  code,
  fix: 'Do this.',
  next_steps: [{ tool: 'topup_balance', why: 'Add money' }],
  request_id: 'req-1',
  ...more,
})

test('default: one method per operation, money as bigint and times as Date', async () => {
  const world = scriptedWorld([{ body: balance }])
  const read = await createClient({ url, token: 'crk_x', ...world }).getBalance()
  expect(read.balance).toBe(12_500_000n)
  expect(read.burn_per_hour).toBe(7_500n)
  expect(read.runs_out_at).toEqual(new Date('2026-02-01T00:00:00Z'))
  expect(world.requests).toEqual([
    {
      url: `${url}/api/v1/eqvps/balance`,
      method: 'GET',
      headers: { accept: 'application/json', authorization: 'Bearer crk_x' },
      body: undefined,
    },
  ])
})

test('behavior: a path below the origin and a slash at the end of the url do not matter', async () => {
  const world = scriptedWorld([{ body: balance }])
  await createClient({ url: `${url}/`, ...world }).getBalance()
  expect(world.requests[0]!.url).toBe(`${url}/api/v1/eqvps/balance`)
})

test('behavior: the identifier goes into the path, the rest of a read into the query', async () => {
  const world = scriptedWorld([{ status: 404, body: refusal('not_found') }])
  const client = createClient({ url, ...world })
  await client.getVpsStatus({ service_id: 'vps_1/..', wait: 'ssh_ready', reveal: false }).catch(() => {})
  expect(world.requests[0]!.url).toBe(`${url}/api/v1/eqvps/services/vps_1%2F..?wait=ssh_ready&reveal=false`)
})

test('behavior: a write is sent as JSON with an idempotency key of its own', async () => {
  const world = scriptedWorld([{ status: 404, body: refusal('not_found') }])
  const client = createClient({ url, token: 'crk_x', ...world })
  await client.cancelService({ service_id: 'vps_1', mode: 'immediate', confirm: 'web' }).catch(() => {})
  const [request] = world.requests
  expect(request!.url).toBe(`${url}/api/v1/eqvps/services/vps_1/cancel`)
  expect(JSON.parse(request!.body!)).toEqual({ mode: 'immediate', confirm: 'web' })
  expect(request!.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/)
  expect(request!.headers['content-type']).toBe('application/json')
})

test('behavior: a key that the caller chose is kept', async () => {
  const world = scriptedWorld([{ status: 402, body: refusal('insufficient_balance') }])
  const client = createClient({ url, token: 'crk_x', ...world })
  await client.orderVps({ product: 'nano', os_id: 1 }, { idempotencyKey: 'mine' }).catch(() => {})
  expect(world.requests[0]!.headers['idempotency-key']).toBe('mine')
})

test('behavior: public operations are asked without token and key', async () => {
  const world = scriptedWorld([{ body: [] }])
  await createClient({ url, token: 'crk_x', ...world }).listPlans()
  expect(world.requests[0]!.headers).toEqual({ accept: 'application/json' })
})

test('behavior: a list answers a page, and all goes through every page', async () => {
  const next = '</api/v1/eqvps/orders/list?limit=1&cursor=ord_1>; rel="next"'
  const pages = () => [{ body: [order], headers: { link: next } }, { body: [{ ...order, id: 'ord_0' }] }]
  const first = await createClient({ url, ...scriptedWorld(pages()) }).listOrders({ limit: 1 })
  expect(first.nextCursor).toBe('ord_1')
  expect(first.items[0]!.total).toBe(5_000_000n)

  const world = scriptedWorld(pages())
  const found = await Array.fromAsync(createClient({ url, ...world }).listOrders.all({ limit: 1 }))
  expect(found.map(({ id }) => id)).toEqual(['ord_1', 'ord_0'])
  expect(world.requests.map((request) => new URL(request.url).search)).toEqual([
    '?limit=1',
    '?limit=1&cursor=ord_1',
  ])
})

test('behavior: pages that nobody asks for are not fetched', async () => {
  const next = { link: '</orders/list?cursor=ord_1>; rel="next"' }
  const world = scriptedWorld([{ body: [order], headers: next }])
  for await (const { id } of createClient({ url, ...world }).listOrders.all()) {
    expect(id).toBe('ord_1')
    break
  }
  expect(world.requests).toHaveLength(1)
})

test('error: a refusal is a CoinrackError with all that the service said', async () => {
  const body = refusal('insufficient_balance', { shortfall: '2.00', invoice: { id: 'inv_1' } })
  const client = createClient({ url, token: 'crk_x', ...scriptedWorld([{ status: 402, body }]) })
  const error = await client.orderVps({ product: 'nano', os_id: 1 }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(CoinrackError)
  expect(error).toMatchObject({
    code: 'insufficient_balance',
    message: 'It is insufficient_balance',
    fix: 'Do this.',
    status: 402,
    nextSteps: [{ tool: 'topup_balance', why: 'Add money' }],
    requestId: 'req-1',
    retryAfter: undefined,
    body: { shortfall: '2.00', invoice: { id: 'inv_1' } },
  })
})

test.each([
  ['a page of a proxy', { status: 413, text: '<h1>Too large</h1>' }],
  ['a page with status 200', { status: 200, text: '<h1>Welcome</h1>' }],
  ['JSON of another service', { status: 200, body: { balance: 'a lot' } }],
])('error: %s is an unexpected answer', async (_what, reply) => {
  const client = createClient({ url, retry: noRetry, ...scriptedWorld([reply]) })
  await expect(client.getBalance()).rejects.toMatchObject({
    name: 'CoinrackError',
    code: 'unexpected_answer',
    status: reply.status,
  })
})

test('error: no answer is a ConnectionError that names the cause', async () => {
  const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
  const client = createClient({ url, retry: noRetry, ...scriptedWorld([refused]) })
  const error = await client.getBalance().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ConnectionError)
  expect((error as Error).message).toBe(`No answer from ${url}/api/v1/eqvps/balance: connect ECONNREFUSED`)
})

test('types: what is required is required, and what comes back is decoded', () => {
  expectTypeOf<Client['getBalance']>().parameter(0).toEqualTypeOf<Record<string, never> | undefined>()
  expectTypeOf<Awaited<ReturnType<Client['orderVps']>>['total']>().toEqualTypeOf<bigint>()
  expectTypeOf<Awaited<ReturnType<Client['whoami']>>['created_at']>().toEqualTypeOf<Date>()
  expectTypeOf<Client['topupBalance']>().parameter(0).toExtend<{ amount: number | string }>()
  expectTypeOf<Client>().not.toHaveProperty('no_such_operation')
  const misuse = (client: Client) => {
    // @ts-expect-error a plan is required
    client.orderVps({ os_id: 1 })
    // @ts-expect-error one object is no list
    client.getBalance.all()
  }
  expect(misuse).toBeTypeOf('function')
})
