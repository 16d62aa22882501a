import { once } from 'node:events'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startTestService, type TestService } from '../../process/testing.ts'

let service: TestService
let token: string
let id: string
let origin: string
beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  service = await startTestService({
    features: ['serialConsole', 'screen'],
    env: { COINRACK_PUBLIC_URL: origin, COINRACK_RATE_CONSOLE: '1000/min' },
  })
  await service.app.listen({ host: '127.0.0.1', port })
  token = (await service.customer(100_000_000n)).token
  id = await order()
})
afterAll(() => service.close())

async function order(hostname = 'web'): Promise<string> {
  const body = { product: 'nano', os_id: 1, hostname }
  const answer = await service.ask('POST', '/orders', { token, body })
  await service.reconcile()
  return answer.body.service_id
}
const open = (type = 'serial', service_id = id) =>
  service.ask('POST', `/services/${service_id}/console`, { token, body: { type } })

/** Connects, and tells what came of it: a socket, or the status of the refusal. */
async function connect(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url, { headers })
  let said = ''
  let closed: string | undefined
  socket.on('message', (data) => {
    said += data
  })
  socket.on('close', (_code, reason) => {
    closed = reason.toString()
  })
  const status = await new Promise<number>((resolve) => {
    socket.once('open', () => resolve(101))
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
    socket.once('error', () => {})
  })
  return { socket, status, said: () => said, closed: () => closed }
}
const until = async (reached: () => boolean) => {
  while (!reached()) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('default: what is typed reaches the serial line, and its answer comes back', async () => {
  const { status, body } = await open()
  expect(status).toBe(200)
  expect(body).toMatchObject({ type: 'serial', expires_at: '2026-01-31T12:10:00.000Z' })
  expect(body.url).toMatch(new RegExp(`^${origin}/console/[\\w-]{32}$`))
  expect(body.websocket_url).toBe(`${body.url.replace('http', 'ws')}/socket`)
  const { socket, said } = await connect(body.websocket_url)
  socket.send('\r')
  await until(() => said().includes('login: '))
  socket.close()
  await until(() => service.console.open().length === 0)
})

test('default: the screen greets', async () => {
  const { body } = await open('vnc')
  const { socket, said } = await connect(body.websocket_url, { origin })
  await until(() => said() === 'RFB 003.008\n')
  socket.close()
})

test('behavior: a link opens one connection, of any number at the same moment', async () => {
  const { body } = await open()
  const all = await Promise.all(Array.from({ length: 8 }, () => connect(body.websocket_url)))
  expect(all.map(({ status }) => status).sort()).toEqual([101, ...Array(7).fill(404)])
  for (const { socket } of all) socket.terminate()
})

test('behavior: the page can be looked at as often as wanted until the link is used', async () => {
  const { body } = await open()
  for (let look = 0; look < 2; look++) {
    const page = await fetch(body.url)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /)
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(await page.text()).toContain(body.websocket_url)
  }
  const { socket } = await connect(body.websocket_url)
  const spent = await fetch(body.url)
  expect(spent.status).toBe(404)
  expect(await spent.text()).toContain('This link opens no console')
  socket.terminate()
})

test('behavior: everything that the pages name comes from here', async () => {
  for (const type of ['serial', 'vnc']) {
    const page = await (await fetch((await open(type)).body.url)).text()
    const named = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1]!)
    expect(named.length).toBeGreaterThan(4)
    for (const path of named) expect([path, (await fetch(origin + path)).status]).toEqual([path, 200])
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//)
  }
})

test('error: a page of another origin is refused, and the link is not used by it', async () => {
  const { body } = await open()
  for (const other of ['https://evil.example.net', 'null', origin.replace('127.0.0.1', 'localhost')])
    expect((await connect(body.websocket_url, { origin: other })).status).toBe(403)
  const { socket, status } = await connect(body.websocket_url, { origin })
  expect(status).toBe(101)
  socket.terminate()
})

test('error: no such link, and no such path', async () => {
  const socketUrl = origin.replace('http', 'ws')
  for (const path of ['/console/AAAA/socket', '/console//socket', '/nowhere', '/console/AAAA'])
    expect((await connect(socketUrl + path)).status).toBe(404)
})

test('error: a link that is ten minutes old', async () => {
  const { body } = await open()
  service.clock.advance(10 * 60_000)
  expect((await fetch(body.url)).status).toBe(404)
  expect((await connect(body.websocket_url)).status).toBe(404)
})

test('behavior: a connection that nobody types into for ten minutes is closed', async () => {
  const { socket, closed } = await connect((await open()).body.websocket_url)
  service.clock.advance(9 * 60_000)
  socket.send('\r')
  await once(socket, 'message')
  service.clock.advance(9 * 60_000)
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect(closed()).toBeUndefined()
  service.clock.advance(60_000)
  await until(() => closed() !== undefined)
  expect(closed()).toBe('Nothing was typed for ten minutes')
})

test('behavior: a new connection to a serial line takes it over', async () => {
  const first = await connect((await open()).body.websocket_url)
  const second = await connect((await open()).body.websocket_url)
  await until(() => first.closed() !== undefined)
  expect(first.closed()).toBe('The VPS hung up')
  second.socket.send('\r')
  await until(() => second.said().includes('login: '))
  second.socket.terminate()
})

test('behavior: a cancel closes what is open, and spends what is not', async () => {
  const other = await order('gone')
  const { closed } = await connect((await open('serial', other)).body.websocket_url)
  const unused = (await open('serial', other)).body
  const cancel = { mode: 'immediate', confirm: 'gone' }
  await service.ask('POST', `/services/${other}/cancel`, { token, body: cancel })
  await until(() => closed() !== undefined)
  expect((await fetch(unused.url)).status).toBe(404)
  expect((await connect(unused.websocket_url)).status).toBe(404)
})

test('behavior: of a suspended account what is open is closed', async () => {
  const { closed } = await connect((await open()).body.websocket_url)
  const suspend = (at: Date | null) =>
    service.services.db.query(
      'update account set suspended_at = $2 from vps where vps.account_id = account.id and vps.id = $1',
      [id, at],
    )
  await suspend(service.clock.now())
  await until(() => closed() !== undefined)
  await suspend(null)
})

test('behavior: with the token that opened it, it ends: what is open and what is not', async () => {
  const child = (await service.ask('POST', '/tokens', { token, body: { scopes: ['manage'] } })).body
  const openAs = async (by: string) =>
    (await service.ask('POST', `/services/${id}/console`, { token: by, body: { type: 'serial' } })).body
  const unused = await openAs(child.token)
  const { closed } = await connect((await openAs(child.token)).websocket_url)
  await service.ask('DELETE', `/tokens/${child.details.id}`, { token })
  await until(() => closed() !== undefined)
  expect((await connect(unused.websocket_url)).status).toBe(404)
  expect((await connect((await openAs(token)).websocket_url)).status).toBe(101)
})

test('error: a machine that does not run has no console', async () => {
  const other = await order('stopped')
  await service.ask('POST', `/services/${other}/power`, { token, body: { action: 'stop' } })
  const { status, body } = await open('serial', other)
  expect([status, body.code]).toEqual([409, 'service_busy'])
})

test('behavior: the database does not know the secret', async () => {
  const { body } = await open()
  const secret = body.url.split('/').at(-1)
  const { rows } = await service.services.db.query('select console_link::text as text from console_link')
  expect(rows.some(({ text }) => text.includes(secret))).toBe(false)
})
