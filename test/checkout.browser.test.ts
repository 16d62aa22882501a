import { freePort } from '@coinrack/host/free-port.ts'
import { createClient } from '@coinrack/sdk/index.ts'
import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { startTestChains, testWallet } from '@coinrack/server/chain/testing.ts'
import { viemChain } from '@coinrack/server/chain/viem-chain.ts'
import { runPayments } from '@coinrack/server/payments/run-payments.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'

/*
 * The checkout page and the receipt in a real browser, with real transfers on the demo chains.
 */

const CHROMIUM = {
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
}
/** Confirmations come with a block a second. */
const CREDITED_MS = 20_000
const DAY_MS = 86_400_000

let demo: DemoChains
let service: TestService
let endPayments: () => Promise<void>
let browser: Browser
let url: string

beforeAll(async () => {
  demo = await startTestChains()
  const chains = demo.chains.map((settings) => ({ settings, port: viemChain(settings) }))
  const port = await freePort()
  const env = { COINRACK_PUBLIC_URL: `http://127.0.0.1:${port}` }
  service = await startTestService({ chains, demo: demo.demo, env })
  url = await service.app.listen({ host: '127.0.0.1', port })
  endPayments = runPayments(service.services)
  browser = await chromium.launch(CHROMIUM)
})
afterAll(async () => {
  await browser?.close()
  await endPayments?.()
  await service?.close()
  await demo?.stop()
})

async function topup(amount = 10) {
  const { token } = await service.customer()
  const sdk = createClient({ url, token })
  const { invoice, checkout_url } = await sdk.topupBalance({ amount })
  return { sdk, invoice, checkout_url, token }
}

/** Opens a page that notes what the browser complained of, and whether it was loaded again. */
async function open(address: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const complaints: string[] = []
  let loads = 0
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('domcontentloaded', () => loads++)
  await page.goto(address)
  return { page, complaints, loads: () => loads, close: () => context.close() }
}

const shownStatus = (page: Page) => page.locator('.status-title').textContent()
const choose = (page: Page, name: string) => page.getByRole('radio', { name }).check()
const shownPair = (page: Page, { network, token }: { network: string; token: string }) =>
  page.locator(`.panel[data-network=${network}][data-token=${token}]`)
const panel = (page: Page) => page.locator('.panel')

