import { createServer as createHttpServer, type Server } from 'node:http'
import { freePort } from '@coinrack/host/free-port.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import * as present from '@modelcontextprotocol/client'
import * as earlier from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/*
 * The official client signs in by OAuth, in both eras, and a person lets it in with a real browser.
 */

const CHROMIUM = {
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
}

let service: TestService
let browser: Browser
let origin: string
/** Where the client is called back: what it was called with, by the path. */
let callbacks: Server
let callback: string
const called: URL[] = []

beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: origin, COINRACK_RATE_LOGIN: '1000/min' } })
  await service.app.listen({ host: '127.0.0.1', port })
  callbacks = createHttpServer((request, response) => {
    called.push(new URL(request.url!, 'http://127.0.0.1'))
    response.end('<title>Done</title>You can close this page.')
  })
  const back = await freePort()
  await new Promise<void>((resolve) => callbacks.listen(back, '127.0.0.1', resolve))
  callback = `http://127.0.0.1:${back}/callback`
  browser = await chromium.launch(CHROMIUM)
})
afterAll(async () => {
  await browser?.close()
  callbacks?.close()
  await service?.close()
})

/** Keeps what a client wants kept, and opens pages by `opened`. */
function keeper() {
  const kept: Record<string, unknown> = {}
  const keep = (name: string) => (value: unknown) => {
    kept[name] = value
  }
  return {
    kept,
    redirectUrl: callback,
    clientMetadata: {
      client_name: 'Desk Agent',
      redirect_uris: [callback],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'a state',
    clientInformation: () => kept.client as undefined,
    saveClientInformation: keep('client'),
    tokens: () => kept.tokens as undefined,
    saveTokens: keep('tokens'),
    redirectToAuthorization: keep('authorization'),
    saveCodeVerifier: keep('verifier'),
    codeVerifier: () => kept.verifier as string,
  }
}

/** What stands out of its card. */
const overflowing = () => {
  const { right } = document.querySelector('.card')!.getBoundingClientRect()
  const inside = [...document.querySelectorAll('.card *')]
  return inside.filter((each) => each.getBoundingClientRect().right > right).map((each) => each.outerHTML)
}

interface Connected {
  callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>
  listTools(): Promise<{ tools: { name: string; inputSchema: { properties?: object } }[] }>
  close(): Promise<void>
}

const clients: [
  string,
  (provider: ReturnType<typeof keeper>) => {
    connect(): Promise<Connected>
    finish(params: URLSearchParams): Promise<void>
  },
][] = [
  [
    'the client of today',
    (provider) => {
      const url = new URL(`${origin}/mcp/connect`)
      const transport = () =>
        new present.StreamableHTTPClientTransport(url, { authProvider: provider as never })
      let last = transport()
      return {
        async connect() {
          const client = new present.Client({ name: 'desk', version: '1' })
          last = transport()
          await client.connect(last)
          return client as unknown as Connected
        },
        finish: (params) => last.finishAuth(params),
      }
    },
  ],
  [
    'the client of the 1.x line',
    (provider) => {
      const url = new URL(`${origin}/mcp/connect`)
      const transport = () => new EarlierTransport(url, { authProvider: provider as never })
      let last = transport()
      return {
        async connect() {
          const client = new earlier.Client({ name: 'desk', version: '1' })
          last = transport()
          await client.connect(last as never)
          return client as unknown as Connected
        },
        finish: (params) => last.finishAuth(params.get('code')!),
      }
    },
  ],
]

/** A person who follows the pages; what is loaded from elsewhere is noted. */
async function personAt(url: string): Promise<{ page: Page; elsewhere: string[] }> {
  const page = await (await browser.newContext()).newPage()
  const elsewhere: string[] = []
  page.on('request', (request) => {
    const { origin: from } = new URL(request.url())
    if (from !== origin && from !== new URL(callback).origin) elsewhere.push(request.url())
  })
  await page.goto(url)
  return { page, elsewhere }
}

async function logIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Your e-mail address').fill(email)
  await page.getByRole('button', { name: 'Send a code' }).click()
  await page.getByLabel('The code from the mail').waitFor()
  await page.getByLabel('The code from the mail').fill(/\d{6}/.exec(service.mails.at(-1)!.text)![0])
  await page.getByRole('button', { name: 'Continue' }).click()
}

