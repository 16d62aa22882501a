import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf, joinHost } from '../life/testing.ts'
import { LAYERS } from './layer-store.ts'
import { createTemplateBuilder } from './reconcile-builds.ts'

/*
 * Templates of customers, built in sandboxes of the fake: its programs run on this computer, in a folder that stands for the root
 * of the sandbox when they are told no other.
 */

let service: TestService
let buyer: Buyer
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_SANDBOXES: '100000/min', COINRACK_RATE_DEFAULT: '100000/min' },
  })
})
afterAll(() => service.close())

const fresh = async (balance = 50_000_000n) => {
  buyer = await buyerOf(service, balance)
  return buyer
}
const create = (body: object) => buyer.post('/sandbox-templates', body)
const show = async (id: string) => (await buyer.ask('GET', `/sandbox-templates/${id}`)).body
const logOf = async (id: string) => {
  const { body } = await buyer.ask('GET', `/sandbox-templates/${id}/log`)
  return (body.lines as { stream: string; text: string }[]).map(({ text }) => text).join('\n')
}
/** A template that was built, or could not be. */
async function built(body: object) {
  const answer = await create(body)
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ template: { status: 'building' } })
  await service.buildTemplates()
  return show(answer.body.template.id)
}
const again = async (id: string, body: object = {}) => {
  service.clock.advance(1_000)
  const answer = await buyer.post(`/sandbox-templates/${id}/build`, body)
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ template: { status: 'building' } })
  await service.buildTemplates()
  return show(id)
}
const ran = async (sandbox: string, command: string) => {
  const { body } = await buyer.post(`/sandboxes/${sandbox}/exec`, { command, cwd: '/' })
  return (body.stdout as string).trim()
}
/** The folders of files stand for roots: what is written goes there. */
const APP = `FROM base
ARG WORD=hello
ENV GREETING=$WORD
WORKDIR /app
COPY app.txt ./
RUN cat app.txt > copied.txt; echo "$GREETING" >> copied.txt; echo said; echo warned >&2
`
const files = [{ path: 'app.txt', content: 'from the context\n' }]

