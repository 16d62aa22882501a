import { basePath } from '@coinrack/contract/index.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { previewPath } from '../../transport/preview-address.ts'
import { type Buyer, buyerOf } from '../life/testing.ts'

/*
 * The rules of the surface for E2B's clients. What the clients themselves make of it is in test/e2b.test.ts.
 */

const ORIGIN = 'https://vps.rackmail.net'
const DOMAIN = 'sandbox.rackmail.net'
let service: TestService
let buyer: Buyer
let key: string
let keyId: string

beforeAll(async () => {
  service = await startTestService({
    env: {
      COINRACK_PUBLIC_URL: ORIGIN,
      COINRACK_SANDBOX_DOMAIN: DOMAIN,
      COINRACK_RATE_SANDBOXES: '1000/60s',
    },
  })
  buyer = await buyerOf(service)
  ;({ key, keyId } = await newKey())
})
afterAll(() => service.close())

async function newKey(body: object = {}, by = buyer) {
  const answer = await by.post('/tokens', { format: 'e2b', ...body })
  return { key: answer.body.token as string, keyId: answer.body.details.id as string, ...answer.body }
}

interface Sent {
  headers?: Record<string, string>
  body?: unknown
}

/** Sends a request as a client does that was led to the address. */
async function send(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  { headers = {}, body }: Sent = {},
) {
  const isBytes = Buffer.isBuffer(body)
  const answer = await service.app.inject({
    method,
    url: headers.host ? path : `/e2b${path}`,
    headers: {
      'x-api-key': key,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { payload: isBytes ? body : JSON.stringify(body) }),
  })
  const { statusCode: status, headers: said } = answer
  const text = answer.body
  const isJson = String(said['content-type']).startsWith('application/json')
  return { status, headers: said, text, body: isJson ? JSON.parse(text) : undefined }
}

const create = async (body: object = {}, headers = {}) =>
  (await send('POST', '/v2/sandboxes', { body: { templateID: 'base', ...body }, headers })).body

const insideOf = ({ sandboxID, envdAccessToken }: Record<string, string>) => ({
  'e2b-sandbox-id': sandboxID!,
  'x-access-token': envdAccessToken!,
})

/** A request of a stream, as Connect frames it; and the messages of the answer. */
function framed(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(text.length, 1)
  return Buffer.concat([head, text])
}
function messagesIn(text: string): Record<string, unknown>[] {
  return [...text.matchAll(/\{.*?\}(?=[\0\x02]|$)/gs)].map(([each]) => JSON.parse(each))
}
const start = (headers: Record<string, string>, command = 'echo hello') =>
  send('POST', '/process.Process/Start', {
    headers: { ...headers, 'content-type': 'application/connect+json' },
    body: framed({ process: { cmd: '/bin/bash', args: ['-c', command] }, stdin: false }),
  })

describe('keys', () => {
  test('default: a child token in the form that clients ask for, for sandboxes alone', async () => {
    expect(key).toMatch(/^e2b_[0-9a-f]{40}$/)
    const { body } = await buyer.ask('GET', '/tokens')
    expect(body.find(({ id }: { id: string }) => id === keyId)).toMatchObject({ scopes: ['sandbox'] })
    expect((await service.ask('GET', '/sandboxes', { token: key })).status).toBe(200)
    expect((await service.ask('GET', '/balance', { token: key })).status).toBe(403)
  })

  test.each([
    ['none', {}],
    ['of another form', { 'x-api-key': 'sk_1' }],
    ['that was never made', { 'x-api-key': `e2b_${'0'.repeat(40)}` }],
  ])('error: a key %s', async (_what, headers: Record<string, string>) => {
    const answer = await send('GET', '/v2/sandboxes', { headers: { 'x-api-key': '', ...headers } })
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual({ code: 401, message: expect.any(String) })
  })
})

