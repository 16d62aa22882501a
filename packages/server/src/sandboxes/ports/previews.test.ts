import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { runOperator } from '../../operator/run-operator.ts'
import { testOperator } from '../../operator/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { previewAddress, previewPath } from '../../transport/preview-address.ts'
import { sendAll } from '../../transport/testing.ts'
import { type Buyer, buyerOf } from '../life/testing.ts'

/*
 * The sandbox is fake: what listens on its port listens on this host.
 */

const DOMAIN = 'sandbox.rackmail.net'
let service: TestService
let buyer: Buyer
let origin: string
let id: string
let inside: Server
let port: number

beforeAll(async () => {
  const own = await freePort()
  origin = `http://127.0.0.1:${own}`
  service = await startTestService({
    env: { COINRACK_PUBLIC_URL: origin, COINRACK_SANDBOX_DOMAIN: DOMAIN },
  })
  await service.app.listen({ host: '127.0.0.1', port: own })
  buyer = await buyerOf(service)
  id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  inside = createServer(async (asked, answer) => {
    if (asked.url === '/full') return void answer.writeHead(413, { connection: 'keep-alive' }).end('too much')
    const body = (await Array.fromAsync(asked)).join('')
    if (asked.url === '/moved') return void answer.writeHead(302, { location: '/there' }).end()
    if (asked.url === '/hangs') return void answer.writeHead(200).write('begun')
    answer.setHeader('set-cookie', 'own=1')
    answer.end(JSON.stringify({ method: asked.method, url: asked.url, headers: asked.headers, body }))
  })
  new WebSocketServer({ server: inside }).on('connection', (client, asked) => {
    client.send(asked.url!)
    client.on('message', (data, isBinary) => client.send(data, { binary: isBinary }))
  })
  inside.listen(0, '127.0.0.1')
  await once(inside, 'listening')
  port = (inside.address() as AddressInfo).port
})
afterAll(async () => {
  inside.closeAllConnections()
  inside.close()
  await service.close()
})

const expose = async (body: object = {}) => (await buyer.post(`/sandboxes/${id}/ports/${port}`, body)).body
const pathUrl = (path = '/') => `${origin}/preview/${id}/${port}${path}`
const nameOf = () => `${port}-${id}.${DOMAIN}`

