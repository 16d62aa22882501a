import { type OperationName, operationList } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { mcpAddresses as all } from './addresses.ts'

/*
 * What each address lists: what a model sees of it, and what it may cost there.
 */

/** Those at which anybody can connect; account/oauth has tests of the other one. */
const mcpAddresses = all.filter(({ forGrants }) => !forGrants)
/** The names that the specification lists. */
const NAMED =
  `register_account topup_balance order_vps get_vps_status list_plans login create_sandbox run_code exec_command
  kill_sandbox`.split(/\s+/)

let service: TestService
let origin: string
const lists: Record<string, Tool[]> = {}
beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: origin } })
  await service.app.listen({ host: '127.0.0.1', port })
  for (const { path } of open) lists[path] = await listed(path)
})
afterAll(() => service.close())

async function listed(path: string, token?: string): Promise<Tool[]> {
  const client = await connect(path, token)
  const { tools } = await client.listTools()
  await client.close()
  return tools
}
async function connect(path: string, token?: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  await client.connect(new StreamableHTTPClientTransport(new URL(path, origin), { requestInit: { headers } }))
  return client
}
const namesAt = (path: string) => lists[path]!.map(({ name }) => name)
/** The part of a list that clients put before a model, as JSON. */
const seenAt = (path: string) =>
  JSON.stringify(
    lists[path]!.map(({ name, title, description, inputSchema }) => ({
      ...{ name, title, description },
      inputSchema,
    })),
  )

/** Those that an agent reaches without having signed in; the other one is in `account/oauth`. */
const open = mcpAddresses.filter(({ forGrants }) => !forGrants)

describe('/mcp', () => {
  test('default: at most 26 tools, 16,000 bytes and 4,500 tokens', () => {
    expect(namesAt('/mcp').length).toBeLessThanOrEqual(26)
    expect(Buffer.byteLength(seenAt('/mcp'))).toBeLessThanOrEqual(16_000)
    expect(encode(seenAt('/mcp')).length).toBeLessThanOrEqual(4_500)
  })

  test('default: the ten of the specification are in it, and what leads to the rest', () => {
    const leading = ['get_started', 'find_operations', 'call_operation']
    expect(namesAt('/mcp')).toEqual(expect.arrayContaining([...NAMED, ...leading]))
  })

  test('behavior: what get_started leads to is in it', async () => {
    const { body } = await service.tool('get_started')
    const led = [...body.flow, ...body.sandbox_flow].map(({ tool }: { tool: string }) => tool)
    expect(namesAt('/mcp')).toEqual(expect.arrayContaining(led))
  })

  test('behavior: token and key are bare there, and get_started explains them', async () => {
    for (const { name, inputSchema } of lists['/mcp']!) {
      const { access_token, idempotency_key } = inputSchema.properties as Record<string, object | undefined>
      for (const field of [access_token, idempotency_key])
        expect(field ?? { type: 'string' }, name).toEqual({ type: 'string' })
    }
    const { body } = await service.tool('get_started')
    expect(body.tools).toMatch(/access_token[\s\S]*idempotency_key/)
  })
})