describe('money', () => {
  test('error: without credit it is refused by 402, and the message says where to top up', async () => {
    const poor = await buyerOf(service, 0n)
    const { key: theirs } = await newKey({}, poor)
    const refused = await create({}, { 'x-api-key': theirs })
    expect(refused).toMatchObject({ code: 402 })
    expect(refused.message).toContain(`${ORIGIN}${basePath}/balance/topup`)
  })

  test('error: over its budget it is refused by 403', async () => {
    const { key: small } = await newKey({ budget: { total: '0.000001' } })
    expect(await create({}, { 'x-api-key': small })).toMatchObject({
      code: 403,
      message: expect.stringContaining('budget'),
    })
  })

  test('error: above its limit a person has to approve, and the message says where', async () => {
    const { key: careful } = await newKey({ budget: { approve_above: { per_call: '0.000001' } } })
    const refused = await create({ timeout: 3600 }, { 'x-api-key': careful })
    expect(refused).toMatchObject({ code: 403, message: expect.stringMatching(/approves it at https:/) })
  })

  test('behavior: it costs what it costs everywhere, in the same ledger', async () => {
    const { sandboxID } = await create()
    expect((await buyer.show(sandboxID)).price_per_hour).toBe('0.0165')
    await send('DELETE', `/sandboxes/${sandboxID}`)
    expect((await buyer.show(sandboxID)).state).toBe('ended')
  })
})