describe.each(clients)('%s', (name, make) => {
  const email = `${name.replaceAll(/\W/g, '')}@rackmail.net`

  test('default: it is led to the pages, a person lets it in with less than it asked for, and it works', async () => {
    const provider = keeper()
    const client = make(provider)
    await expect(client.connect()).rejects.toThrow(/unauthorized/i)
    const { page, elsewhere } = await personAt(String(provider.kept.authorization))
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'Desk Agent asks for access to your account',
    )
    expect(await page.textContent('main')).toContain('This name is not verified.')
    await logIn(page, email)
    await page.getByRole('heading', { name: 'Let Desk Agent use your account?' }).waitFor()
    for (const width of [320, 390, 1200]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate(overflowing), `${width} wide`).toEqual([])
    }
    await page.getByLabel('Make invoices for top-ups').uncheck()
    await page.getByLabel('A day').fill('1.25')
    await page.getByLabel('In all').fill('7')
    called.length = 0
    await page.getByRole('button', { name: 'Let it in' }).click()
    await page.waitForURL(`${callback}**`)
    expect(elsewhere).toEqual([])
    const { searchParams } = called.find(({ pathname }) => pathname === '/callback')!
    expect(Object.fromEntries(searchParams)).toMatchObject({ state: 'a state', iss: origin })

    await client.finish(searchParams)
    const connected = await client.connect()
    const { tools } = await connected.listTools()
    expect(tools.map((tool) => tool.name)).toContain('get_balance')
    expect(tools.map((tool) => tool.name)).not.toContain('create_token')
    for (const tool of tools) expect(tool.inputSchema.properties ?? {}).not.toHaveProperty('access_token')
    const me = (await connected.callTool({ name: 'whoami', arguments: {} })) as {
      content: { text: string }[]
    }
    expect(me.content[0]!.text).toContain(email)
    const { rows } = await service.services.db.query(
      `select name, scopes, per_day, total from token join token_budget on token_id = token.id
       join account on account.id = account_id where kind = 'grant' and email = $1`,
      [email],
    )
    expect(rows).toEqual([
      {
        name: 'Desk Agent (a program on this computer)',
        scopes: ['read', 'order', 'manage', 'sandbox'],
        per_day: 1_250_000n,
        total: 7_000_000n,
      },
    ])
    await connected.close()
  })

  test('behavior: after an hour it gets new texts by itself, without the person', async () => {
    const provider = keeper()
    const client = make(provider)
    await client.connect().catch(() => {})
    const { page } = await personAt(String(provider.kept.authorization))
    await logIn(page, email)
    called.length = 0
    await page.getByRole('button', { name: 'Let it in' }).click()
    await page.waitForURL(`${callback}**`)
    await client.finish(called.find(({ pathname }) => pathname === '/callback')!.searchParams)
    const before = provider.kept.tokens as { access_token: string; refresh_token: string }
    service.clock.advance(3_600_000)
    const connected = await client.connect()
    await connected.callTool({ name: 'get_balance', arguments: {} })
    const after = provider.kept.tokens as typeof before
    expect(after.access_token).not.toBe(before.access_token)
    expect(after.refresh_token).not.toBe(before.refresh_token)
    await connected.close()
  })

  test('behavior: a person who refuses is led back, and the client stays outside', async () => {
    const provider = keeper()
    const client = make(provider)
    await client.connect().catch(() => {})
    const { page } = await personAt(String(provider.kept.authorization))
    await logIn(page, email)
    called.length = 0
    await page.getByRole('button', { name: 'Refuse' }).click()
    await page.waitForURL(`${callback}**`)
    expect(called[0]!.searchParams.get('error')).toBe('access_denied')
    await expect(client.connect()).rejects.toThrow(/unauthorized/i)
  })
})

test('behavior: a wrong code is said, and the pages are dark where the browser is', async () => {
  const provider = keeper()
  const client = clients[0]![1](provider)
  await client.connect().catch(() => {})
  const page = await (await browser.newContext({ colorScheme: 'dark' })).newPage()
  await page.goto(String(provider.kept.authorization))
  await page.getByLabel('Your e-mail address').fill('dark@rackmail.net')
  await page.getByRole('button', { name: 'Send a code' }).click()
  await page.getByLabel('The code from the mail').fill('000000')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The code is wrong, used or expired.').waitFor()
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  expect(dark).toBe('rgb(16, 18, 20)')
  expect(await page.evaluate(overflowing)).toEqual([])
})
