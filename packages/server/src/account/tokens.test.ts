import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createApp } from '../process/app.ts'
import { createMetrics } from '../process/metrics.ts'
import { createReadiness } from '../process/readiness.ts'
import { startTestService, type TestService } from '../process/testing.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let service: TestService
let token: string
let accountId: string
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_LOGIN: '1000/min', COINRACK_RATE_REGISTER: '1000/min' },
  })
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ token, accountId } = await service.customer())
})

const create = (body: object = {}, by = token) => {
  // So that each is newer than the one before.
  service.clock.advance(1)
  return service.ask('POST', '/tokens', { token: by, body })
}
const statusOf = async (by: string) => (await service.ask('GET', '/balance', { token: by })).status
const codeOf = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, by: string, body = {}) =>
  (await service.ask(method, path, { token: by, ...(method === 'GET' ? {} : { body }) })).body.code
const list = async (by = token, query = '') =>
  (await service.ask('GET', `/tokens${query}`, { token: by })).body

describe('createToken', () => {
  test('default: a child with the rights and the time of its parent, its text shown once', async () => {
    const { status, body } = await create({ name: 'build agent' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      token: expect.stringMatching(/^crk_/),
      token_type: 'Bearer',
      details: { name: 'build agent', status: 'active', unconfirmed: false, budget: null },
    })
    const [child, parent] = await list()
    expect(child).toEqual(body.details)
    expect(child).toMatchObject({
      parent_id: parent.id,
      scopes: parent.scopes,
      expires_at: parent.expires_at,
    })
    expect(JSON.stringify([child, parent])).not.toContain('crk_')
    expect(await statusOf(body.token)).toBe(200)
  })

  test('behavior: each scope opens what it is for, and nothing else', async () => {
    const { body } = await create({ scopes: ['read', 'read'] })
    expect(body.details.scopes).toEqual(['read'])
    expect(await codeOf('GET', '/balance', body.token)).toBe(undefined)
    expect(await codeOf('POST', '/orders', body.token, { product: 'nano', os_id: 1 })).toBe('scope_missing')
    expect(await codeOf('POST', '/balance/topup', body.token, { amount: 5 })).toBe('scope_missing')
    expect(await codeOf('POST', '/tokens', body.token)).toBe('scope_missing')
  })

  test('error: a scope that the parent has not', async () => {
    const child = (await create({ scopes: ['account', 'read'] })).body.token
    const { status, body } = await create({ scopes: ['read', 'order'] }, child)
    expect([status, body.code, body.scope]).toEqual([403, 'scope_missing', 'order'])
  })

  test('behavior: it ends with its days, and never after its parent', async () => {
    const short = (await create({ expires_in_days: 2, scopes: ['read', 'account'] })).body
    const below = (await create({ expires_in_days: 300 }, short.token)).body
    expect(below.token_expires_at).toBe(short.token_expires_at)
    expect(Date.parse(short.token_expires_at) - Date.parse(short.details.created_at)).toBe(2 * DAY_MS)
    service.clock.advance(Date.parse(short.token_expires_at) - service.clock.now().getTime() - 1)
    expect([await statusOf(short.token), await statusOf(below.token)]).toEqual([200, 200])
    service.clock.advance(1)
    expect([await statusOf(short.token), await statusOf(below.token), await statusOf(token)]).toEqual([
      401, 401, 200,
    ])
  })

  test('error: a budget above one that it stands below', async () => {
    const child = (await create({ budget: { total: '10.00', max_live_vps: 1 } })).body
    const refused = await create({ budget: { total: '12.50' } }, child.token)
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'budget_exceeded', cap: 'total', limit: '10.00', used: '0.00', short_by: '2.50' },
    })
    const live = await create({ budget: { max_live_vps: 3 } }, child.token)
    expect(live.body).toMatchObject({ cap: 'max_live_vps', limit: 1, short_by: 2 })
    expect(await list()).toHaveLength(2)
  })

  test('behavior: what may not renew itself cannot let its children', async () => {
    const child = (await create({ budget: { total: 10 } })).body
    const below = (await create({ budget: { total: 5, allow_auto_renew: true } }, child.token)).body
    expect(below.details.budget).toMatchObject({ total: '5.00', per_day: null, allow_auto_renew: false })
  })

  test('error: five below each other are enough', async () => {
    let last = token
    for (let depth = 0; depth < 4; depth++) last = (await create({}, last)).body.token
    expect((await create({}, last)).body.code).toBe('token_limit')
  })

  test('error: what no token has', async () => {
    for (const body of [
      { scopes: [] },
      { scopes: ['root'] },
      { expires_in_days: 0 },
      { budget: { total: -1 } },
      { budget: { max_live_vps: 0.5 } },
    ]) {
      expect((await create(body)).status).toBe(422)
    }
  })
})