test('default: a transfer of the agent turns the page to credited, without a reload', async () => {
  const { sdk, invoice, checkout_url } = await topup()
  const { page, complaints, loads, close } = await open(checkout_url)
  expect(await shownStatus(page)).toBe('Waiting for your payment')
  expect(await panel(page).locator('.amount').textContent()).toBe('10.00 USDC')
  const address = invoice.payment_options[0]!.address
  expect(await panel(page).locator('.address').textContent()).toBe(address)

  const wallet = testWallet(demo.chains.find(({ network }) => network === 'base')!, demo.demo.faucet_key)
  await wallet.pay('USDC', address as `0x${string}`, 10_000_000n)
  await page.getByText(/^Payment seen: \d of 5 confirmations$/).waitFor()
  await page.getByText('Paid. Thank you!').waitFor({ timeout: CREDITED_MS })

  expect(await page.locator('.panel').count()).toBe(0)
  expect(await page.locator('.payments').textContent()).toContain('10.00 USDC on Base')
  expect(loads()).toBe(1)
  expect(complaints).toEqual([])
  const next = page.getByRole('region', { name: 'What comes next' })
  await next.getByRole('link', { name: 'Order a server from the balance' }).waitFor()
  await next.getByRole('link', { name: 'Receipt of this payment' }).click()
  expect(await page.title()).toBe(`Receipt ${invoice.id}`)
  expect(await page.locator('.payments').textContent()).toContain('10.00 USDC on Base')
  expect((await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  expect(complaints).toEqual([])
  expect((await sdk.getBalance()).balance).toBe(10_000_000n)
  await close()
})

test('behavior: the button of the demo pays with what was chosen', async () => {
  const { sdk, invoice, checkout_url } = await topup(3)
  const { page, complaints, close } = await open(checkout_url)
  await choose(page, 'Polygon')
  await choose(page, 'USDT')
  await shownPair(page, { network: 'polygon', token: 'USDT' }).waitFor()
  expect(new URL(page.url()).search).toBe('?network=polygon&token=USDT')
  await panel(page).getByRole('button', { name: 'Pay with the test faucet' }).click()
  await page.getByText('Paid. Thank you!').waitFor({ timeout: CREDITED_MS })
  const { payments } = await sdk.getInvoice({ invoice_id: invoice.id })
  expect(payments).toMatchObject([{ network: 'polygon', token: 'USDT', amount: 3_000_000n }])
  expect(complaints).toEqual([])
  await close()
})

test('behavior: after a part of the amount the page asks for the rest, and keeps what was chosen', async () => {
  const { invoice, checkout_url } = await topup()
  const { page, close } = await open(checkout_url)
  await choose(page, 'PYUSD')
  const wallet = testWallet(demo.chains.find(({ network }) => network === 'ethereum')!, demo.demo.faucet_key)
  await wallet.pay('USDC', invoice.payment_options[0]!.address as `0x${string}`, 4_000_000n)
  await page.getByText('4.00 of 10.00 USD received').waitFor({ timeout: CREDITED_MS })
  await panel(page).getByText('6.00 PYUSD').waitFor()
  await close()
})

test('behavior: every pair of network and token shows its own amount and code', async () => {
  const { invoice, checkout_url } = await topup()
  const { page, close } = await open(checkout_url)
  const names = { base: 'Base', ethereum: 'Ethereum', polygon: 'Polygon' }
  for (const option of invoice.payment_options) {
    await choose(page, names[option.network])
    await choose(page, option.token)
    await shownPair(page, option).waitFor()
    expect(await panel(page).count()).toBe(1)
    expect(await panel(page).getByRole('link', { name: 'Open in a wallet' }).getAttribute('href')).toBe(
      option.uri,
    )
  }
  await panel(page).getByRole('link', { name: 'Code with the amount' }).click()
  await panel(page).getByRole('img', { name: 'QR code of a transfer of 10.00 PYUSD on Polygon' }).waitFor()
  expect(new URL(page.url()).search).toBe('?network=polygon&token=PYUSD&code=transfer')
  expect(await panel(page).locator('.qr').count()).toBe(1)
  await close()
})

test('behavior: amount, code and address are in one view, on a desktop and on a phone', async () => {
  const { checkout_url } = await topup(10_000)
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    for (const code of ['address', 'transfer']) {
      const { page, close } = await open(`${checkout_url}?network=ethereum&token=PYUSD&code=${code}`, {
        viewport,
      })
      for (const part of ['.amount', '.network', '.qr', '.address']) {
        const { x, y, width, height } = (await panel(page).locator(part).boundingBox())!
        expect([width, height].every((length) => length > 0)).toBe(true)
        expect([x, y].every((edge) => edge >= 0)).toBe(true)
        expect(x + width).toBeLessThanOrEqual(viewport.width)
        expect(y + height).toBeLessThanOrEqual(viewport.height)
      }
      expect(await page.evaluate(() => scrollY)).toBe(0)
      await close()
    }
  }
})

test('behavior: a payment is followed in few bytes: the page is loaded once, and then only what changed', async () => {
  const { invoice, checkout_url } = await topup()
  const { page, close } = await open(checkout_url)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const client = await page.context().newCDPSession(page)
  await client.send('Network.enable')
  let bytes = 0
  client.on('Network.dataReceived', ({ dataLength }) => {
    bytes += dataLength
  })
  const wallet = testWallet(demo.chains.find(({ network }) => network === 'base')!, demo.demo.faucet_key)
  await wallet.pay('USDC', invoice.payment_options[0]!.address as `0x${string}`, 10_000_000n)
  await page.getByText('Paid. Thank you!').waitFor({ timeout: CREDITED_MS })
  // The stream of changes may begin a moment after the page is loaded.
  expect(asked.filter((path) => !path.endsWith('/events'))).toEqual([])
  expect(bytes).toBeGreaterThan(1_000)
  expect(bytes).toBeLessThan(20_000)
  await close()
})

test('behavior: the address can be copied', async () => {
  const { invoice, checkout_url } = await topup()
  const { page, close } = await open(checkout_url, { permissions: ['clipboard-read', 'clipboard-write'] })
  await panel(page).getByRole('button', { name: 'Copy the address' }).click()
  await panel(page).getByText('Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(invoice.payment_options[0]!.address)
  await close()
})

test('behavior: after the connection broke, the page finds out what it missed', async () => {
  const { sdk, invoice, checkout_url } = await topup()
  const { page, close } = await open(checkout_url)
  // A browser that is offline keeps what is open, or is about to open: the stream of changes has to be there, and to be closed.
  const stream = page.waitForResponse(/\/events\?as=parts$/)
  await Promise.all([stream, page.reload()])
  await page.context().setOffline(true)
  service.app.server.closeAllConnections()
  // A connection of this process was closed as well: the first call may notice it.
  await vi.waitFor(() => sdk.cancelInvoice({ invoice_id: invoice.id }), 5_000)
  expect(await shownStatus(page)).toBe('Waiting for your payment')
  await page.context().setOffline(false)
  await page.getByText('This invoice was cancelled').waitFor({ timeout: CREDITED_MS })
  await close()
})

test('behavior: without scripts it can be chosen and paid, and the page looks again by itself', async () => {
  const { sdk, invoice, checkout_url } = await topup(3)
  const { page, close } = await open(checkout_url, { javaScriptEnabled: false })
  await choose(page, 'Ethereum')
  await page.getByRole('button', { name: 'Show this way to pay' }).click()
  await shownPair(page, { network: 'ethereum', token: 'USDC' }).waitFor()
  expect(await panel(page).locator('.network').textContent()).toBe('Ethereum')
  expect(await page.content()).toContain('http-equiv="refresh"')
  await panel(page).getByRole('button', { name: 'Pay with the test faucet' }).click()
  await sdk.getInvoice({ invoice_id: invoice.id, wait: 'paid', timeout: 20 })
  await page.goto(checkout_url)
  expect(await shownStatus(page)).toBe('Paid. Thank you!')
  await close()
})

test('behavior: nothing overflows on a small screen, in light and in dark', async () => {
  const { checkout_url } = await topup(10_000)
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, close } = await open(checkout_url, { viewport: { width: 320, height: 640 }, colorScheme })
    await choose(page, 'PYUSD')
    await shownPair(page, { network: 'base', token: 'PYUSD' }).waitFor()
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBe(320)
    await close()
  }
})