describe('from a Dockerfile', () => {
  test('default: it is built in a sandbox that is paid and ends, and new sandboxes have what it made', async () => {
    await fresh()
    const template = await built({ name: 'app', dockerfile: APP, files, args: { WORD: 'hi' } })
    expect(template).toMatchObject({
      name: 'app',
      status: 'ready',
      source: 'dockerfile',
      tariff: 'micro',
      build: { status: 'succeeded', steps_done: 3, error: null },
    })
    expect(await logOf(template.id)).toMatch(
      /1\/3: WORKDIR \/app\n2\/3: COPY app.txt .\/\n3\/3: RUN .*\nsaid\n\nwarned\n\nThe template is ready/s,
    )
    const builder = await buyer.show(template.build.sandbox_id)
    expect(builder).toMatchObject({
      state: 'ended',
      template: 'base',
      metadata: { template_id: template.id },
    })

    const { status, body } = await buyer.create({ template: 'app', env: { MORE: '1' } })
    expect([status, body.template]).toEqual([200, 'app'])
    expect(await ran(body.id, 'cat app/copied.txt; echo "$GREETING $MORE"')).toBe(
      'from the context\nhi\nhi 1',
    )
    const { body: byId } = await buyer.create({ template: template.id, env: { GREETING: 'own' } })
    expect(await ran(byId.id, 'echo "$GREETING"')).toBe('own')
    // Those of the catalog and snapshots are made as ever.
    expect((await buyer.create({ template: 'base' })).body.template).toBe('base')
  })

  test('default: a later build may have another program to wait for, and another tariff', async () => {
    await fresh()
    const dockerfile = 'FROM base\nCMD ["sleep", "60"]'
    const template = await built({ name: 'app', dockerfile, ready: 'true' })
    const larger = await again(template.id, { ready: null, tariff: 'small' })
    expect(larger).toMatchObject({ status: 'ready', tariff: 'small' })
    expect((await buyer.show(await buyer.sandbox({ template: 'app' }))).tariff).toBe('small')
    const failed = await again(template.id, { dockerfile: 'FROM base\nCMD ["false"]' })
    expect(failed.build.error).toMatch(/^CMD: it ended with 1/)
  })

  test('behavior: what is known is not done again, from the first change on it is', async () => {
    await fresh()
    const dockerfile = 'FROM base\nWORKDIR /app\nRUN echo one >> log\nRUN echo two >> log'
    const template = await built({ name: 'app', dockerfile })
    await again(template.id)
    expect(await logOf(template.id)).toMatch(
      /^cached: WORKDIR.*\ncached: RUN echo one.*\ncached: RUN echo two.*\nThe template is ready$/,
    )
    await again(template.id, { dockerfile: dockerfile.replace('two', 'three') })
    expect(await logOf(template.id)).toMatch(
      /^cached: WORKDIR.*\ncached: RUN echo one.*\n3\/3: RUN echo three/,
    )
    const id = await buyer.sandbox({ template: 'app' })
    expect(await ran(id, 'cat app/log')).toBe('one\nthree')
    await again(template.id, { fresh: true })
    expect(await logOf(template.id)).toMatch(/^1\/3: WORKDIR/)
    // What another account made is no part of it.
    await fresh()
    const other = await built({ name: 'app', dockerfile })
    expect(await logOf(other.id)).toMatch(/^1\/3: WORKDIR/)
  })

  test('behavior: kept layers are as many as an account may have, the last used ones', async () => {
    await fresh()
    const runs = Array.from({ length: LAYERS + 3 }, (_, index) => `RUN echo ${index}`)
    const template = await built({ name: 'long', dockerfile: `FROM base\n${runs.join('\n')}` })
    expect(template.status).toBe('ready')
    await service.reconcileSandboxes()
    const { rows } = await service.services.db.query(
      `select purpose, count(*)::int as count from sandbox_snapshot where account_id = $1 and status = 'ready' group by 1 order by 1`,
      [buyer.accountId],
    )
    expect(rows).toEqual([
      { purpose: 'layer', count: LAYERS },
      { purpose: 'template', count: 1 },
    ])
    expect((await buyer.ask('GET', '/sandbox-snapshots')).body).toEqual([])
    await buyer.ask('DELETE', `/sandbox-templates/${template.id}`)
    service.clock.advance(8 * 86_400_000)
    await createTemplateBuilder(service.services).pass()
    await service.reconcileSandboxes()
    const mine = await service.services.db.query(
      `select from sandbox_snapshot where account_id = $1 and status <> 'deleted'`,
      [buyer.accountId],
    )
    expect(mine.rowCount).toBe(0)
  })

  test('default: its program runs before it is saved, and is waited for', async () => {
    await fresh()
    const dockerfile = 'FROM base\nWORKDIR /app\nCMD sleep 0.4; echo up > state; sleep 60'
    const template = await built({ name: 'server', dockerfile, ready: 'test -e state' })
    expect(template.status).toBe('ready')
    const id = await buyer.sandbox({ template: 'server' })
    expect(await ran(id, 'cat app/state')).toBe('up')
  })

  test.each([
    [
      'a command that fails',
      { dockerfile: 'FROM base\nRUN echo why; exit 3' },
      /Line 2, RUN: it ended with 3/,
      /why/,
    ],
    [
      'a program that ends',
      { dockerfile: 'FROM base\nCMD echo broken; exit 1' },
      /CMD: it ended with 1: broken/,
      /CMD echo/,
    ],
    [
      'a user that is not there',
      { dockerfile: 'FROM base\nUSER nobody-here\nRUN a' },
      /no user nobody-here/,
      /RUN a/,
    ],
    [
      'a folder that is none',
      { dockerfile: 'FROM base\nRUN touch f\nWORKDIR /f/g' },
      /Line 3, WORKDIR/,
      /WORKDIR/,
    ],
  ])('error: %s ends the build, and its sandbox', async (_what, body, why, said) => {
    await fresh()
    const template = await built({ name: 'app', ...body })
    expect(template).toMatchObject({
      status: 'failed',
      build: { status: 'failed', error: expect.stringMatching(why) },
    })
    expect(await logOf(template.id)).toMatch(said)
    expect((await buyer.show(template.build.sandbox_id)).state).toBe('ended')
    const { body: refused } = await buyer.create({ template: 'app' })
    expect(refused).toMatchObject({
      code: 'unknown_template',
      message: expect.stringContaining('not built yet'),
    })
  })

  test('behavior: a build that fails leaves what was built before', async () => {
    await fresh()
    const template = await built({ name: 'app', dockerfile: 'FROM base\nWORKDIR /one' })
    const after = await again(template.id, { dockerfile: 'FROM base\nRUN exit 1' })
    expect(after).toMatchObject({ status: 'ready', build: { status: 'failed' } })
    const id = await buyer.sandbox({ template: 'app' })
    expect(await ran(id, 'ls')).toContain('one')
  })

  test('default: on a template of their own, with its variables', async () => {
    await fresh()
    await built({ name: 'lower', dockerfile: 'FROM base\nENV A=1\nWORKDIR /a', tariff: 'small' })
    const upper = await built({ name: 'upper', dockerfile: 'FROM lower\nENV B=$A$A\nRUN echo $B > b' })
    expect(upper).toMatchObject({ status: 'ready', tariff: 'small' })
    const id = await buyer.sandbox({ template: 'upper' })
    expect(await ran(id, 'cat a/b; echo $A')).toBe('11\n1')
    const { body } = await create({ name: 'other', dockerfile: 'FROM lower', tariff: 'micro' })
    expect(body).toMatchObject({ code: 'dockerfile_invalid', line: 1, instruction: 'FROM' })
  })

  test.each([
    ['python:3.12', /images of registries/],
    ['none', /neither base nor code-interpreter/],
  ])('error: FROM %s', async (from, why) => {
    await fresh()
    const { status, body } = await create({ name: 'app', dockerfile: `FROM ${from}` })
    expect([status, body.code, body.line, body.instruction]).toEqual([422, 'dockerfile_invalid', 1, 'FROM'])
    expect(body.message).toMatch(why)
    expect((await buyer.ask('GET', '/sandbox-templates')).body).toEqual([])
    expect((await buyer.ask('GET', '/sandboxes')).body).toEqual([])
  })

  test('error: without money nothing is begun, and nothing is kept', async () => {
    await fresh(0n)
    const { status, body } = await create({ name: 'app', dockerfile: 'FROM base' })
    expect([status, body.code]).toEqual([402, 'insufficient_balance'])
    expect((await buyer.ask('GET', '/sandbox-templates')).body).toEqual([])
  })

  test('behavior: the build of a template that is deleted ends; so does one whose sandbox is ended', async () => {
    await fresh()
    const { body } = await create({ name: 'app', dockerfile: 'FROM base\nRUN sleep 60' })
    const { id, build } = body.template
    await buyer.ask('DELETE', `/sandbox-templates/${id}`)
    await service.buildTemplates()
    expect((await buyer.show(build.sandbox_id)).state).toBe('ended')

    const other = (await create({ name: 'app', dockerfile: 'FROM base\nRUN true' })).body.template
    await buyer.kill(other.build.sandbox_id)
    await service.buildTemplates()
    expect((await show(other.id)).build).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('has ended'),
    })
  })

  test('behavior: the next process goes on with what goes on in the sandbox', async () => {
    await fresh()
    const dockerfile =
      'FROM base\nWORKDIR /app\nRUN echo begun >> log; sleep 1.5; echo done >> log\nRUN echo last >> log'
    const { body } = await create({ name: 'app', dockerfile })
    await service.reconcileSandboxes()
    const first = createTemplateBuilder(service.services)
    await first.pass()
    await expect.poll(() => logOf(body.template.id), { timeout: 10_000 }).toMatch(/2\/3/)
    await first.end()
    expect((await show(body.template.id)).build.status).toBe('running')
    await service.buildTemplates()
    expect((await show(body.template.id)).status).toBe('ready')
    const id = await buyer.sandbox({ template: 'app' })
    // Each once: nothing was begun anew.
    expect(await ran(id, 'cat app/log')).toBe('begun\ndone\nlast')
  })
})

