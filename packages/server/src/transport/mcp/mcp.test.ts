import { ErrorBody } from '@coinrack/contract/wire.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'

/*
 * The agent endpoint as an agent meets it: the real client, over real HTTP, knowing nothing but the address.
 */

let service: TestService
let endpoint: URL
/** With their output schemas. */
let allTools: Tool[]
beforeAll(async () => {
  const port = await freePort()
  service = await startTestService({
    env: {
      COINRACK_RATE_REGISTER: '1000/min',
      COINRACK_PUBLIC_URL: `http://127.0.0.1:${port}`,
      COINRACK_SANDBOXES: 'true',
    },
  })
  await service.app.listen({ host: '127.0.0.1', port })
  endpoint = new URL(`http://127.0.0.1:${port}/mcp`)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp/all', endpoint)))
  allTools = (await client.listTools()).tools
  await client.close()
})
afterAll(() => service.close())

async function connect(options: { mode?: 'auto'; token?: string } = {}): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    options.mode ? { versionNegotiation: { mode: options.mode } } : {},
  )
  const headers: Record<string, string> = options.token ? { authorization: `Bearer ${options.token}` } : {}
  await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit: { headers } }))
  return client
}

/** A result whose structured content was checked against the schema that the list of all tools promises. */
async function call(client: Client, name: string, input: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: input })
  const [content] = result.content as { type: string; text: string }[]
  const body = result.isError
    ? JSON.parse(content!.text)
    : // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
      (result.structuredContent as any)
  if (!result.isError) {
    expect(content!.text).not.toBe('')
    const schema = allTools.find((tool) => tool.name === name)!.outputSchema!
    const checked = new AjvJsonSchemaValidator().getValidator(schema as never)(body)
    expect(checked.errorMessage).toBeUndefined()
    expect(checked.valid).toBe(true)
  }
  return { isError: result.isError === true, body }
}

describe.each([
  ['by the handshake of 2025', undefined, /^2025-/],
  ['by the newest revision', 'auto', /^2026-/],
] as const)('%s', (_way, mode, revision) => {
  const open = (token?: string) => connect({ ...(mode ? { mode } : {}), ...(token ? { token } : {}) })

  test('default: the revision is agreed on', async () => {
    const client = await open()
    expect(client.getNegotiatedProtocolVersion()).toMatch(revision)
    expect(client.getServerVersion()).toMatchObject({ name: 'coinrack' })
    expect(client.getInstructions()).toContain('get_started')
    await client.close()
  })

  test('default: the flow of get_started, from registration to the ssh command', async () => {
    const client = await open()
    const { tools } = await client.listTools()
    const use = (name: string, input?: Record<string, unknown>) => call(client, name, input)

    const guide = await use('get_started')
    expect(guide.body.sandbox_flow[0]).toMatchObject({ step: 1, tool: 'create_sandbox' })
    expect(guide.body.you_are_here).toMatchObject({
      authenticated: false,
      balance: null,
      next: { tool: 'register_account' },
    })
    for (const { tool } of [...guide.body.flow, ...guide.body.sandbox_flow])
      expect(tools.map(({ name }) => name)).toContain(tool)

    const session = await use('register_account', { email: `agent-${mode ?? 'legacy'}@rackmail.net` })
    const access_token = session.body.token
    const plans = await use('list_plans')
    const { slug: product, os_images } = plans.body.items[0]
    const wanted = { product, os_id: os_images[0].os_id, access_token }

    const unpaid = await use('order_vps', wanted)
    expect(unpaid).toMatchObject({ isError: true, body: { code: 'insufficient_balance', shortfall: '3.00' } })
    const topup = await use('topup_balance', { amount: 5, access_token })
    const [wait] = topup.body.next_steps
    expect(wait).toMatchObject({
      tool: 'get_invoice',
      arguments: { invoice_id: topup.body.invoice.id, wait: 'paid' },
    })
    expect((await use('get_invoice', { ...wait.arguments, timeout: 1, access_token })).body.status).toBe(
      'unpaid',
    )

    await service.credit(session.body.account.id, 5_000_000n)
    const order = await use('order_vps', wanted)
    expect(order).toMatchObject({ isError: false, body: { status: 'provisioning', balance: '2.00' } })
    const [next] = order.body.next_steps
    const ready = use(next.tool, { ...next.arguments, access_token })
    await service.reconcile()
    const vps = await ready
    expect(vps.body).toMatchObject({ ssh_ready: true, root_password: expect.any(String) })
    expect(vps.body.ssh.command).toMatch(/^ssh -p \d+ root@127\.0\.0\.1$/)

    const here = await use('get_started', { access_token })
    expect(here.body.you_are_here).toMatchObject({
      authenticated: true,
      live_vps: 1,
      live_sandboxes: 0,
      next: { tool: 'list_vps' },
    })
    await client.close()
  })

  test('behavior: the Authorization header wins over access_token', async () => {
    const [one, two] = [await service.customer(), await service.customer()]
    const client = await open(one.token)
    expect((await call(client, 'whoami')).body.id).toBe(one.accountId)
    expect((await call(client, 'whoami', { access_token: two.token })).body.id).toBe(one.accountId)
    await client.close()
    const plain = await open()
    expect((await call(plain, 'whoami', { access_token: two.token })).body.id).toBe(two.accountId)
    await plain.close()
  })

  test('error: without a token: code, fix, and what to call next', async () => {
    const client = await open()
    const { isError, body } = await call(client, 'get_balance')
    expect(isError).toBe(true)
    expect(ErrorBody.parse(body).code).toBe('unauthorized')
    expect(body.next_steps.map(({ tool }: { tool: string }) => tool)).toContain('register_account')
    await client.close()
  })

  test('error: what the input lacks is named', async () => {
    const { token } = await service.customer()
    const client = await open(token)
    const { isError, body } = await call(client, 'order_vps', { product: 'nano' })
    expect(isError).toBe(true)
    expect(body).toMatchObject({
      code: 'invalid_input',
      details: [{ path: 'os_id', message: expect.any(String) }],
    })
    await client.close()
  })
})

