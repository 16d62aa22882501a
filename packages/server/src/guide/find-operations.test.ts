import { operationList } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import { subjectNames } from '@coinrack/contract/subjects.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'

let service: TestService
let token: string
beforeAll(async () => {
  service = await startTestService()
  token = (await service.customer()).token
})
afterAll(() => service.close())

const find = async (input: Record<string, string | number> = {}) => {
  const query = new URLSearchParams(input as Record<string, string>)
  const { status, body } = await service.ask('GET', `/catalog/operations?${query}`, { token })
  return { status, body }
}
const names = ({ body }: { body: { operations: { name: string }[] } }) =>
  body.operations.map(({ name }) => name)

/** Everything that is found, part by part. */
async function findAll(input: Record<string, string | number>) {
  const parts: Awaited<ReturnType<typeof find>>['body'][] = []
  for (let cursor: string | undefined; parts.length < 100; ) {
    const { body } = await find({ ...input, ...(cursor === undefined ? {} : { cursor }) })
    parts.push(body)
    cursor = body.next_cursor
    if (cursor === undefined) break
  }
  return parts
}

describe('by words', () => {
  test.each([
    ['snapshot a vps', 'create_snapshot'],
    ['open a port on my VPS', 'open_port'],
    ['webhooks', 'create_webhook'],
    ['get my money back', 'request_refund'],
    ['set a new password', 'set_password'],
    ['stored SSH keys', 'list_ssh_keys'],
    ['upload a large file', 'get_upload_url'],
    ['bigger plan', 'change_plan'],
    ['a token with a budget', 'create_token'],
    ['firewal rules', 'set_firewall'],
    ['orders', 'list_orders'],
    ['run a command on a VPS', 'run_on_vps'],
  ])('default: "%s" finds %s', async (query, name) => {
    expect(names(await find({ query, limit: 6 }))).toContain(name)
  })

  test('behavior: words of no operation find none, and the next step is to see them all', async () => {
    const { body } = await service.tool('find_operations', { query: 'xylophone' })
    expect(body).toMatchObject({ operations: [], total: 0 })
    expect(body.next_steps[0]).toMatchObject({ tool: 'find_operations', arguments: {} })
    const [{ tool, arguments: input }] = body.next_steps
    expect((await service.tool(tool, input)).body.operations.length).toBeGreaterThan(10)
  })

  test('behavior: as a tool it needs no token', async () => {
    expect(
      (await service.tool('find_operations', { query: 'list the plans' })).body.operations[0],
    ).toMatchObject({
      name: 'list_plans',
      rest: 'GET /products',
      effect: 'read',
    })
  })
})

test('default: by subject, all of them, and part by part nothing is missing', async () => {
  const all: string[] = []
  for (const subject of subjectNames)
    for (const part of await findAll({ subject, limit: 7 })) all.push(...names({ body: part }))
  const expected = operationList.map(([name]) => toolName(name)).filter((name) => name !== 'call_operation')
  expect(all.sort()).toEqual(expected.sort())
})

test('behavior: a list has one sentence for each, a schema all that a call needs', async () => {
  const [listed] = (await find({ query: 'create snapshot of a vps' })).body.operations
  expect(listed.description).toMatch(/^[^.]*\.$/)
  expect(listed).not.toHaveProperty('input_schema')
  const described = await find({ query: 'order_vps', format: 'schema', limit: 1 })
  expect(described.body.operations[0]).toMatchObject({
    name: 'order_vps',
    input_schema: { properties: { product: { type: 'string' } }, required: ['product', 'os_id'] },
  })
})

test.each(['list', 'schema', 'typescript'])('behavior: each part of all, as %s, is small', async (format) => {
  const parts = await findAll({ format, limit: 100 })
  for (const part of parts) expect(JSON.stringify(part).length).toBeLessThan(30_000)
  expect(parts.at(-1)).not.toHaveProperty('next_cursor')
})

test('default: typescript declares what was found, as methods of a global', async () => {
  const { body } = await find({ query: 'power_vps', format: 'typescript', limit: 1 })
  expect(body.operations).toEqual([])
  expect(body.declaration).toContain('declare const coinrack: Coinrack.Client')
  expect(body.declaration).toMatch(/powerVps\(input: \{[^}]*action: "start" \| "stop"/)
  expect(body.declaration).not.toContain('orderVps')
})

test('error: a cursor that no answer gave', async () => {
  const { status, body } = await find({ query: 'webhook', cursor: 'order_vps' })
  expect([status, body.code, body.details[0].path]).toEqual([422, 'invalid_input', 'cursor'])
})

test('error: a subject that there is not, with those that there are', async () => {
  const { status, body } = await find({ subject: 'Machines' })
  expect([status, body.code]).toEqual([422, 'invalid_input'])
  expect(body.message).toContain('Sandboxes')
})