/** Sends a request as a visitor with the name: `fetch` does not let a Host header through. */
async function byName(
  path: string,
  headers: Record<string, string> = {},
): Promise<IncomingMessage & { text: string }> {
  const asked = request(`${origin}${path}`, { headers: { host: nameOf(), ...headers } }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return Object.assign(answer, { text: (await Array.fromAsync(answer)).join('') })
}

describe('expose_port', () => {
  test('default: a URL of its own, and one below the service', async () => {
    expect(await expose()).toMatchObject({
      port,
      access: 'public',
      url: `http://${nameOf()}:${new URL(origin).port}/`,
      path_url: pathUrl(),
      token: null,
    })
    expect((await buyer.ask('GET', `/sandboxes/${id}/ports`)).body).toMatchObject([{ port }])
  })

  test('behavior: its label is one of a host name', () => {
    expect(nameOf().split('.')[0]!.length).toBeLessThanOrEqual(63)
    expect(nameOf().split('.')[0]).toMatch(/^[0-9]+-[a-z0-9]+$/)
  })
})

describe('a public port', () => {
  beforeAll(() => expose())

  test('default: by its path, requests go in and answers come out', async () => {
    const answer = await fetch(pathUrl('/a/b?c=d'), {
      method: 'POST',
      body: 'hello',
      headers: { 'x-own': '1' },
    })
    expect(answer.status).toBe(200)
    const seen = await answer.json()
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/a/b?c=d',
      body: 'hello',
      headers: {
        'x-own': '1',
        'x-forwarded-prefix': `/preview/${id}/${port}`,
        'x-forwarded-for': '127.0.0.1',
      },
    })
  })

  test('behavior: who sends all of a large body before hearing anything hears what was answered early', async () => {
    const head = `POST ${new URL(pathUrl('/full')).pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`
    const heard = await sendAll(origin, `${head}content-length: 20000000\r\n\r\n`, Buffer.alloc(20_000_000))
    expect(heard).toMatch(/^HTTP\/1.1 413[\s\S]*too much/)
  })

  test('default: by its name, whatever the path', async () => {
    for (const path of ['/', '/healthz', '/api/v1/eqvps/products', `/preview/${id}/1/`, '/mcp']) {
      const answer = await byName(path)
      expect([answer.statusCode, JSON.parse(answer.text).url]).toEqual([200, path])
      expect(answer.headers['set-cookie']).toEqual(['own=1'])
    }
  })

  test('behavior: a page below the service is apart from it', async () => {
    const { headers } = await fetch(pathUrl())
    expect(headers.get('content-security-policy')).toMatch(/^sandbox /)
    expect(headers.get('content-security-policy')).not.toContain('allow-same-origin')
    expect(headers.get('set-cookie')).toBeNull()
    const moved = await fetch(pathUrl('/moved'), { redirect: 'manual' })
    expect(moved.headers.get('location')).toBe(`/preview/${id}/${port}/there`)
  })

  test("behavior: somebody's token of the service stays outside", async () => {
    const seen = await (
      await fetch(pathUrl(), { headers: { authorization: `Bearer ${buyer.token}` } })
    ).json()
    expect(seen.headers.authorization).toBeUndefined()
    const other = await (await fetch(pathUrl(), { headers: { authorization: 'Basic eA==' } })).json()
    expect(other.headers.authorization).toBe('Basic eA==')
  })

  test('behavior: who offers HTTP/2 by Upgrade is answered as if it had not, here and in the sandbox', async () => {
    const offer = 'connection: close, Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n'
    expect(await sendAll(origin, `GET /healthz HTTP/1.1\r\nhost: x\r\n${offer}\r\n`)).toMatch(
      /^HTTP\/1.1 200 [\s\S]*"ok"/,
    )
    const there = new URL(pathUrl('/posted')).pathname
    const head = `POST ${there} HTTP/1.1\r\nhost: x\r\n${offer}content-length: 5\r\n\r\nhello`
    expect(await sendAll(origin, head)).toMatch(/^HTTP\/1.1 200 [\s\S]*"body":"hello"/)
  })

  test.each([
    ['by its path', () => new WebSocket(`${pathUrl('/ws?x=1')}`.replace('http', 'ws'))],
    [
      'by its name',
      () => new WebSocket(`${origin}/ws?x=1`.replace('http', 'ws'), { headers: { host: nameOf() } }),
    ],
  ])('default: a WebSocket %s', async (_way, open) => {
    const client = open()
    const [first] = await once(client, 'message')
    expect(String(first)).toBe('/ws?x=1')
    for (const size of [1, 200_000]) {
      client.send(Buffer.alloc(size, 7))
      const [echo] = await once(client, 'message')
      expect(Buffer.alloc(size, 7).equals(echo)).toBe(true)
    }
    client.close()
    await once(client, 'close')
  })

  test('behavior: what is open is cut when the port is closed, and not when it is not', async () => {
    const client = new WebSocket(pathUrl('/ws').replace('http', 'ws'))
    await once(client, 'message')
    const hanging = await fetch(pathUrl('/hangs'))
    await buyer.post(`/sandboxes/${id}/timeout`, { timeout: 86_400 })
    await sleep(200)
    expect(client.readyState).toBe(WebSocket.OPEN)
    const closed = once(client, 'close')
    const broken = hanging.text().catch(() => 'broken')
    await buyer.ask('DELETE', `/sandboxes/${id}/ports/${port}`)
    await closed
    expect(await broken).toBe('broken')
    expect(await (await fetch(pathUrl())).json()).toMatchObject({ code: 'preview_closed' })
    await expose()
  })
})

describe('a port that the operator takes off', () => {
  const operate = async (...words: string[]) => {
    const { exitCode, stdout, stderr } = await runOperator(testOperator(service.services), words)
    return { exitCode, said: stdout || stderr }
  }
  const codeNow = async () => (await (await fetch(pathUrl())).json()).code
  beforeAll(() => expose())

  const ways: [string, () => string[], () => string[]][] = [
    [
      'by its path',
      () => ['preview', 'block', pathUrl('/x?y'), '--reason', 'Phishing'],
      () => ['preview', 'unblock', pathUrl()],
    ],
    [
      'by its name',
      () => ['preview', 'block', `https://${nameOf()}/login`, '--reason', 'Phishing'],
      () => ['preview', 'unblock', nameOf()],
    ],
    [
      'with the account',
      () => ['account', 'suspend', buyer.accountId],
      () => ['account', 'unsuspend', buyer.accountId],
    ],
  ]
  test.each(ways)('behavior: %s: what is open is cut, and nobody gets in', async (_way, off, on) => {
    const client = new WebSocket(pathUrl('/ws').replace('http', 'ws'))
    await once(client, 'message')
    const closed = once(client, 'close')
    const hanging = await fetch(pathUrl('/hangs'))
    const broken = hanging.text().catch(() => 'broken')
    expect(await operate(...off())).toMatchObject({ exitCode: 0 })
    await closed
    expect(await broken).toBe('broken')
    expect(await codeNow()).toBe('preview_closed')
    expect((await byName('/')).statusCode).toBe(404)
    expect(await operate(...on())).toMatchObject({ exitCode: 0 })
    expect(await codeNow()).toBeUndefined()
  })

  test('error: its owner reads why, and cannot expose it again', async () => {
    await operate('preview', 'block', nameOf(), '--reason', 'Phishing')
    expect((await buyer.ask('GET', `/sandboxes/${id}/ports`)).body).toMatchObject([
      { port, blocked: 'Phishing' },
    ])
    await buyer.ask('DELETE', `/sandboxes/${id}/ports/${port}`)
    const again = await expose()
    expect([again.code, again.message]).toEqual(['preview_blocked', expect.stringContaining('Phishing')])
    await operate('preview', 'unblock', nameOf())
    expect(await expose()).toMatchObject({ blocked: null })
  })

  test.each([
    [['block', 'https://rackmail.net/', '--reason', 'x'], /not the URL of a preview/],
    [['block', `8000-sbx${'0'.repeat(26)}`, '--reason', 'x'], /There is no sandbox/],
    [['block', `8000-sbx${'0'.repeat(26)}`], /--reason has 1 to 200/],
    [['unblock', `8000-sbx${'0'.repeat(26)}`], /There is no sandbox/],
  ])('error: preview %j', async (words, message) => {
    expect(await operate('preview', ...words)).toEqual({ exitCode: 1, said: expect.stringMatching(message) })
  })
})

