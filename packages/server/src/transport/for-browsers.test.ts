import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { basePath, operationList } from '@coinrack/contract/index.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'
import { EXPOSED_HEADERS } from './for-browsers.ts'

let service: TestService
let token: string
beforeAll(async () => {
  service = await startTestService()
  token = (await service.customer(50_000_000n)).token
})
afterAll(() => service.close())

const origin = 'https://page.rackmail.net'
const get = (url: string, headers: Record<string, string> = {}) =>
  service.app.inject({
    method: 'GET',
    url,
    headers: { authorization: `Bearer ${token}`, origin, ...headers },
  })
const preflight = (url: string, method = 'POST') =>
  service.app.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    },
  })

describe('pages of other origins', () => {
  test('default: may ask, and read what matters of the answer, without cookies', async () => {
    const allowed = await preflight(`${basePath}/orders`)
    expect(allowed.statusCode).toBe(204)
    expect(allowed.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('PATCH'),
      'access-control-allow-headers': expect.stringContaining('Idempotency-Key'),
      'access-control-max-age': '86400',
    })
    const answer = await get(`${basePath}/balance`)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
    })
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
  })

  test.each([
    ['a token that is not valid', `${basePath}/balance`, 401, 'crk_no'],
    ['a path without a route', `${basePath}/nothing`, 404, undefined],
    ['a method that is not served', `${basePath}/orders`, 405, undefined],
    ['a token for files', `${basePath}/sandboxes/sbx1/files/content?path=a`, 401, 'crk_no'],
    ['a link to a file', '/sandbox-files/sbx1?path=a', 403, undefined],
  ])('error: a refusal can be read: %s', async (_what, url, status, other) => {
    const answer = await get(url, other ? { authorization: `Bearer ${other}` } : {})
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.json().code).toEqual(expect.any(String))
  })

  test('behavior: checkout, console, previews and the agent endpoint stay closed to them', async () => {
    for (const url of ['/checkout/x', '/console/x', '/preview/x/', '/mcp', '/docs', '/healthz']) {
      expect((await preflight(url)).headers['access-control-allow-origin'], url).toBeUndefined()
      expect((await get(url)).headers['access-control-allow-origin'], url).toBeUndefined()
    }
  })

  test('behavior: every operation answers a preflight', async () => {
    for (const [, { method, path }] of operationList)
      expect((await preflight(basePath + path.replace(/{\w+}/g, 'x'), method)).statusCode, path).toBe(204)
  })
})

describe('reads that are repeated', () => {
  test.each(['/products', '/balance', '/account', '/services', '/openapi.json'])(
    'default: %s is 304 for who has the same, and anew when it has changed',
    async (path) => {
      const first = await get(basePath + path)
      expect(first.statusCode).toBe(200)
      expect(first.headers.etag).toMatch(/^W\/"/)
      expect(first.headers['cache-control']).toMatch(/no-cache$/)
      const again = await get(basePath + path, { 'if-none-match': first.headers.etag as string })
      expect([again.statusCode, again.body]).toEqual([304, ''])
      expect((await get(basePath + path, { 'if-none-match': 'W/"other"' })).statusCode).toBe(200)
    },
  )

  test('behavior: a VPS is 304 until it changes, and the answer with its password is never kept', async () => {
    const order = await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
    const url = `${basePath}/services/${order.body.service_id}`
    const before = await get(url)
    expect(before.headers['cache-control']).toBe('private, no-cache')
    const unchanged = await get(url, { 'if-none-match': before.headers.etag as string })
    expect(unchanged.statusCode).toBe(304)
    await service.reconcile()
    const shown = await get(url, {
      'if-none-match': before.headers.etag as string,
      'accept-encoding': 'gzip',
    })
    expect(shown.json().root_password).toEqual(expect.any(String))
    expect(shown.headers).toMatchObject({ 'cache-control': 'no-store' })
    expect([shown.headers.etag, shown.headers['content-encoding']]).toEqual([undefined, undefined])
    expect((await get(url)).headers['cache-control']).toBe('private, no-cache')
  })

  test('behavior: errors and writes have no ETag and are not kept', async () => {
    const refused = await get(`${basePath}/services/vps_no`)
    const written = await service.ask('PATCH', '/account', { token, body: { first_name: 'Ada' } })
    for (const { headers } of [refused, written])
      expect([headers.etag, headers['cache-control']]).toEqual([
        undefined,
        expect.not.stringContaining('no-cache'),
      ])
    expect(written.headers['cache-control']).toBe('no-store')
  })

  test('behavior: large reads are compressed for who takes that; streams and writes never', async () => {
    const plain = await get(`${basePath}/openapi.json`)
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const encoding of ['br', 'gzip'] as const) {
      const packed = await get(`${basePath}/openapi.json`, { 'accept-encoding': encoding })
      expect(packed.headers).toMatchObject({ 'content-encoding': encoding, etag: plain.headers.etag })
      expect(packed.headers.vary).toContain('accept-encoding')
      expect(packed.rawPayload.length * 5).toBeLessThan(plain.rawPayload.length)
      expect(unpack[encoding](packed.rawPayload).toString()).toBe(plain.body)
    }
    const registered = await service.ask('POST', '/auth/register', {
      body: { email: 'squeezed@rackmail.net', first_name: 'a'.repeat(100), last_name: 'b'.repeat(100) },
      headers: { 'accept-encoding': 'gzip, br' },
    })
    expect(registered.status).toBe(200)
    expect(registered.headers['content-encoding']).toBeUndefined()
  })
})

test('behavior: what makes something says where it is read', async () => {
  const sandbox = await service.ask('POST', '/sandboxes', { token, body: {} })
  const made = {
    '/orders': await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } }),
    '/balance/topup': await service.ask('POST', '/balance/topup', { token, body: { amount: 5 } }),
    '/sandboxes': sandbox,
    '/tickets': await service.ask('POST', '/tickets', { token, body: { subject: 'Hello', body: 'There' } }),
    '/auth/register': await service.ask('POST', '/auth/register', {
      body: { email: 'located@rackmail.net' },
      address: '10.99.0.1',
    }),
  }
  for (const [path, { status, headers }] of Object.entries(made)) {
    expect(status, path).toBe(200)
    expect((await get(headers.location as string)).statusCode, path).toBe(200)
  }
  const quoted = await service.ask('POST', '/orders', {
    token,
    body: { product: 'nano', os_id: 1, dry_run: true },
  })
  expect([quoted.status, quoted.headers.location]).toEqual([200, undefined])
})