describe('sandboxes', () => {
  test('default: as clients from 2.51 on and as those before ask for one', async () => {
    for (const [path, seconds] of [
      ['/v2/sandboxes', 300],
      ['/sandboxes', 15],
    ] as const) {
      const answer = await send('POST', path, { body: { templateID: 'base', secure: true, unknown: 1 } })
      expect(answer.status).toBe(201)
      const { sandboxID, envdVersion, domain } = answer.body
      expect(sandboxID).toMatch(/^[a-z0-9]+$/)
      expect([envdVersion, domain]).toEqual(['0.5.7', DOMAIN])
      expect(await buyer.show(sandboxID)).toMatchObject({
        timeout: seconds,
        idle_timeout: 0,
        mode: 'ephemeral',
      })
      await send('DELETE', `/sandboxes/${sandboxID}`)
    }
  })

  test('default: a tariff stands behind the name of a template', async () => {
    const { sandboxID } = await create({ templateID: 'code-interpreter-v1:small', autoPause: true })
    expect(await buyer.show(sandboxID)).toMatchObject({
      tariff: 'small',
      template: 'code-interpreter',
      mode: 'persistent',
    })
    await send('DELETE', `/sandboxes/${sandboxID}`)
    expect(await create({ templateID: 'base:huge' })).toMatchObject({ code: 400 })
    expect(await create({ templateID: 'nothing-of-this-name' })).toMatchObject({ code: 404 })
  })

  test('default: a snapshot is a template by its name', async () => {
    const { sandboxID } = await create()
    const made = await send('POST', `/sandboxes/${sandboxID}/snapshots`, { body: { name: 'my-state' } })
    expect(made.body).toMatchObject({ names: ['my-state'] })
    await service.reconcileSandboxes()
    const copy = await create({ templateID: 'my-state' })
    expect((await buyer.show(copy.sandboxID)).template).toBe(made.body.snapshotID)
    for (const id of [sandboxID, copy.sandboxID]) await send('DELETE', `/sandboxes/${id}`)
  })

  test('default: networks as clients describe them', async () => {
    const network = { allowOut: ['pypi.org'], denyOut: ['0.0.0.0/0'] }
    const { sandboxID } = await create({ network })
    expect((await buyer.show(sandboxID)).network).toEqual({
      allow_internet: false,
      allow_out: ['pypi.org'],
      deny_out: [],
    })
    await send('DELETE', `/sandboxes/${sandboxID}`)
  })

  test('behavior: a connection makes its time longer, and never shorter', async () => {
    const { sandboxID } = await create({ timeout: 1000 })
    const connect = (timeout: number) =>
      send('POST', `/v2/sandboxes/${sandboxID}/connect`, { body: { timeout } })
    expect((await connect(10)).status).toBe(200)
    expect((await buyer.show(sandboxID)).timeout).toBe(1000)
    await connect(2000)
    expect((await buyer.show(sandboxID)).timeout).toBe(2000)
    await send('POST', `/sandboxes/${sandboxID}/pause`, { body: {} })
    expect((await send('POST', `/sandboxes/${sandboxID}/pause`, { body: {} })).body).toMatchObject({
      code: 409,
    })
    expect((await send('POST', `/sandboxes/${sandboxID}/resume`, { body: { timeout: 60 } })).status).toBe(201)
    await send('DELETE', `/sandboxes/${sandboxID}`)
    expect((await connect(10)).body).toMatchObject({ code: 404 })
  })

  test.each([
    ['autoResume', { autoResume: { enabled: true } }],
    ['volumeMounts', { volumeMounts: [{ name: 'a', path: '/a' }] }],
    ['mcp', { mcp: {} }],
    ['network.rules', { network: { rules: { 'a.example': [{}] } } }],
  ])('error: %s is refused before anything is charged', async (name, body) => {
    expect(await create(body)).toEqual({ code: 501, message: expect.stringContaining(`(${name})`) })
  })

  test('error: what is not served says so', async () => {
    expect((await send('GET', '/volumes')).body).toMatchObject({ code: 404 })
    expect((await send('POST', '/templates/tags', { body: {} })).body).toMatchObject({ code: 501 })
    const malformed = await send('POST', '/sandboxes', {
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{'),
    })
    expect(malformed.body).toMatchObject({ code: 400 })
  })
})

describe('the inside', () => {
  let sandbox: Record<string, string>
  beforeAll(async () => {
    sandbox = await create({ timeout: 3600 })
  })

  test('default: a program is told from its start to its end', async () => {
    const { status, text } = await start(insideOf(sandbox))
    expect(status).toBe(200)
    expect(messagesIn(text)).toEqual([
      { event: { start: { pid: expect.any(Number) } } },
      { event: { data: { stdout: Buffer.from('hello\n').toString('base64') } } },
      { event: { end: { exitCode: 0, exited: true, status: 'exit status 0' } } },
      {},
    ])
  })

  test('error: a stream that is refused says so in its last message, as clients read it', async () => {
    const { status, text } = await start({ ...insideOf(sandbox), 'x-access-token': 'wrong' })
    expect(status).toBe(200)
    expect(messagesIn(text)).toEqual([{ error: { code: 'unauthenticated', message: expect.any(String) } }])
    const cut = await send('POST', '/process.Process/Start', {
      headers: { ...insideOf(sandbox), 'content-type': 'application/connect+json' },
      body: Buffer.from('nonsense'),
    })
    expect(messagesIn(cut.text)).toMatchObject([{ error: { code: 'invalid_argument' } }])
  })

  test('behavior: access is to one sandbox, and ends with the key that it was given to', async () => {
    const { key: another, keyId: id } = await newKey()
    const other = await create({}, { 'x-api-key': another })
    const health = async (headers: Record<string, string>) =>
      (await send('GET', '/health', { headers })).status
    const theirs = insideOf(other)
    expect(await health(theirs)).toBe(204)
    expect(await health({ ...theirs, 'e2b-sandbox-id': sandbox.sandboxID! })).toBe(401)
    expect(await health({ ...theirs, 'x-access-token': `${other.envdAccessToken}x` })).toBe(401)
    const files = (headers: Record<string, string>) => send('GET', '/files?path=x', { headers })
    const byTraffic = { 'e2b-sandbox-id': other.sandboxID, 'x-access-token': other.trafficAccessToken }
    expect((await files(byTraffic)).status).toBe(401)
    await buyer.ask('DELETE', `/tokens/${id}`)
    expect(await health(theirs)).toBe(401)
    // The sandbox is the account's, and another key of it gets access of its own.
    const again = await send('POST', `/v2/sandboxes/${other.sandboxID}/connect`, { body: {} })
    expect(await health(insideOf(again.body))).toBe(204)
    await send('DELETE', `/sandboxes/${other.sandboxID}`)
    expect(await health(insideOf(again.body))).toBe(502)
  })

  test("error: another account's sandbox is none", async () => {
    const stranger = await buyerOf(service)
    const { key: theirs } = await newKey({}, stranger)
    const headers = { 'x-api-key': theirs }
    expect((await send('GET', `/sandboxes/${sandbox.sandboxID}`, { headers })).body).toMatchObject({
      code: 404,
    })
    expect((await send('DELETE', `/sandboxes/${sandbox.sandboxID}`, { headers })).body).toMatchObject({
      code: 404,
    })
  })

  test('error: of files, as clients tell them apart', async () => {
    const headers = insideOf(sandbox)
    expect((await send('GET', '/files?path=none', { headers })).body).toMatchObject({ code: 404 })
    expect((await send('GET', '/files?path=/tmp', { headers })).body).toMatchObject({ code: 400 })
    const form = { ...headers, 'content-type': 'multipart/form-data; boundary=x' }
    const empty = await send('POST', '/files', { headers: form, body: Buffer.from('--x--\r\n') })
    expect(empty.body).toMatchObject({ code: 400 })
    const stat = await send('POST', '/filesystem.Filesystem/Stat', { headers, body: { path: 'none' } })
    expect([stat.status, stat.body.code]).toEqual([404, 'not_found'])
  })

  test('default: watchers that are asked again and again', async () => {
    const headers = insideOf(sandbox)
    const ask = async (name: string, body: object) =>
      (await send('POST', `/filesystem.Filesystem/${name}`, { headers, body })).body
    await ask('MakeDir', { path: 'seen' })
    const { watcherId } = await ask('CreateWatcher', { path: 'seen' })
    await send('POST', '/files?path=seen/one', {
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: Buffer.from('x'),
    })
    const events: { name: string }[] = []
    while (!events.some(({ name }) => name === 'one'))
      events.push(...(await ask('GetWatcherEvents', { watcherId })).events)
    expect(await ask('RemoveWatcher', { watcherId })).toEqual({})
    expect(await ask('GetWatcherEvents', { watcherId })).toMatchObject({ code: 'not_found' })
  })
})

describe('names', () => {
  test.each([
    [`api.${DOMAIN}`, '/v2/sandboxes?limit=1', '/e2b/v2/sandboxes?limit=1'],
    [`API.${DOMAIN}:8443`, '/healthz', '/e2b/healthz'],
    [`api.${DOMAIN}`, '/template-uploads/tpl_1?folder=a', '/template-uploads/tpl_1?folder=a'],
    [`49983-sbx${'0'.repeat(26)}.${DOMAIN}`, '/files?path=a', '/e2b/files?path=a'],
    [`49999-sbx${'0'.repeat(26)}.${DOMAIN}`, '/execute', '/e2b/execute'],
    [`8000-sbx${'0'.repeat(26)}.${DOMAIN}`, '/x', `/preview/sbx${'0'.repeat(26)}/8000/x`],
    [`api.x.${DOMAIN}`, '/x', undefined],
    ['api.elsewhere.net', '/x', undefined],
  ])('default: %s%s is %s', (host, url, path) => {
    expect(previewPath({ sandboxDomain: DOMAIN }, { headers: { host }, url })).toBe(path)
  })

  test('default: what is asked by a name is of its sandbox, whatever a header says', async () => {
    const sandbox = await create()
    const host = `49983-${sandbox.sandboxID}.${DOMAIN}`
    const headers = { ...insideOf(sandbox), 'e2b-sandbox-id': `sbx${'0'.repeat(26)}`, host }
    expect((await send('GET', '/health', { headers })).status).toBe(204)
    const listed = await send('GET', '/v2/sandboxes', { headers: { host: `api.${DOMAIN}` } })
    expect(listed.body.map(({ sandboxID }: { sandboxID: string }) => sandboxID)).toContain(sandbox.sandboxID)
    await send('DELETE', `/sandboxes/${sandbox.sandboxID}`)
  })
})
