import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'

/*
 * A call by name is the call that it names: it is answered in the same way, and everything that limits the one limits the
 * other.
 */

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_DEFAULT: '100000/min', COINRACK_RATE_SANDBOXES: '2/h' },
  })
})
afterAll(() => service.close())

type Input = Record<string, unknown>
const call = (name: string, input: Input = {}, { token, key }: { token?: string; key?: string } = {}) =>
  service.tool(
    'call_operation',
    { name, arguments: input, ...(key && { idempotency_key: key }) },
    token === undefined ? {} : { token },
  )
const post = (name: string, input: Input, token?: string, headers: Record<string, string> = {}) =>
  service.ask('POST', `/catalog/operations/${name}`, {
    body: { arguments: input },
    headers,
    ...(token === undefined ? {} : { token }),
  })
const same = ({ request_id: _id, ...body }: Input) => body

describe('every operation', () => {
  const others = operationList.filter(([name]) => name !== 'callOperation')

  test.each(others.filter(([, { access }]) => access !== 'public'))(
    'error: %s is refused without a token as it is when called itself',
    async (name, op: Operation) => {
      const [itself, named] = [await service.tool(toolName(name), op.example), await call(name, op.example)]
      expect(named.isError).toBe(itself.isError)
      if (named.isError) expect(same(named.body)).toEqual(same(itself.body))
    },
  )

  test('error: what is wrong with an input is said in the same words', async () => {
    const { token } = await service.customer()
    for (const [name, op] of others) {
      const input = { ...op.example, no_such_field: 1 }
      const itself = await service.tool(toolName(name), input, { token })
      expect(same((await call(toolName(name), input, { token })).body)).toEqual(same(itself.body))
    }
  })
})

describe('what limits an operation', () => {
  test('error: the scope of a token', async () => {
    const { token } = await service.customer(10_000_000n)
    const child = (await call('create_token', { scopes: ['read'] }, { token })).body.token
    expect((await call('create_sandbox', {}, { token: child })).body).toMatchObject({
      code: 'scope_missing',
      scope: 'sandbox',
    })
  })

  test('error: its budget, which its charges count for', async () => {
    const { token } = await service.customer(10_000_000n)
    const budget = { total: 4 }
    const child = (await call('create_token', { scopes: ['read', 'order'], budget }, { token })).body.token
    const order = { product: 'nano', os_id: 1 }
    expect((await call('order_vps', order, { token: child })).isError).toBe(false)
    expect((await call('order_vps', { ...order, hostname: 'second' }, { token: child })).body.code).toBe(
      'budget_exceeded',
    )
  })

  test('error: the class of its rate, which counts it as one of its own', async () => {
    const { token } = await service.customer(10_000_000n)
    expect((await call('create_sandbox', {}, { token })).isError).toBe(false)
    expect((await service.tool('create_sandbox', {}, { token })).isError).toBe(false)
    expect((await call('create_sandbox', {}, { token })).body).toMatchObject({
      code: 'rate_limited',
      retry_after: expect.any(Number),
    })
  })

  test('error: its confirmation', async () => {
    const { token } = await service.customer(10_000_000n)
    const { service_id } = (await call('order_vps', { product: 'nano', os_id: 1 }, { token })).body
    const refused = await call('cancel_service', { service_id, mode: 'immediate' }, { token })
    expect(refused.body.code).toBe('confirmation_required')
  })

  test('error: whose it is', async () => {
    const [owner, stranger] = [await service.customer(10_000_000n), await service.customer()]
    const { service_id } = (await call('order_vps', { product: 'nano', os_id: 1 }, owner)).body
    expect((await call('get_vps_status', { service_id }, stranger)).body.code).toBe('not_owner')
  })

  test('behavior: with a key it is done once, under whichever name it is called', async () => {
    const { token } = await service.customer(10_000_000n)
    const input = { product: 'nano', os_id: 1 }
    const first = await call('order_vps', input, { token, key: 'k' })
    const again = await call('orderVps', input, { token, key: 'k' })
    const itself = await service.tool('order_vps', { ...input, idempotency_key: 'k' }, { token })
    expect(again.body.id).toBe(first.body.id)
    expect(itself.body.id).toBe(first.body.id)
    const other = await call('order_vps', { ...input, os_id: 2 }, { token, key: 'k' })
    expect(other.body.code).toBe('idempotency_key_reused')
    expect((await service.tool('get_balance', {}, { token })).body.total).toBe('10.00')
  })
})

