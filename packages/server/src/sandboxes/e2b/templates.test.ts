import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from '../life/testing.ts'

/*
 * Templates as E2B's clients build them. What the clients themselves make of it is in test/e2b.test.ts.
 */

let service: TestService
let buyer: Buyer
let key: string

beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_SANDBOXES: '1000/60s', COINRACK_RATE_DEFAULT: '1000/60s' },
  })
  buyer = await buyerOf(service)
  key = await keyOf(buyer)
})
afterAll(() => service.close())

const keyOf = async (by: Buyer) => (await by.post('/tokens', { format: 'e2b' })).body.token as string

async function send(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown, by = key) {
  const answer = await service.app.inject({
    method,
    url: `/e2b${path}`,
    headers: { 'x-api-key': by, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { payload: JSON.stringify(body) }),
  })
  const isJson = String(answer.headers['content-type']).startsWith('application/json')
  return { status: answer.statusCode, body: isJson ? JSON.parse(answer.body) : undefined }
}

const HASH = 'a1'.repeat(32)

async function archive(files: Record<string, string>): Promise<Buffer> {
  const packed = pack()
  for (const [name, content] of Object.entries(files)) packed.entry({ name }, content)
  packed.finalize()
  return gzipSync(Buffer.concat(await Array.fromAsync(packed as AsyncIterable<Buffer>)))
}

/** Asks for a build, as clients do, without the wait for its end. */
async function begin(name: string, body: object, options: object = {}) {
  service.clock.advance(1_000)
  const asked = await send('POST', '/v3/templates', { name, ...options })
  expect(asked.status, JSON.stringify(asked.body)).toBe(202)
  const { templateID, buildID } = asked.body
  return {
    templateID,
    buildID,
    begun: await send('POST', `/v2/templates/${templateID}/builds/${buildID}`, body),
  }
}

async function build(name: string, body: object, options: object = {}) {
  const { templateID, buildID, begun } = await begin(name, body, options)
  expect(begun.status, JSON.stringify(begun.body)).toBe(202)
  await service.buildTemplates()
  return { templateID, buildID, ...(await statusOf(templateID, buildID)) }
}
const statusOf = async (templateID: string, buildID: string, offset = 0) =>
  (await send('GET', `/templates/${templateID}/builds/${buildID}/status?logsOffset=${offset}`)).body
const run = (...args: string[]) => ({ type: 'RUN', args })
const dockerfileOf = async (id: string): Promise<string> =>
  (await service.services.db.query('select dockerfile from sandbox_template where id = $1', [id])).rows[0]
    .dockerfile