test('behavior: every control has a name, and the state is announced', async () => {
  const { checkout_url } = await topup()
  const { page, close } = await open(checkout_url)
  const nameless = await page
    .locator('button:visible, a:visible, input:visible, svg[role=img]:visible')
    .evaluateAll((elements) =>
      elements
        .filter((element) => {
          const labels = (element as HTMLInputElement).labels
          const label = labels?.length ? labels[0]!.textContent : element.textContent
          return !(element.getAttribute('aria-label') ?? label)?.trim()
        })
        .map((element) => element.outerHTML),
    )
  expect(nameless).toEqual([])
  const status = page.locator('[data-live=status]')
  expect(await status.getAttribute('role')).toBe('status')
  expect(await status.getAttribute('aria-live')).toBe('polite')
  await close()
})

test('default: the receipt of what was paid is a page, and one sheet of paper', async () => {
  const { sdk, invoice, token } = await topup(3)
  const wallet = testWallet(demo.chains.find(({ network }) => network === 'base')!, demo.demo.faucet_key)
  const hash = await wallet.pay('USDC', invoice.payment_options[0]!.address as `0x${string}`, 3_000_000n)
  await sdk.getInvoice({ invoice_id: invoice.id, wait: 'paid', timeout: 20 })
  const { page, complaints, close } = await open(`${url}/api/v1/eqvps/invoices/${invoice.id}/receipt`, {
    extraHTTPHeaders: { authorization: `Bearer ${token}` },
    viewport: { width: 320, height: 640 },
  })
  expect(await page.title()).toBe(`Receipt ${invoice.id}`)
  expect(await page.locator('.total').textContent()).toBe('3.00 USD')
  expect(await page.getByText(hash).isVisible()).toBe(true)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  const printed = (await page.pdf({ format: 'A4' })).toString('latin1')
  expect(printed.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  expect(complaints).toEqual([])
  await close()
})

test('default: a renewal is paid on its page, and the paid time is longer', async () => {
  const { token } = await service.customer(3_000_000n)
  const sdk = createClient({ url, token })
  const { service_id } = await sdk.orderVps({ product: 'nano', os_id: 1 })
  await service.reconcile()
  const vps = { service_id: service_id! }
  const paidUntil = async () => (await sdk.getVpsStatus(vps)).billing!.paid_until!.getTime()
  const before = await paidUntil()
  const unpaid = await sdk.renewService(vps).catch((error) => error)
  const { page, close } = await open(unpaid.body.checkout_url)
  expect(await panel(page).locator('.amount').textContent()).toBe('3.00 USDC')
  await panel(page).getByRole('button', { name: 'Pay with the test faucet' }).click()
  await page.getByText('Paid. Thank you!').waitFor({ timeout: CREDITED_MS })
  expect(Math.round(((await paidUntil()) - before) / DAY_MS)).toSatisfy((days) => days >= 28 && days <= 31)
  const next = page.getByRole('region', { name: 'What comes next' })
  await next.getByText(`GET ${url}/api/v1/eqvps/services/${service_id}`).waitFor()
  expect(await next.getByRole('link').allTextContents()).toEqual([
    'See until when the server is paid',
    'Receipt of this payment',
  ])
  await close()
})

test('behavior: an order whose room is gone when it is paid: the page says so, and where the money is', async () => {
  const { token } = await service.customer()
  const sdk = createClient({ url, token })
  const unpaid = await sdk.orderVps({ product: 'nano', os_id: 1 }).catch((error) => error)
  const { page, complaints, close } = await open(unpaid.body.checkout_url)
  await service.hostSays({ capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } })
  await panel(page).getByRole('button', { name: 'Pay with the test faucet' }).click()
  await page.getByText('3.00 USD are on the balance').waitFor({ timeout: CREDITED_MS })
  await service.hostSays()
  expect(await page.locator('.status-text').textContent()).toContain('There is no room for a machine')
  expect(await page.locator('.panel').count()).toBe(0)
  expect(await page.getByText('Pay before').count()).toBe(0)
  expect(await page.locator('.payments').textContent()).toContain('Credited')
  expect((await sdk.getOrder({ order_id: unpaid.body.order_id })).status).toBe('failed')
  expect((await sdk.getBalance()).balance).toBe(3_000_000n)
  expect(complaints).toEqual([])
  await close()
})

test('default: a paid order leads to its machine', async () => {
  const { token } = await service.customer()
  const sdk = createClient({ url, token })
  const unpaid = await sdk.orderVps({ product: 'nano', os_id: 1 }).catch((error) => error)
  const { page, close } = await open(unpaid.body.checkout_url)
  await panel(page).getByRole('button', { name: 'Pay with the test faucet' }).click()
  await page.getByText('Paid. Thank you!').waitFor({ timeout: CREDITED_MS })
  const { service_id, order_id } = await sdk.getInvoice({ invoice_id: unpaid.body.invoice.id })
  expect(service_id).toBe((await sdk.getOrder({ order_id: order_id! })).service_id)
  expect(await page.locator('.status-text').textContent()).toContain(service_id!)
  const next = page.getByRole('region', { name: 'What comes next' })
  await next.getByText(`GET ${url}/api/v1/eqvps/services/${service_id}?wait=ssh_ready`).waitFor()
  await next.getByRole('link', { name: 'Wait for the server, and log in' }).click()
  expect(await page.locator(':target h2').textContent()).toBe('Show a VPS and how to log in')
  await close()
})