describe('files for COPY', () => {
  const tar = async (
    entries: { name: string; content?: string; type?: 'symlink' | 'link'; linkname?: string }[],
  ) => {
    const archive = pack()
    for (const { content = '', ...header } of entries) archive.entry(header, content)
    archive.finalize()
    const pieces: Buffer[] = []
    for await (const piece of archive as AsyncIterable<Buffer>) pieces.push(piece)
    return Buffer.concat(pieces)
  }
  const upload = async (id: string, content: Buffer, body: object = {}) => {
    const { body: link } = await buyer.post(`/sandbox-templates/${id}/upload-url`, body)
    const { pathname, search } = new URL(link.url)
    const reply = await service.app.inject({ method: 'PUT', url: pathname + search, payload: content })
    return { status: reply.statusCode, body: reply.json() }
  }
  const waiting = async (dockerfile: string) => {
    const { body } = await create({ name: 'app', dockerfile, upload: true })
    expect(body.template).toMatchObject({ status: 'waiting', build: null })
    return body.template.id as string
  }

  test('default: they are uploaded before the build, packed or not, in folders, less what is ignored', async () => {
    await fresh()
    const id = await waiting(
      'FROM base\nWORKDIR /app\nCOPY . ./\nCOPY more/*.txt /m/\nRUN find . -not -name list | sort > list; cat sub/a.txt ../m/c.txt',
    )
    const first = await tar([
      { name: './sub/a.txt', content: 'a' },
      { name: 'sub/link', type: 'symlink', linkname: 'a.txt' },
      { name: 'node_modules/x', content: 'x' },
      { name: '.dockerignore', content: '# no\nnode_modules\n*.md\n!keep.md\n' },
      { name: 'no.md' },
      { name: 'keep.md' },
    ])
    expect(await upload(id, gzipSync(first))).toMatchObject({ status: 200, body: { template_id: id } })
    await upload(id, await tar([{ name: 'c.txt', content: 'c' }]), { folder: 'more' })
    const template = await again(id)
    expect(template, await logOf(id)).toMatchObject({ status: 'ready' })
    expect(await logOf(id)).toMatch(/\na\n?c/)
    const sandbox = await buyer.sandbox({ template: 'app' })
    expect((await ran(sandbox, 'cat app/list; readlink app/sub/link')).split('\n')).toEqual([
      ...[
        '.',
        './.dockerignore',
        './keep.md',
        './more',
        './more/c.txt',
        './sub',
        './sub/a.txt',
        './sub/link',
      ],
      'a.txt',
    ])
  })

  test.each([
    ['no archive', Buffer.from('hello '.repeat(200)), /no tar/],
    ['packed nonsense', Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(100, 7)]), /no tar/],
    ['a path that leads out', tar([{ name: '../../etc/passwd', content: 'x' }]), /no path within/],
    [
      'a hard link',
      tar([
        { name: 'a', content: 'x' },
        { name: 'b', type: 'link', linkname: 'a' },
      ]),
      /hard link/,
    ],
    ['a header without end', tar([{ name: 'x'.repeat(8_000_000) }]), /too long|no path/],
  ])('error: %s is refused when it is to be copied', async (_what, content, why) => {
    await fresh()
    const id = await waiting('FROM base\nCOPY . /x/')
    expect((await upload(id, await content)).status).toBe(200)
    const { body } = await buyer.post(`/sandbox-templates/${id}/build`)
    expect(body).toMatchObject({ code: 'dockerfile_invalid', message: expect.stringMatching(why) })
    expect((await buyer.ask('GET', '/sandboxes')).body).toEqual([])
  })

  test('error: a link is for one template, and ends; an archive has an end too', async () => {
    await fresh()
    const id = await waiting('FROM base\nCOPY . /x/')
    const { body: link } = await buyer.post(`/sandbox-templates/${id}/upload-url`)
    const put = (url: string, headers = {}) =>
      service.app.inject({ method: 'PUT', url: url.replace(/^https?:\/\/[^/]+/, ''), payload: 'x', headers })
    expect((await put(link.url.replace(id, 'tpl_0'))).json().code).toBe('link_invalid')
    expect((await put(link.url.replace('folder=', 'folder=other'))).json().code).toBe('link_invalid')
    const large = await put(link.url, { 'content-length': String(65 * 1024 ** 2) })
    expect([large.statusCode, large.json().code]).toEqual([413, 'body_too_large'])
    service.clock.advance(3_601_000)
    expect((await put(link.url)).json().code).toBe('link_invalid')
  })
})