describe('builds', () => {
  test('default: files, variables and commands become a template, of which sandboxes are made by name', async () => {
    const { body: asked } = await send('POST', '/v3/templates', { name: 'words' })
    expect(asked).toMatchObject({ buildID: '1', names: ['words'], tags: ['default'] })
    const { templateID, buildID } = asked
    expect((await statusOf(templateID, buildID)).status).toBe('waiting')
    const file = await send('GET', `/templates/${templateID}/files/${HASH}`)
    expect(file).toMatchObject({ status: 201, body: { present: false } })
    const { pathname, search } = new URL(file.body.url)
    const payload = await archive({ 'data/words.txt': 'b\na\n' })
    const put = await service.app.inject({ method: 'PUT', url: pathname + search, payload })
    expect(put.statusCode, put.body).toBe(200)
    expect((await send('GET', `/templates/${templateID}/files/${HASH}`)).body.present).toBe(true)
    const begun = await send('POST', `/v2/templates/${templateID}/builds/${buildID}`, {
      fromImage: 'e2bdev/base',
      steps: [
        { type: 'WORKDIR', args: ['/app'] },
        { type: 'COPY', args: ['data', 'data', 'root', '0644'], filesHash: HASH },
        { type: 'ENV', args: ['GREETING', 'it\'s "sorted" \\ <<EOF', 'OTHER', '$GREETING!'] },
        run('sort data/words.txt > sorted.txt\necho "$OTHER" <<< x\necho done'),
        run('echo as-root', 'root'),
      ],
    })
    expect(begun.status, JSON.stringify(begun.body)).toBe(202)
    const again = await send('POST', `/v2/templates/${templateID}/builds/${buildID}`, { steps: [] })
    expect(again.body).toMatchObject({ code: 409 })
    await service.buildTemplates()
    const status = await statusOf(templateID, buildID)
    expect(status, JSON.stringify(status)).toMatchObject({ status: 'ready', templateID, buildID })
    const said = status.logEntries.map(({ message }: { message: string }) => message).join('\n')
    expect(said).toContain('it\'s "sorted" \\ <<EOF!\ndone')
    expect(said).toContain('as-root')
    expect((await statusOf(templateID, buildID, status.logEntries.length)).logEntries).toEqual([])
    const made = await send('POST', '/v2/sandboxes', { templateID: 'words' })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const ran = await buyer.post(`/sandboxes/${made.body.sandboxID}/exec`, { command: 'echo "$OTHER"' })
    expect(ran.body.stdout).toBe('it\'s "sorted" \\ <<EOF!\n')
    await send('DELETE', `/sandboxes/${made.body.sandboxID}`)
  })

  test('default: what is known is not done again, unless a client wants that', async () => {
    const body = { fromTemplate: 'base', steps: [run('echo first'), run('echo second')] }
    const first = await build('again', body)
    expect(first.status, JSON.stringify(first)).toBe('ready')
    const second = await build('again', body)
    expect([second.templateID, second.buildID, second.status]).toEqual([first.templateID, '2', 'ready'])
    expect(JSON.stringify(second.logEntries)).toContain('cached: RUN')
    const forced = await build('again', { ...body, force: true })
    expect(JSON.stringify(forced.logEntries)).not.toContain('cached')
    expect((await statusOf(first.templateID, '1')).logEntries).toHaveLength(first.logEntries.length)
  })

  test('default: a build on a template of the client goes on as it ends, in its tariff', async () => {
    const steps = [
      { type: 'ENV', args: ['KEPT', 'yes'] },
      { type: 'USER', args: ['root'] },
      { type: 'WORKDIR', args: ['/srv'] },
    ]
    const below = await build('below', { fromTemplate: 'code-interpreter-v1', steps }, { cpuCount: 1 })
    expect([below.status, below.buildID]).toEqual(['ready', '1-standard'])
    const above = await build('above', { fromTemplate: 'below', steps: [run('echo "$KEPT $PWD"')] })
    expect(above.status, JSON.stringify(above)).toBe('ready')
    expect(await dockerfileOf(above.templateID)).toContain('FROM below\nUSER root\nWORKDIR "/srv"\n')
    expect((await buyer.ask('GET', `/sandbox-templates/${above.templateID}`)).body.tariff).toBe('standard')
  })

  test('behavior: a program runs when its command says that it is ready', async () => {
    const made = await build('program', {
      steps: [],
      startCmd: 'echo begun; sleep 60',
      readyCmd: `[ "it's" = "it's" ] && echo ready`,
    })
    expect(made.status, JSON.stringify(made)).toBe('ready')
    expect(JSON.stringify(made.logEntries)).toContain('CMD')
    const never = await build('program', { steps: [], startCmd: 'echo "no such thing" >&2; exit 3' })
    expect(never).toMatchObject({
      status: 'error',
      reason: { step: 'finalize', message: expect.stringContaining('no such thing') },
    })
    const alone = await build('alone', { steps: [], readyCmd: 'test -d /' })
    expect(alone.status, JSON.stringify(alone)).toBe('ready')
  })

  test('error: a step that fails is named by its place', async () => {
    const failed = await build('failing', { steps: [run('true'), run('exit 7')] })
    expect(failed).toMatchObject({
      status: 'error',
      reason: { step: '2', message: expect.stringContaining('it ended with 7') },
    })
    expect(await send('POST', '/v2/sandboxes', { templateID: 'failing' })).toMatchObject({ status: 404 })
  })

  test.each([
    ['an image of a registry', { fromImage: 'python:3.12', steps: [] }, 501, 'fromBaseImage()'],
    [
      'an image with credentials',
      { fromImage: 'e2bdev/base', fromImageRegistry: {}, steps: [] },
      501,
      'known',
    ],
    ['a template that there is not', { fromTemplate: 'nowhere', steps: [] }, 501, 'nowhere'],
    ['a step of another kind', { steps: [{ type: 'ADD', args: [] }] }, 400, 'step 1'],
    ['a copy without files', { steps: [{ type: 'COPY', args: ['a', 'b'] }] }, 400, 'no hash'],
    [
      'files that were not sent',
      { steps: [{ type: 'COPY', args: ['a', 'b'], filesHash: HASH }] },
      400,
      'COPY',
    ],
    ['a value of several lines', { steps: [{ type: 'ENV', args: ['A', 'a\nb'] }] }, 400, 'several lines'],
    ['a user who is no name', { steps: [{ type: 'USER', args: ['root\nRUN id'] }] }, 400, 'no name'],
  ])('error: %s is refused before anything is paid', async (_what, body, status, message) => {
    const { begun, templateID, buildID } = await begin('refused', body)
    expect(begun).toMatchObject({ status, body: { message: expect.stringContaining(message) } })
    expect((await statusOf(templateID, buildID)).status).toBe('waiting')
  })
})