describe('by plain HTTP', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    })
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

  test('error: JSON that cannot be read, without a word of the inside', async () => {
    const response = await post('{"jsonrpc": ')
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { code: number; message: string } }
    expect(error.code).toBe(-32_700)
    expect(error.message).not.toMatch(/node_modules|\.ts:/)
  })

  test('error: a method that does not exist', async () => {
    const response = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/destroy' }))
    expect(await response.text()).toContain('-32601')
  })

  test('error: a page of another origin', async () => {
    expect((await post(list, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post(list, { origin: 'null' })).status).toBe(403)
    expect((await post(list, { origin: endpoint.origin })).status).toBe(200)
  })

  test('error: a body over 1 MiB', async () => {
    expect((await post(`{"x":"${'x'.repeat(1024 * 1024)}"}`)).status).toBe(413)
  })

  test('error: GET: there are no sessions', async () => {
    expect((await fetch(endpoint)).status).toBe(405)
  })

  test('behavior: a hundred calls at the same moment answer each its own', async () => {
    const customers: Awaited<ReturnType<TestService['customer']>>[] = []
    for (let made = 0; made < 20; made++) customers.push(await service.customer())
    const all = await Promise.all(
      customers.flatMap(({ token, accountId }) =>
        Array.from({ length: 5 }, async () => ({
          accountId,
          answer: await service.tool('whoami', {}, { token }),
        })),
      ),
    )
    for (const { accountId, answer } of all) expect(answer.body.id).toBe(accountId)
  })
})

describe('beside it', () => {
  test('default: /.well-known/mcp.json, /llms.txt, /docs and openapi.json name the public address', async () => {
    const origin = endpoint.origin
    const read = async (path: string) =>
      (await fetch(origin + path, { headers: { host: 'evil.example' } })).text()
    expect(JSON.parse(await read('/.well-known/mcp.json'))).toMatchObject({ url: `${origin}/mcp` })
    expect(await read('/llms.txt')).toContain(`${origin}/mcp`)
    expect(await read('/docs')).toContain(`${origin}/mcp`)
    const document = JSON.parse(await read('/api/v1/eqvps/openapi.json'))
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.0' },
      servers: [{ url: `${origin}/api/v1/eqvps` }],
    })
  })

  test('default: /healthz is 200; /readyz says no more than whether all is ready', async () => {
    const read = async (path: string) => {
      const response = await fetch(endpoint.origin + path)
      return [response.status, await response.json()]
    }
    expect(await read('/healthz')).toEqual([200, { status: 'ok' }])
    expect(await read('/readyz')).toEqual([200, { status: 'ready' }])
    await service.hostSays({ images: [{ slug: 'debian-12', state: 'building', detail: 'Unpacking' }] })
    expect(await read('/readyz')).toEqual([503, { status: 'not ready' }])
    await service.hostSays()
  })

  test('behavior: there is no /demo but in the demo', async () => {
    expect((await fetch(`${endpoint.origin}/demo`)).status).toBe(404)
  })
})