describe('from a snapshot', () => {
  test('default: it is ready at once, and lives as long as one of both', async () => {
    await fresh()
    const id = await buyer.sandbox()
    await ran(id, 'echo kept > home/user/note')
    const { body: taken } = await buyer.post(`/sandboxes/${id}/snapshots`, {})
    const snapshot_id = taken.snapshot.id
    const { body } = await create({ name: 'noted', snapshot_id })
    expect(body.template).toMatchObject({ status: 'ready', source: 'snapshot', build: null, tariff: 'micro' })
    await buyer.ask('DELETE', `/sandbox-snapshots/${snapshot_id}`)
    expect((await buyer.ask('GET', '/sandbox-snapshots')).body).toEqual([])
    await service.reconcileSandboxes()
    const other = await buyer.sandbox({ template: 'noted' })
    expect(await ran(other, 'cat home/user/note')).toBe('kept')
    expect(service.runtime.calls).toContain(`keepWarm ${snapshot_id}`)
    await buyer.ask('DELETE', `/sandbox-templates/${body.template.id}`)
    await service.reconcileSandboxes()
    expect((await service.runtime.snapshots()).map(({ id: each }) => each)).not.toContain(snapshot_id)
  })

  test('behavior: the snapshot stays when its template is deleted', async () => {
    await fresh()
    const id = await buyer.sandbox()
    const { body: taken } = await buyer.post(`/sandboxes/${id}/snapshots`, {})
    const { body } = await create({ name: 'one', snapshot_id: taken.snapshot.id })
    await buyer.ask('DELETE', `/sandbox-templates/${body.template.id}`)
    await service.reconcileSandboxes()
    expect((await buyer.ask('GET', '/sandbox-snapshots')).body).toHaveLength(1)
    expect((await buyer.create({ template: taken.snapshot.id })).status).toBe(200)
  })
})