describe('templates', () => {
  test('default: they are known by their names, and gone when they are deleted', async () => {
    const { templateID } = await build('named', { steps: [] })
    expect((await send('GET', '/templates/aliases/named')).body).toEqual({ templateID, public: false })
    expect((await send('GET', '/templates/aliases/code-interpreter-v1')).body.public).toBe(true)
    expect((await send('GET', '/templates/aliases/nobody')).body).toMatchObject({ code: 404 })
    expect((await send('GET', `/templates/${templateID}/tags`)).body).toMatchObject([{ tag: 'default' }])
    const listed = (await send('GET', '/templates')).body
    expect(listed.find((each: { templateID: string }) => each.templateID === templateID)).toMatchObject({
      names: ['named'],
      buildStatus: 'ready',
      memoryMB: 512,
    })
    expect((await send('DELETE', '/templates/named')).status).toBe(204)
    expect((await send('GET', '/templates/aliases/named')).status).toBe(404)
    expect((await send('DELETE', '/templates/named')).status).toBe(404)
  })

  test.each([
    ['tags', { name: 'tagged', tags: ['v1'] }, 501],
    ['a tag in the name', { name: 'tagged:v1' }, 501],
    ['a name of the service', { name: 'base' }, 400],
    ['more than the largest', { name: 'huge', cpuCount: 64 }, 400],
  ])('error: %s', async (_what, body, status) => {
    expect((await send('POST', '/v3/templates', body)).status).toBe(status)
  })

  test('error: tags are not taken away, and a template of the name "tags" stays when that is asked', async () => {
    const { templateID } = await build('tags', { steps: [] })
    const refused = await send('DELETE', '/templates/tags', { name: 'named', tags: ['v1'] })
    expect(refused).toMatchObject({
      status: 501,
      body: { message: expect.stringContaining('name of its own') },
    })
    expect((await send('GET', '/templates/aliases/tags')).body).toEqual({ templateID, public: false })
    expect((await send('DELETE', `/templates/${templateID}`)).status).toBe(204)
  })

  test("error: another account's template is none, and without credit nothing is built", async () => {
    const { templateID, buildID } = await build('private', { steps: [] })
    const stranger = await keyOf(await buyerOf(service))
    for (const [method, path] of [
      ['GET', `/templates/${templateID}/builds/${buildID}/status`],
      ['GET', `/templates/${templateID}/files/${HASH}`],
      ['GET', `/templates/${templateID}/tags`],
      ['GET', '/templates/aliases/private'],
      ['DELETE', `/templates/${templateID}`],
    ] as const)
      expect((await send(method, path, undefined, stranger)).status, path).toBe(404)
    const poor = await keyOf(await buyerOf(service, 0n))
    const { body } = await send('POST', '/v3/templates', { name: 'dear' }, poor)
    const begun = await send('POST', `/v2/templates/${body.templateID}/builds/1`, { steps: [] }, poor)
    expect(begun).toMatchObject({ status: 402, body: { message: expect.stringContaining('Top up') } })
  })

  test.each([
    ['over its budget', { budget: { total: '0.000001' } }, /budget/],
    ['above its limit', { budget: { approve_above: { per_call: '0.000001' } } }, /approves it at https?:/],
  ])('error: a key %s begins no build, and says why', async (name, limits, message) => {
    const { body: made } = await buyer.post('/tokens', { format: 'e2b', ...limits })
    const { body } = await send('POST', '/v3/templates', { name: name.replaceAll(' ', '-') }, made.token)
    const path = `/templates/${body.templateID}/builds/${body.buildID}`
    const begun = await send('POST', `/v2${path}`, { steps: [] }, made.token)
    expect(begun).toMatchObject({ status: 403, body: { message: expect.stringMatching(message) } })
    expect((await send('GET', `${path}/status`)).body.status).toBe('waiting')
  })
})
