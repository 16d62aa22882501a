import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inTransaction } from '../../database/transaction.ts'
import { recordEvent } from '../../platform/record-event.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { numberEvents } from '../number-events.ts'
import { createWebhookSender } from './deliver-webhooks.ts'
import { MOST_ATTEMPTS } from './retry-pause.ts'

interface Received {
  headers: IncomingHttpHeaders
  body: string
  path: string
}

let service: TestService
let receiver: Server
let port: number
/** The requests that the receiver got, and how it answers. */
let got: Received[]
let answer: (response: ServerResponse) => void
/** Names of the test, as an attacker's DNS would answer, one look-up after the other. */
const names = new Map<string, string[][]>()
const HOUR_MS = 3_600_000

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    got.push({ headers: request.headers, body, path: request.url! })
    answer(response)
  })
  // Any loopback address reaches it; only one of them is allowed.
  await new Promise<void>((resolve) => receiver.listen(0, '0.0.0.0', resolve))
  port = (receiver.address() as AddressInfo).port
  service = await startTestService({
    env: { COINRACK_RATE_REGISTER: '1000/min', COINRACK_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' },
    lookup: async (host) => names.get(host)?.shift() ?? [],
  })
})
afterAll(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await service.close()
})
beforeEach(() => {
  got = []
  answer = (response) => response.writeHead(204).end()
})

const sender = () => createWebhookSender(service.services, { timeoutMs: 300 })
async function send() {
  await numberEvents(service.services)
  const one = sender()
  await one.pass()
  await one.idle()
}
async function hooked(url = `http://127.0.0.1:${port}/hook?a=1`, types?: string[]) {
  const { token, accountId } = await service.customer()
  const { status, body } = await service.ask('POST', '/webhooks', { token, body: { url, types } })
  expect(status).toBe(200)
  const { id } = body.webhook
  return {
    token,
    accountId,
    id: id as string,
    secret: body.secret as string,
    happen: () =>
      inTransaction(service.services.db, (tx) =>
        recordEvent(tx, service.services, accountId, 'invoice.paid', {
          invoice_id: 'inv_0',
          amount: 5_000_000n,
        }),
      ),
    deliveries: async () => (await service.ask('GET', `/webhooks/${id}/deliveries`, { token })).body,
  }
}

/** As the standard says it, apart from our own code: HMAC-SHA256 of `id.timestamp.body` by the decoded secret. */
function verify(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(expected)
}

describe('sending', () => {
  test('default: an event is posted once, signed, as it stands in the list', async () => {
    const hook = await hooked()
    await hook.happen()
    await send()
    await send()
    expect(got).toHaveLength(1)
    const [event] = (await service.ask('GET', '/events', { token: hook.token })).body
    expect(JSON.parse(got[0]!.body)).toEqual(event)
    expect(got[0]!.path).toBe('/hook?a=1')
    expect(got[0]!.headers).toMatchObject({
      'webhook-id': event.id,
      'webhook-timestamp': String(service.clock.now().getTime() / 1000),
      'content-type': 'application/json',
      host: `127.0.0.1:${port}`,
    })
    expect(verify(hook.secret, got[0]!)).toBe(true)
    expect(verify(`whsec_${Buffer.alloc(32).toString('base64')}`, got[0]!)).toBe(false)
    expect(verify(hook.secret, { ...got[0]!, body: `${got[0]!.body} ` })).toBe(false)
    expect(await hook.deliveries()).toMatchObject([{ status: 'delivered', attempts: 1, last_status: 204 }])
  })

  test('behavior: the secret is shown once and lies sealed', async () => {
    const hook = await hooked()
    expect(hook.secret).toMatch(/^whsec_[\w+/]{43}=$/)
    const { body } = await service.ask('GET', '/webhooks', { token: hook.token })
    expect(JSON.stringify(body)).not.toContain('whsec_')
    const { rows } = await service.services.db.query('select secret from webhook where id = $1', [hook.id])
    expect(rows[0].secret.toString('latin1')).not.toContain(hook.secret.slice(6))
  })

  test('behavior: only types that it wants; a test event comes whatever they are, to it alone', async () => {
    const hook = await hooked(undefined, ['vps.ssh_ready'])
    const other = await service.ask('POST', '/webhooks', {
      token: hook.token,
      body: { url: `http://127.0.0.1:${port}/other` },
    })
    await hook.happen()
    await send()
    expect(got.map(({ path }) => path)).toEqual(['/other'])
    await service.ask('POST', `/webhooks/${hook.id}/test`, { token: hook.token })
    await send()
    expect(got.slice(1).map(({ path, body }) => [path, JSON.parse(body).data])).toEqual([
      ['/hook?a=1', { webhook_id: hook.id }],
    ])
    expect(other.status).toBe(200)
  })

  test('behavior: two senders at once send nothing twice', async () => {
    const hook = await hooked()
    for (let n = 0; n < 4; n++) await hook.happen()
    await numberEvents(service.services)
    const both = [sender(), sender()]
    await Promise.all(both.map((one) => one.pass()))
    await Promise.all(both.map((one) => one.idle()))
    const ids = got.map(({ headers }) => headers['webhook-id'])
    expect(ids).toHaveLength(4)
    expect(new Set(ids).size).toBe(4)
  })

  test('behavior: one that was killed while it sent is taken over when its time is up', async () => {
    const hook = await hooked()
    await hook.happen()
    await numberEvents(service.services)
    const { db, clock } = service.services
    await db.query(
      `update webhook_delivery set leased = true, attempts = 1, next_at = $2 where webhook_id = $1`,
      [hook.id, new Date(clock.now().getTime() + 60_000)],
    )
    await send()
    expect(got).toEqual([])
    service.clock.advance(60_000)
    await send()
    expect(got).toHaveLength(1)
    expect(await hook.deliveries()).toMatchObject([{ status: 'delivered', attempts: 2 }])
  })
})

