import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basePath } from '@coinrack/contract/index.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

/*
 * A page of another origin as a client of the REST interface, in a real browser.
 */

let service: TestService
let browser: Browser
let pages: Server
let api: string
let page: string

beforeAll(async () => {
  service = await startTestService()
  api = (await service.app.listen({ host: '127.0.0.1', port: 0 })) + basePath
  pages = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>A page</title>')
  })
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve))
  page = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  })
}, 60_000)
afterAll(async () => {
  await browser?.close()
  pages?.close()
  await service?.close()
})

test('behavior: a page registers, orders by token and key, reads headers, and asks again for nothing', async () => {
  const tab = await browser.newPage()
  await tab.goto(page)
  const seen = await tab.evaluate(async (api) => {
    const json = { 'content-type': 'application/json' }
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(api + path, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
    const { token } = await (await post('/auth/register', { email: 'page@rackmail.net' })).json()
    const authorization = `Bearer ${token}`
    const topup = await post('/balance/topup', { amount: 5 }, { authorization, 'idempotency-key': 'one' })
    const again = await post('/balance/topup', { amount: 5 }, { authorization, 'idempotency-key': 'one' })
    const order = await post('/orders', { product: 'nano', os_id: 1 }, { authorization })
    const plans = await fetch(`${api}/products`)
    const etag = plans.headers.get('etag')!
    const same = await fetch(`${api}/products`, { headers: { 'if-none-match': etag } })
    const nowhere = await fetch(`${api}/nothing`)
    const stopped = new AbortController()
    const events = await fetch(`${api}/events`, {
      headers: { authorization, accept: 'text/event-stream' },
      signal: stopped.signal,
    })
    const kind = events.headers.get('content-type')
    stopped.abort()
    return {
      topup: [topup.status, topup.headers.get('location')],
      replayed: again.headers.get('idempotent-replayed'),
      expires: topup.headers.get('x-token-expires-at') !== null,
      limit: topup.headers.get('ratelimit') !== null,
      order: [order.status, (await order.json()).code],
      plans: [plans.status, (await plans.json()).length > 0],
      same: same.status,
      nowhere: [nowhere.status, (await nowhere.json()).code],
      kind,
    }
  }, api)
  expect(seen).toEqual({
    topup: [200, expect.stringMatching(/\/invoices\/inv_/)],
    replayed: 'true',
    expires: true,
    limit: true,
    order: [402, 'insufficient_balance'],
    plans: [200, true],
    same: 304,
    nowhere: [404, 'not_found'],
    kind: 'text/event-stream; charset=utf-8',
  })
  await tab.close()
}, 60_000)

test('error: a page of another origin gets nothing of the agent endpoint or the checkout', async () => {
  const tab = await browser.newPage()
  await tab.goto(page)
  const origin = new URL(api).origin
  const blocked = await tab.evaluate(
    (urls) =>
      Promise.all(
        urls.map((url) =>
          fetch(url).then(
            () => 'read',
            () => 'blocked',
          ),
        ),
      ),
    [`${origin}/mcp`, `${origin}/checkout/x`, `${origin}/healthz`],
  )
  expect(blocked).toEqual(['blocked', 'blocked', 'blocked'])
  await tab.close()
}, 60_000)
