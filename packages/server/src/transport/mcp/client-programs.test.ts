import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { startProxy } from '../testing-proxies.ts'
import { type ClientProgram, clientPrograms } from './testing-clients.ts'
import { inspect, mcpClients, type ToolResult } from './testing-mcp.ts'

/*
 * Client programs as they come, through nginx: each finds its tools, registers, and runs code.
 */

let service: TestService
let proxy: Awaited<ReturnType<typeof startProxy>>
let endpoint: string
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_REGISTER: '1000/min' } })
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
  proxy = await startProxy('nginx', Number(new URL(origin).port))
  endpoint = `http://127.0.0.1:${proxy.port}/mcp`
})
afterAll(async () => {
  await proxy?.stop()
  await service.close()
})

const LISTED = ['get_started', 'list_plans', 'register_account', 'create_sandbox', 'run_code']

// biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
function bodyOf({ isError, content, structuredContent }: ToolResult): any {
  expect(isError ?? false, content[0]?.text).toBe(false)
  return structuredContent ?? content[0]!.text
}

/** What a run wrote, as a model reads it. */
const outputOf = ({ content }: ToolResult) => content[0]!.text

/** From nothing to code that has run, as `get_started` says. */
async function wholeWay(call: ClientProgram['call'], email: string) {
  const guide = bodyOf(await call('get_started', {}))
  expect(guide.you_are_here.next.tool).toBe('register_account')
  expect(bodyOf(await call('list_plans', {})).items.length).toBeGreaterThan(0)
  const { token: access_token, account } = bodyOf(await call('register_account', { email }))
  await service.credit(account.id, 1_000_000n)
  const { id: sandbox_id } = bodyOf(await call('create_sandbox', { access_token }))
  const ran = await call('run_code', { sandbox_id, code: 'print(6 * 7)', access_token })
  expect(outputOf(ran)).toContain('42')
  bodyOf(await call('kill_sandbox', { sandbox_id, access_token }))
}

describe.each(Object.entries(clientPrograms))('%s', (name, connect) => {
  test('default: finds its tools, and goes the whole way with a token of its own', async () => {
    const client = await connect(endpoint)
    expect(await client.tools()).toEqual(expect.arrayContaining(LISTED))
    await wholeWay(client.call, `${name.replaceAll(/\W+/g, '-')}@rackmail.net`)
    await client.close()
  })

  test('default: goes on with a token in a header, at every address that lists it', async () => {
    const { token, accountId } = await service.customer(1_000_000n)
    for (const address of [endpoint, `${endpoint}/sandboxes`, `${endpoint}/all`]) {
      const client = await connect(address, token)
      const { id: sandbox_id } = bodyOf(await client.call('create_sandbox', {}))
      const ran = await client.call('run_code', { sandbox_id, code: 'print(6 * 7)' })
      expect(outputOf(ran)).toContain('42')
      bodyOf(await client.call('kill_sandbox', { sandbox_id }))
      if (!address.endsWith('/sandboxes'))
        expect(bodyOf(await client.call('get_balance', {})).currency).toBe('USD')
      await client.close()
    }
    const { rows } = await service.services.db.query('select from sandbox where account_id = $1', [accountId])
    expect(rows.length).toBe(3)
  })

  test('error: a refusal comes whole', async () => {
    const client = await connect(endpoint)
    const { isError, content } = await client.call('get_balance', {}).catch((error) => {
      // Some hand it to their model as the text of an exception.
      const text = /{.*}/s.exec(String(error))?.[0] ?? String(error)
      return { isError: true, content: [{ type: 'text', text }] }
    })
    expect(isError).toBe(true)
    expect(JSON.parse(content[0]!.text!)).toMatchObject({ code: 'unauthorized', fix: expect.any(String) })
    await client.close()
  })
})

describe.each(mcpClients)('%s', (name, connect) => {
  test('default: goes the whole way', async () => {
    const client = await connect(new URL(endpoint))
    const call: ClientProgram['call'] = (tool, input) => client.callTool({ name: tool, arguments: input })
    await wholeWay(call, `${name.replaceAll(/\W+/g, '-')}@rackmail.net`)
    await client.close()
  })
})

test("default: the inspector's command line goes the whole way", async () => {
  const call: ClientProgram['call'] = async (name, input) =>
    (await inspect(new URL(endpoint), [{ name, input }]))[0]!.result!
  await wholeWay(call, 'inspector@rackmail.net')
}, 120_000)