describe('what a child token sees and may change', () => {
  test('behavior: itself and those below it; its parent sees all', async () => {
    const [one, two] = [(await create({ name: 'one' })).body, (await create({ name: 'two' })).body]
    const below = (await create({ name: 'below one' }, one.token)).body
    const names = async (by: string) => (await list(by)).map(({ name }: { name: string }) => name)
    expect(await names(one.token)).toEqual(['below one', 'one'])
    expect(await names(below.token)).toEqual(['below one'])
    expect(await names(token)).toEqual(['below one', 'two', 'one', null])
    expect(await codeOf('DELETE', `/tokens/${two.details.id}`, one.token)).toBe('token_not_below')
    expect(await codeOf('PATCH', `/tokens/${two.details.id}`, one.token, { name: 'x' })).toBe(
      'token_not_below',
    )
    expect(await codeOf('PATCH', `/tokens/${one.details.id}`, one.token, { budget: null })).toBe(
      'token_not_below',
    )
    expect(await codeOf('POST', `/tokens/${two.details.id}/confirm`, one.token)).toBe('token_not_below')
  })

  test('error: a child token can never set the password, however fresh it is', async () => {
    const child = (await create()).body.token
    expect(await codeOf('POST', '/auth/set-password', child, { password: 'stolen it' })).toBe('child_token')
  })

  test('behavior: one above it raises its budget, renames it and lifts it', async () => {
    const { details } = (await create({ name: 'a', budget: { total: 1 } })).body
    const update = async (body: object) =>
      (await service.ask('PATCH', `/tokens/${details.id}`, { token, body })).body.details
    expect(await update({ budget: { per_day: 2 } })).toMatchObject({
      name: 'a',
      budget: { total: null, per_day: '2.00' },
    })
    expect(await update({ name: 'b' })).toMatchObject({ name: 'b', budget: { per_day: '2.00' } })
    expect(await update({ budget: null, name: null })).toMatchObject({ name: null, budget: null })
    const own = (await list()).at(-1).id
    expect(await codeOf('PATCH', `/tokens/${own}`, token, { budget: { total: 1 } })).toBe('token_not_below')
  })

  test('behavior: whoami says what the token may do and has spent', async () => {
    const child = (await create({ scopes: ['read'], budget: { total: 5 } })).body
    const { body } = await service.ask('GET', '/account', { token: child.token })
    expect(body).toMatchObject({ id: accountId, token: child.details, unconfirmed_tokens: [] })
    expect(body.token.spent).toEqual({ today: '0.00', total: '0.00', unapproved_today: '0.00' })
  })
})

describe('revokeToken and logout', () => {
  test('default: ends a token and all below it with the next request; others stay', async () => {
    const child = (await create()).body
    const below = (await create({}, child.token)).body
    const other = (await create()).body
    const { body } = await service.ask('DELETE', `/tokens/${child.details.id}`, { token })
    expect(body.revoked).toEqual([child.details.id, below.details.id])
    const all = [child.token, below.token, other.token, token]
    expect(await Promise.all(all.map(statusOf))).toEqual([401, 401, 200, 200])
    expect(await list()).toHaveLength(2)
    const ended = await list(token, '?ended=true')
    expect(ended.map(({ status }: { status: string }) => status)).toEqual([
      'active',
      'revoked',
      'revoked',
      'active',
    ])
  })

  test('default: logout ends the token of the call, whatever it may do, with its children', async () => {
    const child = (await create({ scopes: ['account', 'order'] })).body
    const below = (await create({ scopes: ['order'] }, child.token)).body
    const { status, body } = await service.ask('POST', '/auth/logout', { token: child.token })
    expect([status, body.revoked]).toEqual([200, [child.details.id, below.details.id]])
    expect(await codeOf('POST', '/auth/logout', below.token)).toBe('unauthorized')
    expect(await statusOf(token)).toBe(200)
  })

  test('behavior: a child that is made while its parent is revoked is revoked as well', async () => {
    for (let round = 0; round < 5; round++) {
      const parent = (await create()).body
      const [made] = await Promise.all([
        create({}, parent.token),
        service.ask('DELETE', `/tokens/${parent.details.id}`, { token }),
      ])
      if (made.status === 200) expect(await statusOf(made.body.token)).toBe(401)
      else expect(made.status).toBe(401)
    }
  })

  test('behavior: another replica refuses it with the next request', async () => {
    const db = new pg.Pool(service.services.db.options)
    const services = { ...service.services, db }
    const replica = createApp(services, createReadiness(services), createMetrics())
    const child = (await create()).body
    const below = (await create({}, child.token)).body
    const there = async (by: string) =>
      (
        await replica.inject({
          url: '/api/v1/eqvps/balance',
          headers: { authorization: `Bearer ${by}` },
        })
      ).statusCode
    expect([await there(child.token), await there(below.token)]).toEqual([200, 200])
    await service.ask('DELETE', `/tokens/${child.details.id}`, { token })
    expect([await there(child.token), await there(below.token), await there(token)]).toEqual([401, 401, 200])
    await replica.close()
    await db.end()
  })
})

