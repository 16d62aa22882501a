import { operationList } from '@coinrack/contract/index.ts'
import { resourceInput, toolName } from '@coinrack/contract/operation.ts'
import { ErrorBody } from '@coinrack/contract/wire.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type ConnectedClient, inspect, mcpClients, type ToolResult } from './testing-mcp.ts'

/*
 * Programs get all of an error through each of the clients that there are.
 */

/** How the inspector ends after a result with isError. */
const TOOL_REFUSED = 5

let service: TestService
let endpoint: URL
let owner: { token: string; accountId: string }
let stranger: { token: string; accountId: string }
/** Has a balance, the only sandbox that it may make in an hour, and an unpaid top-up. */
let rich: { token: string; accountId: string }

beforeAll(async () => {
  const port = await freePort()
  service = await startTestService({
    env: {
      COINRACK_RATE_REGISTER: '1000/min',
      COINRACK_RATE_LOGIN: '100000/min',
      COINRACK_RATE_DEFAULT: '100000/min',
      COINRACK_RATE_ORDERS: '100000/min',
      COINRACK_RATE_TOPUPS: '100000/min',
      COINRACK_RATE_PASSWORD_RESETS: '100000/min',
      COINRACK_RATE_REINSTALLS: '100000/min',
      COINRACK_RATE_SANDBOXES: '1/h',
      COINRACK_PUBLIC_URL: `http://127.0.0.1:${port}`,
    },
    driver: { capacity: { vcpus: 64, memoryMb: 1600, diskGb: 1000 } },
  })
  await service.app.listen({ host: '127.0.0.1', port })
  // Its list has the output schemas, against which clients check what they get.
  endpoint = new URL(`http://127.0.0.1:${port}/mcp/all`)
  owner = await service.customer()
  stranger = await service.customer()
  rich = await service.customer(100_000_000n)
  const call = (name: string, input: object) => service.tool(name, { ...input }, { token: rich.token })
  await call('create_sandbox', {})
  await call('topup_balance', { amount: 5 })
})
afterAll(() => service.close())

/** An error of each kind: who asks for what. */
const kinds: {
  status: number
  code: string
  name: string
  input?: () => Record<string, unknown>
  who?: () => { token: string } | undefined
  more?: object
}[] = [
  { status: 401, code: 'unauthorized', name: 'get_balance' },
  {
    status: 402,
    code: 'insufficient_balance',
    name: 'order_vps',
    input: () => ({ product: 'nano', os_id: 1 }),
    who: () => owner,
    more: {
      shortfall: '3.00',
      invoice: { id: expect.stringMatching(/^inv_/), checkout_url: expect.stringContaining('/checkout/') },
    },
  },
  {
    status: 403,
    code: 'not_owner',
    name: 'revoke_token',
    input: () => ({ token_id: tokenOf.owner }),
    who: () => stranger,
  },
  {
    status: 404,
    code: 'not_found',
    name: 'get_vps_status',
    input: () => ({ service_id: 'vps_0' }),
    who: () => owner,
  },
  {
    status: 409,
    code: 'topup_pending',
    name: 'topup_balance',
    input: () => ({ amount: 5 }),
    who: () => rich,
    more: { invoice: { id: expect.stringMatching(/^inv_/) } },
  },
  {
    status: 422,
    code: 'invalid_input',
    name: 'order_vps',
    input: () => ({ product: 'nano' }),
    who: () => rich,
    more: { details: [{ path: 'os_id', message: expect.any(String) }] },
  },
  {
    status: 429,
    code: 'rate_limited',
    name: 'create_sandbox',
    who: () => rich,
  },
  {
    status: 503,
    code: 'capacity',
    name: 'order_vps',
    input: () => ({ product: 'small', os_id: 1 }),
    who: () => rich,
  },
]
const tokenOf = { owner: '' }
beforeAll(async () => {
  tokenOf.owner = (await service.ask('GET', '/account', { token: owner.token })).body.token.id
})

/** The body of an error, which stands in the text, and only there unless the output schema of the tool has room for it. */
function errorOf({ isError, content, structuredContent }: ToolResult) {
  expect(isError).toBe(true)
  expect(structuredContent).toBeUndefined()
  const body = ErrorBody.parse(JSON.parse(content[0]!.text!))
  expect(body.message).not.toBe('')
  expect(body.fix).toMatch(/\.$/)
  return body
}

describe.each(mcpClients)('%s', (_name, connect) => {
  let client: ConnectedClient
  beforeAll(async () => {
    client = await connect(endpoint)
  })
  afterAll(() => client.close())

  const fail = async (name: string, input: Record<string, unknown>, who?: { token: string }) =>
    errorOf(await client.callTool({ name, arguments: { ...input, ...(who && { access_token: who.token }) } }))

  test.each(kinds)(
    'error: $status $code of $name arrives whole',
    async ({ code, name, input, who, more = {} }) => {
      expect(await fail(name, input?.() ?? {}, who?.())).toMatchObject({ code, ...more })
    },
  )

  test('error: every tool that needs a token says so without one, by each of its names', async () => {
    for (const [operation, op] of operationList) {
      if (op.access === 'public' || op.openAsTool) continue
      for (const name of [toolName(operation), ...(op.tools ?? [])])
        expect(await fail(name, { ...op.example }), name).toMatchObject({ code: 'unauthorized' })
    }
  })

  test('error: every tool of one thing says that there is no such thing', async () => {
    for (const [operation, op] of operationList) {
      if (!op.resource) continue
      const input = { ...op.example, [resourceInput(op.resource)]: 'nothing' }
      expect(await fail(toolName(operation), input, stranger), operation).toMatchObject({ code: 'not_found' })
    }
  })

  test('error: every tool says what is wrong with its input', async () => {
    for (const [operation, op] of operationList) {
      if (op.resource) continue
      const input = { ...op.example, no_such_field: 1 }
      const refused = await fail(toolName(operation), input, op.access === 'public' ? undefined : owner)
      expect(refused, operation).toMatchObject({
        code: 'invalid_input',
        details: [{ path: 'no_such_field' }],
      })
    }
  })

  test('error: a tool that does not exist', async () => {
    expect(await fail('no_such_tool', {})).toMatchObject({ code: 'unknown_operation' })
  })
})

test("error: one of each kind arrives whole by the inspector's command line, beside an answer that is none", async () => {
  const calls = kinds.map(({ name, input, who }) => ({
    name,
    input: { ...input?.(), ...(who && { access_token: who()!.token }) },
  }))
  const [balance, ...refused] = await inspect(endpoint, [
    { name: 'get_balance', input: { access_token: rich.token } },
    ...calls,
  ])
  expect(balance).toMatchObject({ exitCode: 0, result: { structuredContent: { currency: 'USD' } } })
  expect(refused.map(({ exitCode }) => exitCode)).toEqual(kinds.map(() => TOOL_REFUSED))
  expect(refused.map(({ result }) => errorOf(result!))).toMatchObject(
    kinds.map(({ code, more = {} }) => ({ code, ...more })),
  )
})
