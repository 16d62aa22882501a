import { join } from 'node:path'
import { freePort } from '@coinrack/host/free-port.ts'
import { decideOn, ownerOf, refused } from '@coinrack/server/approvals/testing.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { approvalCard } from '@coinrack/web/approval/card.ts'
import { type Browser, chromium } from 'playwright-core'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './support/sources.ts'

/*
 * An approval as a card in a chat (MCP Apps): the host of the official ext-apps in a real browser, in a frame without an
 * origin, under the strictest policy for content.
 */

let service: TestService
let browser: Browser
let url: string
let host: string

beforeAll(async () => {
  const port = await freePort()
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: `http://127.0.0.1:${port}` } })
  url = await service.app.listen({ host: '127.0.0.1', port })
  const bundle = await rolldown({ input: join(root, 'test/support/app-host.js'), platform: 'browser' })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  host = output[0].code
  await bundle.close()
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  })
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await service?.close()
})

async function chat(capabilities: object = { openLinks: {}, serverTools: {}, logging: {} }) {
  const owner = await ownerOf(service, 10_000_000n)
  const agent = await owner.agent({ per_call: '1.00' })
  const id = refused(await owner.order(agent, { hostname: 'web' }))
  const page = await browser.newPage()
  page.setDefaultTimeout(15_000)
  const complaints: string[] = []
  // The host notes each message, too.
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('about:'))
      complaints.push(request.url())
  })
  // A page of this service's origin, since the agent endpoint takes requests of no other.
  await page.route('**/chat', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: '<!doctype html><title>Chat</title><body><script type="module" src="/chat.js"></script>',
    }),
  )
  await page.route('**/chat.js', (route) => route.fulfill({ contentType: 'text/javascript', body: host }))
  await page.goto(`${url}/chat`)
  await page.waitForFunction('globalThis.showTool')
  const shown = await page.evaluate(
    // biome-ignore lint/suspicious/noExplicitAny: made by the host
    (call) => (globalThis as any).showTool(call),
    {
      endpoint: `${url}/mcp`,
      token: agent.token,
      name: 'get_approval',
      args: { approval_id: id, wait: 'decided', timeout: 50 },
      capabilities,
    },
  )
  const card = page.frameLocator('iframe')
  return { id, page, card, shown, complaints, agent, owner }
}

test('default: the card shows the quote, the runway and the risk while the call waits, and opens the page', async () => {
  const { id, page, card, shown, complaints, agent, owner } = await chat()
  expect(shown).toEqual({
    mimeType: 'text/html;profile=mcp-app',
    meta: { ui: { csp: {}, prefersBorder: true } },
  })
  await card.getByRole('heading', { name: 'Approve 3.00 USD?' }).waitFor()
  const text = await card.locator('main').textContent()
  for (const part of [
    'VPS nano web, one month',
    '10.00 USD, after it 7.00 USD',
    'decides what runs on it',
    'within 15 minutes',
  ])
    expect(text).toContain(part)
  await card.getByRole('button', { name: 'Open the page to approve or deny' }).click()
  await card.getByText('prove there that the account is yours').waitFor()
  expect(await page.evaluate('globalThis.opened')).toEqual([`${url}/approvals/${id}`])
  // To have opened it decides nothing.
  expect((await owner.order(agent, { hostname: 'web' })).status).toBe(403)

  await decideOn(service, id, 'approved')
  await card.getByRole('heading', { name: 'Approved: the call can be made now' }).waitFor()
  expect(complaints).toEqual([])
  await page.close()
})

test('behavior: a host that calls no tools for cards shows it with the answer; one that opens no links shows the address', async () => {
  const { id, page, card } = await chat({ serverTools: {} })
  await card.getByRole('button', { name: 'Open the page to approve or deny' }).click()
  await card.getByText(`Please open this page: ${url}/approvals/${id}`).waitFor()
  await page.close()

  const mute = await chat({})
  await decideOn(service, mute.id, 'denied')
  await mute.card.getByRole('heading', { name: 'Denied: nothing is charged' }).waitFor()
  expect(mute.complaints).toEqual([])
  await mute.page.close()
})

test('behavior: it is small, and names no other place', () => {
  expect(approvalCard.length).toBeLessThan(8_000)
  expect(approvalCard).not.toMatch(/https?:\/\//)
})