describe('refreshToken', () => {
  const refresh = (by: string, headers = {}) => service.ask('POST', '/auth/refresh', { token: by, headers })

  test('default: a new text for the same token; the old one works ten minutes more, to the millisecond', async () => {
    service.clock.advance(DAY_MS)
    const child = (await create()).body
    const { status, body, headers } = await refresh(token)
    expect(status).toBe(200)
    expect(Date.parse(body.token_expires_at) - service.clock.now().getTime()).toBe(365 * DAY_MS)
    expect(Date.parse(body.old_token_expires_at) - service.clock.now().getTime()).toBe(10 * MINUTE_MS)
    expect(body.token_id).toBe((await list(body.token)).at(-1).id)
    expect(headers['cache-control']).toBe('no-store')
    const old = await service.ask('GET', '/balance', { token })
    expect(old.headers['x-token-expires-at']).toBe(body.old_token_expires_at)
    service.clock.advance(10 * MINUTE_MS - 1)
    expect(await statusOf(token)).toBe(200)
    service.clock.advance(1)
    expect([await statusOf(token), await statusOf(body.token), await statusOf(child.token)]).toEqual([
      401, 200, 200,
    ])
  })

  test('behavior: twice in ten minutes, and all three texts work', async () => {
    const second = (await refresh(token)).body.token
    const third = (await refresh(second)).body.token
    expect(await Promise.all([token, second, third].map(statusOf))).toEqual([200, 200, 200])
    await service.ask('POST', '/auth/logout', { token: third })
    expect(await Promise.all([token, second, third].map(statusOf))).toEqual([401, 401, 401])
  })

  test('behavior: a child keeps its time, its budget and its parent', async () => {
    const child = (await create({ expires_in_days: 1, budget: { total: 5 }, scopes: ['read'] })).body
    service.clock.advance(DAY_MS - MINUTE_MS)
    const { body } = await refresh(child.token)
    expect(body.token_expires_at).toBe(child.token_expires_at)
    expect(body.old_token_expires_at).toBe(child.token_expires_at)
    const [details] = await list()
    expect(details).toEqual(child.details)
  })

  test('behavior: it is no login: setting a password later needs the current one', async () => {
    await service.ask('POST', '/auth/set-password', { token, body: { password: 'password one' } })
    service.clock.advance(10 * MINUTE_MS + 1)
    const fresh = (await refresh(token)).body.token
    expect(await codeOf('POST', '/auth/set-password', fresh, { password: 'password two' })).toBe(
      'invalid_credentials',
    )
  })

  test('behavior: an answer that was lost is given again', async () => {
    const headers = { 'idempotency-key': 'refresh-once' }
    const first = await refresh(token, headers)
    const again = await refresh(token, headers)
    expect(again.body).toEqual(first.body)
    expect(again.headers['idempotent-replayed']).toBe('true')
  })
})

test('default: updateAccount changes the names that are given', async () => {
  const update = async (body: object) =>
    (await service.ask('PATCH', '/account', { token, body })).body.account
  expect(await update({ first_name: 'Ada', last_name: 'Lovelace' })).toMatchObject({
    first_name: 'Ada',
    last_name: 'Lovelace',
  })
  expect(await update({ last_name: null })).toMatchObject({ first_name: 'Ada', last_name: null })
  expect((await service.ask('PATCH', '/account', { token, body: { email: 'x@rackmail.net' } })).status).toBe(
    422,
  )
})