test("error: another account's template is not named, seen or built on", async () => {
  await fresh()
  const template = await built({ name: 'mine', dockerfile: 'FROM base' })
  const owner = buyer
  await fresh()
  for (const name of ['mine', template.id])
    expect((await buyer.create({ template: name })).body.code).toBe('unknown_template')
  expect((await buyer.ask('GET', `/sandbox-templates/${template.id}`)).status).toBe(403)
  expect((await create({ name: 'x', dockerfile: 'FROM mine' })).body.code).toBe('dockerfile_invalid')
  expect((await built({ name: 'mine', dockerfile: 'FROM base' })).status).toBe('ready')
  expect((await owner.ask('GET', '/sandbox-templates')).body).toHaveLength(1)
})

test('behavior: on another host it is brought there with its sums, when a sandbox is made there', async () => {
  await fresh()
  const template = await built({ name: 'far', dockerfile: 'FROM base\nWORKDIR /x' })
  expect(template.status).toBe('ready')
  const host = await joinHost(service, 'far')
  await service.services.db.query(`update host set state = 'draining' where id = 'local'`)
  try {
    const { status, body } = await buyer.create({ template: 'far' })
    expect([status, body.template]).toEqual([200, 'far'])
    expect(await host.runtime.snapshots()).toHaveLength(1)
    await buyer.kill(body.id)
  } finally {
    await service.services.db.query(`update host set state = 'open' where id = 'local'`)
    await host.close()
  }
})

test('default: the log is followed by a stream to its end', async () => {
  await fresh()
  const { body } = await create({ name: 'app', dockerfile: 'FROM base\nRUN echo said' })
  const { id } = body.template
  const streamed = service.app.inject({
    method: 'GET',
    url: `/api/v1/eqvps/sandbox-templates/${id}/log`,
    headers: { authorization: `Bearer ${buyer.token}`, accept: 'text/event-stream' },
  })
  await service.buildTemplates()
  const text = (await streamed).body
  expect(text).toMatch(/event: log\ndata: .*"text":"said\\n"/)
  expect(text).toMatch(/event: end\ndata: .*"running":false/)
})
