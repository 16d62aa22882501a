import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from './testing.ts'

let service: TestService
let buyer: Buyer
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_SANDBOXES: '10000/min' } })
  buyer = await buyerOf(service)
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

describe('create_sandbox', () => {
  test('default: it runs when the answer comes, with its next minute held', async () => {
    const { status, body } = await buyer.create()
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: expect.stringMatching(/^sbx[0-9a-z]{26}$/),
      state: 'running',
      tariff: 'micro',
      template: 'base',
      mode: 'ephemeral',
      vcpus: 0.25,
      memory_mb: 512,
      price_per_hour: '0.0165',
      cost: '0.00',
      seconds: 0,
      network: { allow_internet: true, allow_out: [], deny_out: [] },
    })
    expect(body).toMatchObject({ balance: '0.999725', burn_per_hour: '0.0165' })
    expect(await buyer.balance()).toMatchObject({ held: '0.000275', total: '1.00' })
    expect(service.runtime.sandboxes.get(body.id)?.state).toBe('running')
    expect(await buyer.events()).toMatchObject([
      { type: 'sandbox.started', data: { sandbox_id: body.id, tariff: 'micro' } },
    ])
    await buyer.kill(body.id)
  })

  test('default: with all that can be said', async () => {
    const { body } = await buyer.create({
      tariff: 'standard',
      template: 'code-interpreter',
      mode: 'persistent',
      timeout: 60,
      idle_timeout: 0,
      env: { KEY: 'secret' },
      metadata: { run: '7' },
      network: { allow_internet: false, allow_out: ['pypi.org', '198.51.100.0/24'] },
    })
    expect(body).toMatchObject({
      tariff: 'standard',
      mode: 'persistent',
      metadata: { run: '7' },
      idle_timeout: 0,
      network: { allow_internet: false, allow_out: ['pypi.org', '198.51.100.0/24'], deny_out: [] },
    })
    const { spec } = service.runtime.sandboxes.get(body.id)!
    expect(spec).toMatchObject({ vcpus: 1, memoryMb: 2048, env: { KEY: 'secret' } })
    const { rows } = await service.services.db.query('select env from sandbox where id = $1', [body.id])
    expect(rows[0]!.env.toString('latin1')).not.toContain('secret')
    await buyer.kill(body.id)
  })

  test.each([
    ['template', { template: 'none-such' }, 422, 'unknown_template'],
    ['snapshot', { template: `snp_${'0'.repeat(26)}` }, 422, 'unknown_template'],
    ['network', { network: { allow_out: ['not a name'] } }, 422, 'invalid_input'],
    ['tariff', { tariff: 'huge' }, 422, 'invalid_input'],
    ['name of a variable', { env: { 'A B': '1' } }, 422, 'invalid_input'],
    ['timeout', { timeout: 86_401 }, 422, 'invalid_input'],
  ])('error: no such %s', async (_what, body, status, code) => {
    const reply = await buyer.create(body)
    expect([reply.status, reply.body.code]).toEqual([status, code])
    expect((await buyer.balance()).held).toBe('0.00')
  })

  let failed = 0
  test.each([
    ['no room for it', 'no-space', 503, 'capacity'],
    ['a template that is not there yet', 'not-ready', 503, 'capacity'],
    ['a guest that never comes up', 'fail-ensure-9', 503, 'capacity'],
  ])('error: %s: nothing is charged, held or left', async (_what, FAKE, status, code) => {
    const before = await buyer.balance()
    const { status: found, body, headers } = await buyer.create({ env: { FAKE } })
    expect([found, body.code]).toEqual([status, code])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(await buyer.balance()).toEqual(before)
    await service.reconcileSandboxes()
    expect(service.runtime.sandboxes.size).toBe(0)
    const failures = (await buyer.events()).filter(({ type }) => type === 'sandbox.failed')
    expect(failures).toHaveLength(++failed)
  })

  test('behavior: a guest that fails twice comes up at the third time', async () => {
    const { status, body } = await buyer.create({ env: { FAKE: 'fail-ensure-2' } })
    expect([status, body.state]).toEqual([200, 'running'])
    await buyer.kill(body.id)
  })

  test('error: no money for the first minute, and what is missing', async () => {
    const poor = await buyerOf(service, 274n)
    const { status, body } = await poor.create()
    expect([status, body.code]).toEqual([402, 'insufficient_balance'])
    expect(body).toMatchObject({ required: '0.000275', balance: '0.000274', shortfall: '0.000001' })
  })

  test('behavior: one key, one sandbox, and the answer of the first: it runs', async () => {
    const headers = { 'idempotency-key': 'one-sandbox' }
    const send = () => service.ask('POST', '/sandboxes', { token: buyer.token, body: {}, headers })
    const first = await send()
    const second = await send()
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect(second.body).toEqual(first.body)
    expect(second.body.state).toBe('running')
    await buyer.kill(first.body.id)
  })

  test('behavior: of one that failed the key is free again', async () => {
    const headers = { 'idempotency-key': 'failed-first' }
    const body = { env: { FAKE: 'no-space' } }
    const send = () => service.ask('POST', '/sandboxes', { token: buyer.token, body, headers })
    expect((await send()).status).toBe(503)
    const again = await send()
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([503, undefined])
  })
})