describe.each(open)('$path', ({ path, lists: isListed, takesToken, detailed }) => {
  const here = operationList.filter(([name]) => isListed(name))

  test('default: its operations, in the order of the contract, and nothing else', () => {
    expect(namesAt(path)).toEqual(
      here.flatMap(([name, op]) => [toolName(name), ...((detailed && op.tools) || [])]),
    )
  })

  test('behavior: the same at each time, with a token and without', async () => {
    const { token } = await service.customer()
    expect(JSON.stringify(await listed(path, token))).toBe(JSON.stringify(lists[path]))
  })

  test('behavior: clients may keep it for an hour, whoever they are', async () => {
    const client = await connect(path)
    expect(await client.listTools()).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'public' })
    await client.close()
  })

  test('behavior: what is not in its list can be called all the same', async () => {
    const client = await connect(path)
    const { structuredContent } = await client.callTool({ name: 'list_reviews', arguments: {} })
    expect(structuredContent).toHaveProperty('rating')
    await client.close()
  })

  const toolOf = (name: OperationName) => lists[path]!.find((tool) => tool.name === toolName(name))!

  test('default: each tool says what it does and takes', () => {
    for (const [name, op] of here) {
      const tool = toolOf(name)
      expect(tool.title).toBe(op.summary)
      expect(tool.annotations).toEqual({
        title: op.summary,
        readOnlyHint: op.effect === 'read',
        destructiveHint: op.effect === 'destructive',
        idempotentHint: op.idempotent,
        openWorldHint: op.effect === 'spend',
      })
      expect(op.description).toContain(tool.description!.slice(0, 30))
      expect(tool.description).not.toContain('By REST')
      const { properties } = tool.inputSchema
      expect(Object.keys(properties!)).toEqual(expect.arrayContaining(Object.keys(op.input.shape)))
      expect('access_token' in properties!).toBe(op.access !== 'public' && takesToken)
      expect('idempotency_key' in properties!).toBe(
        (op.access !== 'public' || op.x402 === 'always') && op.method !== 'GET',
      )
    }
  })

  test('behavior: the example of each operation is what its input schema takes', () => {
    for (const [name, op] of here) {
      const validate = new AjvJsonSchemaValidator().getValidator(toolOf(name).inputSchema as never)
      const token = takesToken && op.access !== 'public' && { access_token: 'crk_x' }
      expect([name, validate({ ...op.example, ...token }).errorMessage]).toEqual([name, undefined])
    }
  })

  test(`default: output schemas and examples ${detailed ? 'are' : 'are not'} in it`, () => {
    for (const { inputSchema, outputSchema } of lists[path]!.filter(({ name }) => nameOfTool(name))) {
      expect('examples' in inputSchema).toBe(detailed)
      expect(outputSchema !== undefined).toBe(detailed)
      if (outputSchema) expect(Object.keys(outputSchema.properties!)).toContain('next_steps')
    }
  })
})
const nameOfTool = (tool: string) => operationList.find(([name]) => toolName(name) === tool)?.[0]

test('default: an operation that is sold by subject is in the list of its subject', () => {
  const subjects = ['/mcp/vps', '/mcp/sandboxes', '/mcp/account'].flatMap(namesAt)
  const missing = operationList.filter(([name]) => !subjects.includes(toolName(name)))
  expect(missing).toEqual([])
})

describe('/mcp/all', () => {
  test('behavior: another name of an operation says which one it is', () => {
    const others = operationList.flatMap(([name, op]) =>
      (op.tools ?? []).map((tool) => [tool, `Does the same as ${toolName(name)}.`]),
    )
    for (const [name, description] of others)
      expect(lists['/mcp/all']!.find((tool) => tool.name === name)).toMatchObject({
        title: expect.any(String),
        description,
      })
    expect(others.length).toBeGreaterThan(0)
  })

  test('behavior: reading the status is no read, for it can spend the password', () => {
    const tool = lists['/mcp/all']!.find(({ name }) => name === 'get_vps_status')
    expect(tool?.annotations).toMatchObject({ readOnlyHint: false })
  })

  test('behavior: what another tool reads is described there, whole', () => {
    const named = new Set(JSON.stringify(lists['/mcp/all']).match(/(?<="As from )\w+/g))
    expect(named).toContain('get_operation')
    for (const name of named) {
      const { properties } = lists['/mcp/all']!.find((tool) => tool.name === name)!.outputSchema!
      const { next_steps: _, ...described } = properties as Record<
        string,
        { items?: { properties?: object } }
      >
      expect(Object.keys(described.items?.items?.properties ?? described).length).toBeGreaterThan(3)
    }
  })

  test('behavior: 1600 characters for each tool', () => {
    expect(JSON.stringify(lists['/mcp/all']).length / lists['/mcp/all']!.length).toBeLessThan(1600)
  })
})