describe('a port with a token', () => {
  let token: string
  beforeAll(async () => {
    ;({ token } = await expose({ access: 'token' }))
  })

  test('error: without it, or with another one', async () => {
    for (const headers of [{}, { 'x-preview-token': 'x'.repeat(32) }] as Record<string, string>[]) {
      const answer = await fetch(pathUrl(), { headers })
      expect([answer.status, (await answer.json()).code]).toEqual([401, 'preview_token_missing'])
    }
    const client = new WebSocket(pathUrl('/ws').replace('http', 'ws'))
    const [error] = await once(client, 'error')
    expect(error.message).toContain('401')
  })

  test('default: as a header, which stays outside', async () => {
    const seen = await (await fetch(pathUrl(), { headers: { 'x-preview-token': token } })).json()
    expect(seen.headers['x-preview-token']).toBeUndefined()
  })

  test('default: once in the address, then as a cookie', async () => {
    const first = await byName(`/page?a=1&preview_token=${token}`)
    expect([first.statusCode, first.headers.location]).toEqual([302, '/page?a=1'])
    const [cookie] = first.headers['set-cookie']!
    expect(cookie).toMatch(/HttpOnly/)
    const second = await byName('/page?a=1', { cookie: `${cookie!.split(';')[0]}; own=2` })
    expect(second.statusCode).toBe(200)
    expect(JSON.parse(second.text).headers.cookie).toBe('own=2')
  })

  test('behavior: exposed anew, it is another one', async () => {
    await buyer.ask('DELETE', `/sandboxes/${id}/ports/${port}`)
    const again = await expose({ access: 'token' })
    expect(again.token).not.toBe(token)
    expect((await fetch(pathUrl(), { headers: { 'x-preview-token': token } })).status).toBe(401)
  })
})

test('error: nothing listens, nothing is exposed, nothing runs', async () => {
  const silent = await freePort()
  await buyer.post(`/sandboxes/${id}/ports/${silent}`)
  const refused = await fetch(`${origin}/preview/${id}/${silent}/`)
  expect([refused.status, (await refused.json()).code]).toEqual([502, 'port_refused'])
  const closed = await fetch(`${origin}/preview/${id}/1/`)
  expect([closed.status, (await closed.json()).code]).toEqual([404, 'preview_closed'])
  await buyer.post(`/sandboxes/${id}/pause`)
  const paused = await fetch(`${origin}/preview/${id}/${silent}/`)
  expect([paused.status, (await paused.json()).code]).toEqual([409, 'sandbox_not_running'])
})

test.each([
  ['8000-sbx01kabcdefghjkmnpqrstvwxyz0.sandbox.rackmail.net:8080', '/x', true],
  ['8000-SBX01kabcdefghjkmnpqrstvwxyz0.Sandbox.Rackmail.Net', '/x', true],
  ['sandbox.rackmail.net', '/x', false],
  ['8000-sbx01kabcdefghjkmnpqrstvwxyz0.evilsandbox.rackmail.net', '/x', false],
  ['8000-sbx01kabcdefghjkmnpqrstvwxyz0.sandbox.rackmail.net.evil.net', '/x', false],
  ['a.8000-sbx01kabcdefghjkmnpqrstvwxyz0.sandbox.rackmail.net', '/x', false],
  ['rackmail.net', '/preview/sbx01kabcdefghjkmnpqrstvwxyz0/8000/x', true],
  ['rackmail.net', '/preview/../healthz', false],
])('default: whether %s%s is a preview', (host, url, isOne) => {
  const asked = { headers: { host }, url }
  const address = previewAddress({ sandboxDomain: DOMAIN }, asked)
  expect(address !== undefined).toBe(isOne)
  if (isOne) expect(address).toMatchObject({ port: 8000, path: '/x' })
  if (url === '/x') expect(previewPath({ sandboxDomain: DOMAIN }, asked) !== undefined).toBe(isOne)
})