describe('budgets of tokens', () => {
  test('error: more than max_live_sandboxes', async () => {
    const owner = await buyerOf(service)
    const { body } = await owner.post('/tokens', { budget: { max_live_sandboxes: 1 } })
    owner.actAs(body.token)
    const id = await owner.sandbox()
    const second = await owner.create()
    expect([second.status, second.body.code, second.body.cap]).toEqual([
      403,
      'budget_exceeded',
      'max_live_sandboxes',
    ])
    await owner.kill(id)
    await owner.kill(await owner.sandbox())
  })

  test('behavior: what they cost counts, and ends them when the budget does', async () => {
    const owner = await buyerOf(service)
    const { body } = await owner.post('/tokens', { budget: { total: '0.00055' } })
    owner.actAs(body.token)
    const id = await owner.sandbox({ timeout: 3600, idle_timeout: 0 })
    service.clock.advance(100_000)
    await service.reconcileSandboxes()
    expect(await owner.show(id)).toMatchObject({ state: 'running' })
    // 550 micro-USD of 16,500 an hour: 120 s, and what is not yet another micro-USD.
    service.clock.advance(20_218)
    await service.reconcileSandboxes()
    expect(await owner.show(id)).toMatchObject({ state: 'ended', reason: 'budget', cost: '0.00055' })
    const { body: who } = await owner.ask('GET', '/account')
    expect(who.token.spent.total).toBe('0.00055')
  })
})

describe('time', () => {
  test('behavior: it ends at its timeout', async () => {
    const id = await buyer.sandbox({ timeout: 90, idle_timeout: 0 })
    service.clock.advance(89_999)
    await service.reconcileSandboxes()
    expect((await buyer.show(id)).state).toBe('running')
    service.clock.advance(1)
    await service.reconcileSandboxes()
    expect(await buyer.show(id)).toMatchObject({ state: 'ended', reason: 'timeout', seconds: 90 })
    expect(service.runtime.sandboxes.has(id)).toBe(false)
    expect((await buyer.events()).at(-1)).toMatchObject({
      type: 'sandbox.ended',
      data: { sandbox_id: id, reason: 'timeout', seconds: 90, cost: '0.000412' },
    })
  })

  test('behavior: a persistent one pauses at its timeout, and ends when nobody wanted it for a month', async () => {
    const id = await buyer.sandbox({ mode: 'persistent', timeout: 90 })
    service.clock.advance(90_000)
    await service.reconcileSandboxes()
    expect(await buyer.show(id)).toMatchObject({ state: 'paused', reason: 'timeout', cost: '0.000412' })
    service.clock.advance(30 * DAY_MS)
    await service.reconcileSandboxes()
    expect(await buyer.show(id)).toMatchObject({ state: 'ended', reason: 'kept_too_long', cost: '0.000412' })
  })

  test('behavior: it ends when it is not used for so long', async () => {
    const id = await buyer.sandbox({ timeout: 3600, idle_timeout: 60 })
    service.clock.advance(50_000)
    expect((await buyer.post(`/sandboxes/${id}/exec`, { command: 'true' })).status).toBe(200)
    service.clock.advance(59_000)
    await service.reconcileSandboxes()
    expect((await buyer.show(id)).state).toBe('running')
    service.clock.advance(1_000)
    await service.reconcileSandboxes()
    expect(await buyer.show(id)).toMatchObject({ state: 'ended', reason: 'idle' })
  })

  test('default: set_sandbox_timeout counts from now on', async () => {
    const id = await buyer.sandbox({ timeout: 60, idle_timeout: 0 })
    service.clock.advance(50_000)
    const { body } = await buyer.post(`/sandboxes/${id}/timeout`, { timeout: 120 })
    expect(Date.parse(body.expires_at) - service.clock.now().getTime()).toBe(120_000)
    service.clock.advance(MINUTE_MS)
    await service.reconcileSandboxes()
    expect((await buyer.show(id)).state).toBe('running')
    await buyer.kill(id)
    const refused = await buyer.post(`/sandboxes/${id}/timeout`, { timeout: 120 })
    expect([refused.status, refused.body.code]).toEqual([409, 'sandbox_not_running'])
  })
})