describe('failures', () => {
  test('behavior: repeated with growing pauses and the same id, then dead; replayed on demand', async () => {
    const hook = await hooked()
    await hook.happen()
    answer = (response) => response.writeHead(500).end('no')
    for (let n = 0; n < MOST_ATTEMPTS + 2; n++) {
      await send()
      service.clock.advance(18 * HOUR_MS)
    }
    expect(got).toHaveLength(MOST_ATTEMPTS)
    expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(new Set(got.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(MOST_ATTEMPTS)
    const dead = { status: 'dead', last_status: 500, last_error: 'The answer was 500', next_attempt_at: null }
    expect(await hook.deliveries()).toMatchObject([{ ...dead, attempts: MOST_ATTEMPTS }])

    answer = (response) => response.writeHead(200).end()
    const replay = await service.ask('POST', `/webhooks/${hook.id}/replay`, { token: hook.token })
    expect(replay.body.replayed).toBe(1)
    await send()
    expect(got).toHaveLength(MOST_ATTEMPTS + 1)
    expect(await hook.deliveries()).toMatchObject([{ status: 'delivered', attempts: 1 }])
  })

  test('behavior: it is not tried again before its time', async () => {
    const hook = await hooked()
    await hook.happen()
    answer = (response) => response.writeHead(503).end()
    await send()
    service.clock.advance(3_999)
    await send()
    expect(got).toHaveLength(1)
    service.clock.advance(2_001)
    await send()
    expect(got).toHaveLength(2)
  })

  test('behavior: one that hangs is given up in time, and holds up nobody', async () => {
    const hook = await hooked()
    await hook.happen()
    answer = () => {}
    const begun = performance.now()
    await send()
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(await hook.deliveries()).toMatchObject([
      { status: 'pending', attempts: 1, last_error: 'No answer within 0.3 s' },
    ])
  })

  test('behavior: an answer without end is cut off', async () => {
    const hook = await hooked()
    await hook.happen()
    answer = (response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
    await send()
    expect(await hook.deliveries()).toMatchObject([{ status: 'delivered' }])
  })

  test('behavior: a redirect is not followed', async () => {
    const hook = await hooked()
    await hook.happen()
    answer = (response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/elsewhere` }).end()
    await send()
    expect(got.map(({ path }) => path)).toEqual(['/hook?a=1'])
    expect(await hook.deliveries()).toMatchObject([{ status: 'pending', last_status: 302 }])
  })

  test('behavior: who answers 410 is asked no more', async () => {
    const hook = await hooked()
    await hook.happen()
    answer = (response) => response.writeHead(410).end()
    await send()
    await hook.happen()
    await send()
    expect(got).toHaveLength(1)
    expect((await hook.deliveries())[0].status).toBe('dead')
    expect((await service.ask('GET', '/webhooks', { token: hook.token })).body[0].enabled).toBe(false)
  })

  test('behavior: nothing is sent after it was deleted', async () => {
    const hook = await hooked()
    await hook.happen()
    await numberEvents(service.services)
    expect((await service.ask('DELETE', `/webhooks/${hook.id}`, { token: hook.token })).status).toBe(200)
    await hook.happen()
    await send()
    expect(got).toEqual([])
    expect((await service.ask('DELETE', `/webhooks/${hook.id}`, { token: hook.token })).status).toBe(404)
  })
})

describe('where it may lead', () => {
  test('behavior: a name is looked up once, and the connection goes to what was judged', async () => {
    // The second answer of a rebinding name is never asked for.
    names.set('rebind.rackmail.net', [['127.0.0.1'], ['127.0.0.2']])
    const hook = await hooked(`http://rebind.rackmail.net:${port}/`)
    await hook.happen()
    await send()
    expect(got.map(({ headers }) => headers.host)).toEqual([`rebind.rackmail.net:${port}`])
    expect(names.get('rebind.rackmail.net')).toEqual([['127.0.0.2']])
    service.clock.advance(1)
    await hook.happen()
    await send()
    expect(got).toHaveLength(1)
    expect((await hook.deliveries())[0]).toMatchObject({
      last_status: null,
      last_error: 'The URL must point to a public address',
    })
  })

  test.each([
    ['one of its addresses is private', [['127.0.0.1', '10.0.0.1']]],
    ['metadata of a cloud', [['169.254.169.254']]],
    ['loopback in other words', [['::ffff:127.0.0.2']]],
    ['it has no address', [[]]],
  ])('error: a name, and %s', async (_what, answers) => {
    names.set('inner.rackmail.net', answers)
    const hook = await hooked(`http://inner.rackmail.net:${port}/`)
    await hook.happen()
    await send()
    expect(got).toEqual([])
    expect(await hook.deliveries()).toMatchObject([{ status: 'pending', attempts: 1, last_status: null }])
  })

  test.each([
    'http://127.0.0.2/',
    'http://2130706434/',
    'http://0x7f.2/',
    'http://[::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://user:password@8.8.8.8/',
    'ftp://rackmail.net/',
    'no url',
  ])('error: %s is refused at once', async (url) => {
    const { token } = await service.customer()
    const { body } = await service.ask('POST', '/webhooks', { token, body: { url } })
    expect(body.code).toBe('webhook_url_refused')
  })

  test('error: an eleventh webhook', async () => {
    const { token } = await service.customer()
    const make = () => service.ask('POST', '/webhooks', { token, body: { url: 'https://rackmail.net/' } })
    const codes = (await Promise.all(Array.from({ length: 12 }, make))).map(({ body }) => body.code)
    expect(codes.filter((code) => code === 'webhook_limit')).toHaveLength(2)
  })
})
