import { randomBytes } from 'node:crypto'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type ConnectedClient, mcpClients, type ToolResult } from './testing-mcp.ts'

/*
 * What a model is shown of answers: few bytes, all that matters, pictures as pictures, and a way to all that was cut. Where
 * no output schema is listed, output is text alone; where it is, the data stands beside it.
 */

let service: TestService
let origin: string
let token: string
let sandbox_id: string
let service_id: string
beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  service = await startTestService({
    features: ['guestCommands'],
    env: {
      COINRACK_PUBLIC_URL: origin,
      COINRACK_RATE_DEFAULT: '100000/min',
      COINRACK_RATE_REGISTER: '1000/min',
    },
  })
  await service.app.listen({ host: '127.0.0.1', port })
  ;({ token } = await service.customer(90_000_000n))
  const made = await service.tool('create_sandbox', { timeout: 86_400, idle_timeout: 0 }, { token })
  sandbox_id = made.body.id
  const ordered = await service.tool('order_vps', { product: 'nano', os_id: 1, hostname: 'web' }, { token })
  service_id = ordered.body.service_id
  await service.reconcile()
})
afterAll(() => service.close())

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(19_000)])
const plotOf = (png: Buffer) => `
import base64
class Plot:
    def _repr_png_(self): return base64.b64decode("${png.toString('base64')}")
    def __repr__(self): return "<Figure>"
Plot()`

/** The most that a text block takes on the wire. */
const CAP = 32 * 1024
const textIn = ({ content }: ToolResult) => content[0]!.text!
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** The calls that a text offers, as they stand there. */
const stepsIn = (text: string) =>
  [...text.matchAll(/^- (\w+)(?: (\{.*\}))?: /gm)].map(([, tool, given]) => ({
    tool: tool!,
    input: JSON.parse(given ?? '{}') as Record<string, unknown>,
  }))