describe('kill_sandbox', () => {
  test('default: nothing is left, and it answers no work', async () => {
    const id = await buyer.sandbox()
    service.clock.advance(10_000)
    const { status, body } = await buyer.kill(id)
    expect(status).toBe(200)
    expect(body).toMatchObject({ state: 'ended', reason: 'asked', seconds: 10, cost: '0.000045' })
    expect(service.runtime.sandboxes.has(id)).toBe(false)
    const work = await buyer.post(`/sandboxes/${id}/exec`, { command: 'true' })
    expect([work.status, work.body.code]).toEqual([409, 'sandbox_not_running'])
    expect((await buyer.kill(id)).body).toEqual(body)
    expect((await buyer.balance()).held).toBe('0.00')
  })

  test('behavior: lists show those that are not over', async () => {
    const id = await buyer.sandbox()
    const list = (query = '') => buyer.ask('GET', `/sandboxes${query}`)
    expect((await list()).body.map((each: { id: string }) => each.id)).toEqual([id])
    expect((await list('?state=running')).body).toHaveLength(1)
    expect((await list('?state=paused')).body).toHaveLength(0)
    await buyer.kill(id)
    expect((await list()).body).toEqual([])
    expect((await list('?state=ended&limit=1')).body[0].id).toBe(id)
  })

  test('default: lists show those with some metadata', async () => {
    const metadata = { app: 'list', user: 'ä & b' }
    const ids = [await buyer.sandbox({ metadata }), await buyer.sandbox({ metadata: { app: 'list' } })]
    const list = async (wanted: object) => {
      const query = encodeURIComponent(new URLSearchParams({ ...wanted }).toString())
      const { body } = await buyer.ask('GET', `/sandboxes?metadata=${query}`)
      return body.map((each: { id: string }) => each.id).sort()
    }
    expect(await list({ app: 'list' })).toEqual(ids.toSorted())
    expect(await list(metadata)).toEqual([ids[0]])
    expect(await list({ app: 'list', user: 'b' })).toEqual([])
    for (const id of ids) await buyer.kill(id)
  })
})

test('behavior: one that crashed has ended, and costs what it ran', async () => {
  const id = await buyer.sandbox()
  service.clock.advance(5_000)
  service.runtime.crash(id)
  service.clock.advance(5_000)
  await service.reconcileSandboxes()
  expect(await buyer.show(id)).toMatchObject({ state: 'ended', reason: 'crashed', cost: '0.000022' })
  expect(service.runtime.sandboxes.has(id)).toBe(false)
})

test('error: a host without sandboxes says so', async () => {
  const other = await startTestService({ sandboxes: false })
  const poor = await buyerOf(other)
  const { status, body } = await poor.create()
  expect([status, body.code]).toEqual([503, 'sandboxes_unavailable'])
  expect((await poor.ask('GET', '/sandboxes')).body).toEqual([])
  await other.close()
})