describe('as a tool', () => {
  test('default: the answer, its next steps and a list are those of the operation', async () => {
    const { token } = await service.customer(10_000_000n)
    const order = await call('order_vps', { product: 'nano', os_id: 1 }, { token })
    expect(order.body.next_steps[0]).toMatchObject({ tool: 'get_vps_status' })
    expect((await call('list_vps', {}, { token })).body.items).toHaveLength(1)
  })

  test('behavior: token and key may stand among the arguments, where they stand for every other tool', async () => {
    const { token, accountId } = await service.customer()
    expect((await call('whoami', { access_token: token })).body.id).toBe(accountId)
    const topup = { amount: 5, access_token: token, idempotency_key: 'k' }
    const ids = [await call('topup_balance', topup), await call('topup_balance', topup)].map(
      ({ body }) => body.invoice.id,
    )
    expect(ids[0]).toBe(ids[1])
  })
})

describe('by REST', () => {
  test('default: the answer of the operation, with its headers; a list is an object', async () => {
    const { token } = await service.customer(10_000_000n)
    const order = await post('order_vps', { product: 'nano', os_id: 1 }, token)
    expect(order.status).toBe(200)
    expect(order.headers.location).toBe(`/api/v1/eqvps/orders/${order.body.id}`)
    expect(order.headers['x-token-expires-at']).toBeDefined()
    expect(order.headers['cache-control']).toBe('no-store')
    expect((await post('list_vps', { limit: 1 }, token)).body).toMatchObject({
      items: [{ status: 'provisioning' }],
    })
  })

  test('behavior: a public operation needs no token', async () => {
    expect((await post('list_plans', {})).body.items.length).toBeGreaterThan(0)
  })

  test('behavior: Idempotency-Key is that of the operation', async () => {
    const { token } = await service.customer()
    const key = { 'idempotency-key': 'k' }
    const first = await post('topup_balance', { amount: 5 }, token, key)
    const again = await post('topup_balance', { amount: 5 }, token, key)
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotent-replayed']).toBe('true')
  })

  test('error: a body that is no JSON, no object, or has other fields', async () => {
    const { token } = await service.customer()
    const refused = async (body: unknown) =>
      (await service.ask('POST', '/catalog/operations/get_balance', { token, body })).body.code
    expect(await refused('{')).toBe('malformed_json')
    for (const body of [[], { arguments: [] }, { arguments: 'x' }, { input: {} }])
      expect(await refused(body)).toBe('invalid_input')
  })
})

describe('a name that no operation has', () => {
  test.each([
    ['order_vp', 'order_vps'],
    ['getBalence', 'get_balance'],
    ['snapshot_create', 'create_snapshot'],
    ['run_comand_on_vps', 'run_on_vps'],
  ])('error: %s: %s is named, and the way to find others', async (name, close) => {
    const { token } = await service.customer()
    for (const { body } of [await call(name, {}, { token }), await service.tool(name)]) {
      expect(body.code).toBe('unknown_operation')
      expect(body.closest).toContain(close)
      expect(body.next_steps[0]).toMatchObject({ tool: 'find_operations' })
      const [{ tool, arguments: input }] = body.next_steps
      expect((await service.tool(tool, input)).body.total).toBeGreaterThan(0)
    }
  })

  test('error: nothing is like it', async () => {
    const { body } = await service.tool('xylophone')
    expect(body).toMatchObject({ code: 'unknown_operation', closest: [] })
    expect((await service.tool('find_operations', body.next_steps[0].arguments)).isError).toBe(false)
  })

  test('error: call_operation does not call itself', async () => {
    const { token } = await service.customer()
    for (const name of ['call_operation', 'callOperation'])
      expect((await call(name, { name: 'get_balance' }, { token })).body.code).toBe('unknown_operation')
  })

  test('error: by REST it is 404', async () => {
    const { token } = await service.customer()
    expect((await post('no_such_thing', {}, token)).status).toBe(404)
  })
})