describe.each(mcpClients)('%s', (_name, connect) => {
  let models: ConnectedClient
  let programs: ConnectedClient
  beforeAll(async () => {
    models = await connect(new URL(`${origin}/mcp/sandboxes`))
    programs = await connect(new URL(`${origin}/mcp/all`))
  })
  afterAll(() => Promise.all([models.close(), programs.close()]))
  const ask = (client: ConnectedClient, name: string, input: Record<string, unknown> = {}) =>
    client.callTool({ name, arguments: { access_token: token, ...input } })

  test('default: a plot is a picture, and stands as base64 nowhere else', async () => {
    for (const client of [models, programs]) {
      const result = await ask(client, 'run_code', { sandbox_id, code: plotOf(PNG) })
      const [text, picture, ...others] = result.content as {
        type: string
        data?: string
        mimeType?: string
      }[]
      expect(others).toEqual([])
      expect(picture).toEqual({ type: 'image', mimeType: 'image/png', data: PNG.toString('base64') })
      expect(JSON.stringify([text, result.structuredContent])).not.toContain(PNG.toString('base64', 0, 60))
      expect(textIn(result)).toContain('<Figure>')
    }
  })

  test('default: output is in the text, whole, for clients that show a model nothing else', async () => {
    const result = await ask(models, 'exec_command', {
      sandbox_id,
      command: 'echo one; echo two >&2; exit 3',
    })
    expect(result.structuredContent).toBeUndefined()
    expect(textIn(result)).toMatch(/exit_code: 3\n.*stdout:\none\nstderr:\ntwo/s)
    const data = await ask(programs, 'exec_command', { sandbox_id, command: 'echo one' })
    expect(data.structuredContent).toMatchObject({ stdout: 'one\n', exit_code: 0, next_steps: [] })
  })

  test('behavior: 4 MB of output are 32 kB, and what was cut is read on where it ended', async () => {
    const command = `seq 1 100000; seq 1 500000`
    const all = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('')
    const result = await ask(models, 'exec_command', { sandbox_id, command })
    expect(bytesOf(result)).toBeLessThan(CAP)
    expect(textIn(result)).toContain('truncated: true')
    const [cut, path] = /\[stdout: .* bytes are shown; all of it is in (\S+)\]/.exec(textIn(result))!
    expect([cut, path]).toBeDefined()
    let [read, text] = [/stdout:\n([\d\n]+)\n\[/.exec(textIn(result))![1]!, textIn(result)]
    while (read.length < 100_000) {
      const [step] = stepsIn(text)
      expect(step!.tool).toBe('read_file')
      const more = await ask(models, step!.tool, step!.input)
      expect(bytesOf(more.content[0])).toBeLessThan(CAP)
      text = textIn(more)
      read += `\n${/^content:\n([\d\n]+?)\n(?=Next:|$)/m.exec(text)![1]!}`
    }
    // Between two parts there is a line break too many at most.
    expect(all.replaceAll('\n', '').startsWith(read.replaceAll('\n', '').slice(0, 100_000))).toBe(true)
  })

  test('behavior: beside structured content the text has no long output twice', async () => {
    const result = await ask(programs, 'exec_command', { sandbox_id, command: 'seq 1 5000' })
    const { stdout } = result.structuredContent as { stdout: string }
    expect(stdout).toMatch(/^1\n2\n[\s\S]*\n5000\n$/)
    expect(textIn(result)).toMatch(
      /\n1\n2\n[\s\S]* bytes in between are in the structured content alone[\s\S]*\n5000/,
    )
    expect(textIn(result).length).toBeLessThan(stdout.length * 0.7)
  })

  test('behavior: control characters, which take six bytes each, are no way round the cap', async () => {
    const result = await ask(models, 'exec_command', { sandbox_id, command: 'head -c 200000 /dev/zero' })
    expect(bytesOf(result)).toBeLessThan(CAP + 1000)
  })

  test('default: who asks for more gets more', async () => {
    const command = `head -c 300000 /dev/zero | tr '\\0' x`
    const result = await ask(models, 'exec_command', { sandbox_id, command, max_output: 400_000 })
    expect(textIn(result)).toContain('x'.repeat(300_000))
    expect(textIn(result)).not.toContain('bytes are shown')
  })

  test('behavior: a task is read by its offsets, without a gap', async () => {
    const begun = await ask(models, 'exec_command', {
      sandbox_id,
      command: `seq -w 1 20000`,
      background: true,
    })
    let [step] = stepsIn(textIn(begun))
    let read = ''
    // While it runs, an answer may bring no more than a few lines.
    for (let calls = 0; step && calls < 1_000; calls++) {
      expect(step.tool).toBe('get_task')
      const result = await ask(models, step.tool, step.input)
      expect(bytesOf(result)).toBeLessThan(CAP)
      read += /stdout:\n([\d\n]*?)\n(?=\[|Next:|$)/.exec(`${textIn(result)}\n`)?.[1] ?? ''
      ;[step] = stepsIn(textIn(result))
    }
    expect(read.replaceAll('\n', '').length).toBe(20_000 * 5)
    expect(read.replaceAll('\n', '').startsWith('0000100002')).toBe(true)
  })

  test('behavior: long results of code are cut too, and kept in files', async () => {
    const code = `
class Table:
    def __repr__(self): return "y" * 50_000
    def _repr_html_(self): return "<td>" * 50_000
print("x" * 50_000)
Table()`
    const result = await ask(models, 'run_code', { sandbox_id, code })
    expect(bytesOf(result)).toBeLessThan(CAP)
    const steps = stepsIn(textIn(result))
    expect(steps.map(({ tool }) => tool)).toEqual(['read_file', 'read_file', 'read_file'])
    for (const [index, letter] of ['x', 'y', '<td>'].entries())
      expect(textIn(await ask(models, steps[index]!.tool, steps[index]!.input))).toContain(
        letter.repeat(1000),
      )
  })

  test('default: a long file is its beginning, a link, and the call that reads on', async () => {
    const lines = Array.from({ length: 60_000 }, (_, index) => `line ${index} ä\n`).join('')
    await service.tool(
      'write_file',
      { sandbox_id, path: 'long.csv', content: lines.slice(0, 700_000) },
      { token },
    )
    const result = await ask(models, 'read_file', { sandbox_id, path: 'long.csv' })
    const link = result.content[1] as unknown as { uri: string }
    expect(link).toMatchObject({ type: 'resource_link', name: 'long.csv', mimeType: 'text/csv' })
    expect(await (await fetch(link.uri)).text()).toBe(lines.slice(0, 700_000))
    let text = ''
    let next = stepsIn(textIn(result))
    let shown = textIn(result)
    for (let calls = 0; calls < 3; calls++) {
      text += /content:\n([\s\S]*?)\nNext:/.exec(shown)![1]
      expect(next[0]).toMatchObject({ tool: 'read_file', input: { path: 'long.csv' } })
      shown = textIn(await ask(models, 'read_file', next[0]!.input))
      next = stepsIn(shown)
    }
    expect(lines.replaceAll('\n', '').startsWith(text.replaceAll('\n', ''))).toBe(true)
    expect(text.length).toBeGreaterThan(60_000)
  })

  test('default: a picture in a file is a picture, and other bytes are a link', async () => {
    const write = (path: string, bytes: Buffer) =>
      service.tool('write_file', { sandbox_id, path, content_base64: bytes.toString('base64') }, { token })
    await write('plot.png', PNG)
    const picture = await ask(models, 'read_file', { sandbox_id, path: 'plot.png' })
    expect(picture.content.slice(1)).toMatchObject([
      { type: 'image', mimeType: 'image/png', data: PNG.toString('base64') },
      { type: 'resource_link', mimeType: 'image/png', size: PNG.length },
    ])
    const archive = randomBytes(400_000)
    await write('a.tar.gz', archive)
    const other = await ask(models, 'read_file', { sandbox_id, path: 'a.tar.gz' })
    expect(bytesOf(other)).toBeLessThan(6000)
    const link = other.content[1] as unknown as { uri: string }
    expect(link).toMatchObject({ mimeType: 'application/gzip', size: 400_000 })
    expect(Buffer.from(await (await fetch(link.uri)).arrayBuffer()).equals(archive)).toBe(true)
  })

  test('default: a download link is a link, with type and size where the file is there', async () => {
    await service.tool('write_file', { sandbox_id, path: 'a.json', content: '{}' }, { token })
    const result = await ask(models, 'get_download_url', { sandbox_id, path: 'a.json' })
    const link = result.content[1] as unknown as { uri: string }
    expect(link).toMatchObject({
      type: 'resource_link',
      mimeType: 'application/json',
      size: 2,
      name: 'a.json',
    })
    expect(textIn(result)).toContain(link.uri)
    const later = await ask(models, 'get_download_url', { sandbox_id, path: 'later' })
    expect(later.content[1]).not.toHaveProperty('size')
  })

  test('default: what is shown once, and where to pay, is in both', async () => {
    const { token: other } = await service.customer(10_000_000n)
    const as = (name: string, input: Record<string, unknown> = {}) =>
      models.callTool({ name, arguments: { access_token: other, ...input } })
    const topup = await as('topup_balance', { amount: 5 })
    const { checkout_url, invoice } = topup.structuredContent as Record<string, never> & {
      checkout_url: string
      invoice: { id: string }
    }
    expect(textIn(topup)).toContain(checkout_url)
    expect(textIn(topup)).toContain(invoice.id)
    await as('order_vps', { product: 'nano', os_id: 1 })
    await service.reconcile()
    const vps = await as('get_vps_status', {})
    const { root_password, ssh } = vps.structuredContent as {
      root_password: string
      ssh: { command: string }
    }
    expect(textIn(vps)).toContain(root_password)
    expect(textIn(vps)).toContain(ssh.command)
    const made = await as('create_token', { scopes: ['read'] })
    expect(textIn(made)).toContain((made.structuredContent as { token: string }).token)
  })

  test('behavior: a page that is too long has fewer items, and leads to all of them', async () => {
    const { token: other, accountId } = await service.customer()
    for (let count = 0; count < 12; count++) {
      const body = { subject: `${count}`, body: 'x' }
      await service.ask('POST', '/tickets', { token: other, body })
    }
    await service.services.db.query(
      `update ticket set subject = subject || repeat('z', 8000) where account_id = $1`,
      [accountId],
    )
    const list = await models.callTool({ name: 'list_tickets', arguments: { access_token: other } })
    expect(bytesOf(list.content)).toBeLessThan(CAP + 1000)
    const { items, next_steps } = list.structuredContent as {
      items: { id: string }[]
      next_steps: { tool: string; arguments: Record<string, unknown> }[]
    }
    const [step] = next_steps
    const again = await models.callTool({
      name: step!.tool,
      arguments: { access_token: other, ...step!.arguments },
    })
    const page = again.structuredContent as { items: { id: string }[]; next_cursor: string }
    expect(page.items.map(({ id }) => id)).toEqual(items.map(({ id }) => id))
    expect(page.next_cursor).toEqual(expect.any(String))
  })
})

describe('inside a VPS', () => {
  const ask = (name: string, input: Record<string, unknown>) =>
    service.tool(name, { service_id, ...input }, { token })

  test('behavior: long output is kept in a file of root, and read on', async () => {
    const { body } = await ask('run_on_vps', { command: 'seq 1 20000' })
    expect(body.cut).toMatchObject([{ part: 'stdout', path: expect.stringMatching(/^\/root\/\.coinrack\//) }])
    const [step] = body.next_steps
    expect(step).toMatchObject({ tool: 'read_vps_file', arguments: { offset: body.cut[0].shown } })
    const more = await ask(step.tool, step.arguments)
    const all = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('')
    expect(all.startsWith(body.stdout + more.body.content)).toBe(true)
  })

  test('behavior: REST answers what it always did', async () => {
    const run = await service.ask('POST', `/services/${service_id}/exec`, {
      token,
      body: { command: 'seq 1 20000' },
    })
    expect(run.body.stdout).toHaveLength(108_894)
    expect(run.body).not.toHaveProperty('cut')
    const plot = await service.ask('POST', `/sandboxes/${sandbox_id}/run`, {
      token,
      body: { code: plotOf(PNG) },
    })
    expect(plot.body.results[0].data['image/png']).toBe(PNG.toString('base64'))
    expect(plot.body).not.toHaveProperty('cut')
  })
})
