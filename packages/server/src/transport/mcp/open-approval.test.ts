import { freePort } from '@coinrack/host/free-port.ts'
import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decide } from '../../approvals/decide-approval.ts'
import { inTransaction } from '../../database/transaction.ts'
import { startTestService, type TestService } from '../../process/testing.ts'

/*
 * What a client that opens pages for its user is asked, when a person has to approve a call; and what all others are told.
 */

const ORDER = { name: 'order_vps', arguments: { product: 'nano', os_id: 1, hostname: 'web' } }

let service: TestService
let endpoint: URL
beforeAll(async () => {
  const port = await freePort()
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: `http://127.0.0.1:${port}` } })
  await service.app.listen({ host: '127.0.0.1', port })
  endpoint = new URL(`http://127.0.0.1:${port}/mcp`)
})
afterAll(() => service.close())

/** A client of an agent with a limit. */
async function connect(
  capabilities: ClientCapabilities,
  mode: 'auto' | 'legacy',
  user: (page: { url: string; message: string }) => Promise<'accept' | 'decline'>,
) {
  const owner = await service.customer(10_000_000n)
  const { body } = await service.ask('POST', '/tokens', {
    token: owner.token,
    body: { budget: { approve_above: { per_call: '1.00' } } },
  })
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, ...(mode === 'auto' && { versionNegotiation: { mode } }) },
  )
  if (capabilities.elicitation)
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: await user(params as unknown as { url: string; message: string }),
    }))
  const headers = { authorization: `Bearer ${body.token}` }
  await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit: { headers } }))
  const call = async () => {
    const result = await client.callTool(ORDER)
    const [content] = result.content as { text: string }[]
    const isError = result.isError === true
    // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
    return { isError, body: (isError ? JSON.parse(content!.text) : result.structuredContent) as any }
  }
  const balance = async () => (await service.ask('GET', '/balance', { token: owner.token })).body.balance
  return { client, call, balance }
}

const idIn = (url: string) => /apr_\w+$/.exec(url)![0]
const decideSoon = (url: string, status: 'approved' | 'denied') =>
  setTimeout(() => {
    void inTransaction(service.services.db, (tx) =>
      decide(tx, service.services, idIn(url), { status, provenAt: service.clock.now() }),
    )
  }, 300)

const opensPages: ClientCapabilities = { elicitation: { url: {} } }

test('default: the client opens the page, and the call waits for the decision and goes on', async () => {
  const pages: { url: string; message: string }[] = []
  const { client, call, balance } = await connect(opensPages, 'auto', async (page) => {
    pages.push(page)
    decideSoon(page.url, 'approved')
    return 'accept'
  })
  expect(await call()).toMatchObject({ isError: false, body: { status: 'provisioning', total: '3.00' } })
  expect(pages).toEqual([
    {
      mode: 'url',
      url: expect.stringMatching(/\/approvals\/apr_\w+$/),
      message: expect.stringMatching(/^3\.00 USD are to be spent: VPS nano web, one month\./),
    },
  ])
  expect(await balance()).toBe('7.00')
  await client.close()
})

test('behavior: a denial is the error of the tool', async () => {
  const { client, call, balance } = await connect(opensPages, 'auto', async ({ url }) => {
    decideSoon(url, 'denied')
    return 'accept'
  })
  expect(await call()).toMatchObject({
    isError: true,
    body: { code: 'approval_needed', approval_status: 'denied' },
  })
  expect(await balance()).toBe('10.00')
  await client.close()
})

test('behavior: who does not open the page is told how to go on', async () => {
  const { client, call } = await connect(opensPages, 'auto', async () => 'decline')
  expect(await call()).toMatchObject({
    isError: true,
    body: {
      code: 'approval_needed',
      approval_status: 'pending',
      next_steps: [{ tool: 'get_approval', arguments: { wait: 'decided' } }],
    },
  })
  await client.close()
})

test.each([
  ['a client of the newest revision that shows forms alone', { elicitation: { form: {} } }, 'auto'],
  ['a client that asks its user nothing', {}, 'auto'],
  ['a client of 2025, whose capabilities are not told with the call', opensPages, 'legacy'],
] as const)('behavior: %s gets the error of the tool', async (_who, capabilities, mode) => {
  const { client, call } = await connect(capabilities, mode, () => {
    throw new Error('It is not asked')
  })
  expect(await call()).toMatchObject({
    isError: true,
    body: { code: 'approval_needed', approval_url: expect.stringContaining('/approvals/apr_') },
  })
  await client.close()
})
