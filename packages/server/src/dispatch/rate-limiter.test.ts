import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'

describe('the service', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      env: {
        COINRACK_RATE_ORDERS: '3/min',
        COINRACK_RATE_TOPUPS: '2/10min',
        COINRACK_RATE_REGISTER: '3/h',
        COINRACK_RATE_LOGIN: '2/10min',
        COINRACK_RATE_BAD_TOKENS: '4/min',
        COINRACK_RATE_DEFAULT: '8/min',
        COINRACK_RATE_REINSTALLS: '1/h',
        COINRACK_TRUSTED_PROXIES: '10.9.0.0/16',
      },
    })
  })
  afterAll(() => service.close())

  const order = (token: string) =>
    service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1, dry_run: true } })
  const register = (address: string, headers: Record<string, string> = {}) => {
    const body = { email: `a${Math.random().toString(36).slice(2)}@rackmail.net` }
    return service.ask('POST', '/auth/register', { body, address, headers })
  }
  const statusesOf = async (count: number, ask: () => Promise<{ status: number }>) => {
    const statuses: number[] = []
    for (let index = 0; index < count; index++) statuses.push((await ask()).status)
    return statuses
  }

  test('default: so many, then 429 with when to come back', async () => {
    const { token } = await service.customer(50_000_000n)
    const first = await order(token)
    expect(first.headers['ratelimit-policy']).toBe('"orders";q=3;w=60')
    expect(first.headers.ratelimit).toBe('"orders";r=2;t=20')
    await order(token)
    await order(token)
    const refused = await order(token)
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(refused.headers['retry-after']).toBe('20')
    expect(refused.headers.ratelimit).toBe('"orders";r=0;t=60')
  })

  test('behavior: a refusal says as well what is left, and until when the token is good', async () => {
    const { token } = await service.customer()
    const refused = [
      await service.ask('POST', '/orders', { token, body: { product: 'nano' } }),
      await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } }),
      await service.ask('GET', '/services/vps_none', { token }),
    ]
    expect(refused.map(({ status, headers }) => [status, headers.ratelimit])).toEqual([
      [422, '"orders";r=3;t=0'],
      [402, '"orders";r=2;t=20'],
      [404, '"default";r=5;t=23'],
    ])
    for (const { headers } of refused) expect(headers['x-token-expires-at']).toMatch(/^2027-/)
  })

  test('behavior: after Retry-After one more is served, and only one', async () => {
    const { token } = await service.customer(50_000_000n)
    expect(await statusesOf(4, () => order(token))).toEqual([200, 200, 200, 429])
    service.clock.advance(19_999)
    expect((await order(token)).status).toBe(429)
    service.clock.advance(1)
    expect(await statusesOf(2, () => order(token))).toEqual([200, 429])
  })

  test('behavior: a refused request changes nothing', async () => {
    const { token, accountId } = await service.customer(50_000_000n)
    await statusesOf(3, () => order(token))
    const refused = await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
    expect(refused.status).toBe(429)
    const { rows } = await service.services.db.query('select from vps_order where account_id = $1', [
      accountId,
    ])
    expect(rows).toHaveLength(0)
  })

  test('behavior: of thirty at the same moment exactly the limit is served', async () => {
    const { token } = await service.customer(50_000_000n)
    const all = await Promise.all(Array.from({ length: 30 }, () => order(token)))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(3)
  })

  test('behavior: accounts count apart, classes count apart', async () => {
    const [one, two] = [await service.customer(50_000_000n), await service.customer(50_000_000n)]
    await statusesOf(4, () => order(one.token))
    expect((await order(two.token)).status).toBe(200)
    expect((await service.ask('GET', '/balance', { token: one.token })).status).toBe(200)
  })

  test('behavior: everything else has its own class', async () => {
    const { token } = await service.customer()
    const balance = () => service.ask('GET', '/balance', { token })
    expect(await statusesOf(9, balance)).toEqual([...Array(8).fill(200), 429])
  })

  test('behavior: what was refused and did nothing does not use up the limit of what was asked for', async () => {
    const { token } = await service.customer(50_000_000n)
    const ask = (path: string, body: object) => () => service.ask('POST', path, { token, body })
    expect(await statusesOf(2, ask('/orders', { product: 'none', os_id: 1 }))).toEqual([422, 422])
    expect(await statusesOf(2, ask('/services/vps_none/reinstall', { os_id: 1 }))).toEqual([404, 404])
    expect(await statusesOf(3, () => order(token))).toEqual([200, 200, 200])
    expect((await order(token)).headers['ratelimit-policy']).toBe('"orders";q=3;w=60')
  })

  test('behavior: refused calls are not free: the general limit counts them all', async () => {
    const { token } = await service.customer(50_000_000n)
    const refused = () => service.ask('POST', '/orders', { token, body: { product: 'none', os_id: 1 } })
    expect(await statusesOf(10, refused)).toEqual([...Array(8).fill(422), 429, 429])
    const { headers } = await refused()
    expect(headers['ratelimit-policy']).toBe('"default";q=8;w=60')
    expect((await service.ask('GET', '/balance', { token })).status).toBe(429)
  })

  test('behavior: a refusal that has an effect counts: an unpaid order with its invoice', async () => {
    const { token } = await service.customer()
    const unpaid = (index: number) =>
      service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1, hostname: `web-${index}` } })
    let index = 0
    expect(await statusesOf(4, () => unpaid(index++))).toEqual([402, 402, 402, 429])
  })

  test('error: the database does not take the count back: the refusal is answered all the same', async () => {
    const { token } = await service.customer()
    const { db } = service.services
    await db.query(`create function refuse_back() returns trigger language plpgsql as $$
      begin if new.tokens > old.tokens then raise 'no'; end if; return new; end $$`)
    await db.query(
      'create trigger refuse_back before update on rate_bucket for each row execute function refuse_back()',
    )
    const refused = await service.ask('POST', '/orders', { token, body: { product: 'none', os_id: 1 } })
    await db.query('drop trigger refuse_back on rate_bucket')
    expect(refused).toMatchObject({ status: 422, headers: { ratelimit: '"orders";r=2;t=20' } })
  })

  test.each([
    ['counted in memory', 8, (token: string) => service.ask('GET', '/balance', { token })],
    ['counted in the database', 3, (token: string) => order(token)],
  ])('behavior: a clock set back by an hour locks out no one: %s', async (_where, limit, ask) => {
    const [active, exhausted] = [await service.customer(50_000_000n), await service.customer(50_000_000n)]
    await ask(active.token)
    await statusesOf(limit, () => ask(exhausted.token))
    service.clock.advance(-3_600_000)
    const before = { active: await ask(active.token), exhausted: await ask(exhausted.token) }
    service.clock.advance(60_000)
    const after = { active: await ask(active.token), exhausted: await ask(exhausted.token) }
    service.clock.advance(3_540_000)
    expect({ before: before.active.status, after: after.active.status }).toEqual({ before: 200, after: 200 })
    expect({ before: before.exhausted.status, after: after.exhausted.status }).toEqual({
      before: 429,
      after: 200,
    })
  })

  test('behavior: two top-ups in ten minutes, without those that were refused', async () => {
    const { token } = await service.customer()
    const topup = () => service.ask('POST', '/balance/topup', { token, body: { amount: 5 } })
    const first = await topup()
    expect(await statusesOf(3, topup)).toEqual([409, 409, 409])
    await service.ask('POST', `/invoices/${first.body.invoice.id}/cancel`, { token, body: {} })
    expect(await statusesOf(1, topup)).toEqual([200])
    expect(await statusesOf(1, topup)).toEqual([429])
  })

  test('behavior: registrations count by address, an IPv6 network as one', async () => {
    expect(await statusesOf(4, () => register('198.51.100.1'))).toEqual([200, 200, 200, 429])
    expect((await register('198.51.100.2')).status).toBe(200)
    let host = 0
    const neighbour = () => register(`2001:db8:7:7::${(++host).toString(16)}`)
    expect(await statusesOf(4, neighbour)).toEqual([200, 200, 200, 429])
    expect((await register('2001:db8:7:8::1')).status).toBe(200)
  })

  test('behavior: an IPv6 /48 may do ten times what an address may', async () => {
    let network = 0
    const other = () => register(`2001:db8:9:${(++network).toString(16)}::1`)
    expect(await statusesOf(31, other)).toEqual([...Array(30).fill(200), 429])
    expect((await register('2001:db8:a:1::1')).status).toBe(200)
    const guess = () =>
      service.ask('GET', '/balance', { token: 'guess', address: `2001:db8:9:${++network}::1` })
    expect(await statusesOf(41, guess)).toEqual([...Array(40).fill(401), 429])
  })

  test('behavior: all addresses together have a limit for logins, and one for registrations', async () => {
    const small = await startTestService({
      env: { COINRACK_RATE_REGISTER_TOTAL: '3/h', COINRACK_RATE_LOGIN_TOTAL: '2/10min' },
    })
    let host = 0
    const address = () => `198.51.100.${++host}`
    const join = () => {
      const body = { email: `total${host}@rackmail.net` }
      return small.ask('POST', '/auth/register', { body, address: address() })
    }
    const first = await join()
    expect(await statusesOf(3, join)).toEqual([200, 200, 429])
    const code = () =>
      small.ask('POST', '/auth/otp/request', { body: { email: `c${host}@rackmail.net` }, address: address() })
    expect(await statusesOf(3, code)).toEqual([200, 200, 429])
    // Callers who are logged in go on.
    const { token } = first.body
    const body = { password: 'correct horse battery' }
    expect((await small.ask('POST', '/auth/set-password', { token, body })).status).toBe(200)
    await small.close()
  })

  test('behavior: the address of X-Forwarded-For counts only through a trusted proxy', async () => {
    const from = (peer: string, client: string) => () => register(peer, { 'x-forwarded-for': client })
    // A stranger who writes the header gets nothing by it.
    let forged = 0
    const forging = () => from('198.51.100.9', `203.0.113.${++forged}`)()
    expect(await statusesOf(4, forging)).toEqual([200, 200, 200, 429])
    // Behind the proxy each client counts by itself,
    expect(await statusesOf(4, from('10.9.0.1', '203.0.113.50'))).toEqual([200, 200, 200, 429])
    expect(await statusesOf(1, from('10.9.0.1', '203.0.113.51'))).toEqual([200])
    // and by the last address that no trusted proxy wrote, whatever the client put before it.
    let chained = 0
    const chaining = () => from('10.9.0.1', `192.0.2.${++chained}, 203.0.113.60`)()
    expect(await statusesOf(4, chaining)).toEqual([200, 200, 200, 429])
  })

  test('behavior: guessing tokens is limited by address, a good one is not', async () => {
    const { token } = await service.customer()
    const guess = () => service.ask('GET', '/balance', { token: 'guess', address: '198.51.100.77' })
    expect(await statusesOf(5, guess)).toEqual([401, 401, 401, 401, 429])
    expect((await service.ask('GET', '/balance', { token, address: '198.51.100.77' })).status).toBe(200)
  })

  test('behavior: codes and logins share a limit by address', async () => {
    const address = '198.51.100.88'
    const body = { email: 'ada@rackmail.net' }
    const code = () => service.ask('POST', '/auth/otp/request', { body, address })
    const login = () => service.ask('POST', '/auth/login', { body: { ...body, password: 'x' }, address })
    expect([(await code()).status, (await login()).status, (await code()).status]).toEqual([200, 401, 429])
  })

  test('behavior: as a tool it counts the same, by the address of the client', async () => {
    const tool = (address: string) =>
      service.tool(
        'register_account',
        { email: `t${Math.random().toString(36).slice(2)}@rackmail.net` },
        { address },
      )
    for (let index = 0; index < 3; index++) expect((await tool('198.51.100.99')).isError).toBe(false)
    expect((await tool('198.51.100.99')).body.code).toBe('rate_limited')
    expect((await tool('198.51.100.98')).isError).toBe(false)
  })
})
