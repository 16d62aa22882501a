import { freePort } from '@coinrack/host/free-port.ts'
import { createClient } from '@coinrack/sdk/index.ts'
import type { TokenSymbol } from '@coinrack/server/chain/chain-settings.ts'
import { type DemoChains, fundOnDemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { openGasWallet } from '@coinrack/server/chain/gas-wallet.ts'
import { startTestChains, testWallet } from '@coinrack/server/chain/testing.ts'
import { viemChain } from '@coinrack/server/chain/viem-chain.ts'
import { runPayments } from '@coinrack/server/payments/run-payments.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { type Browser, chromium } from 'playwright-core'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { injectWallet, type WalletOptions } from './injected-wallet.ts'

/*
 * Paying from the checkout page with a wallet that is in the browser (EIP-6963): real transfers and real signatures, on
 * the demo chains.
 */

const CHROMIUM = {
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
  ],
}
const CREDITED_MS = 20_000

let demo: DemoChains
let service: TestService
let endPayments: () => Promise<void>
let browser: Browser
let url: string

beforeAll(async () => {
  demo = await startTestChains()
  const key = generatePrivateKey()
  await fundOnDemoChains(demo.chains, privateKeyToAddress(key))
  const chains = await Promise.all(
    demo.chains.map(async (settings) => ({
      settings,
      port: viemChain(settings),
      gasWallet: await openGasWallet(settings, key),
    })),
  )
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

const chainOf = (network: string) => demo.chains.find((chain) => chain.network === network)!
const faucet = (network: string) => testWallet(chainOf(network), demo.demo.faucet_key)

/** The page of a new invoice, in a browser with a wallet that has 20 of each of these tokens. */
async function openWithWallet(
  options: Partial<WalletOptions> = {},
  { amount = 5, tokens = [['base', 'USDC']] }: { amount?: number; tokens?: [string, TokenSymbol][] } = {},
) {
  const { token } = await service.customer()
  const sdk = createClient({ url, token })
  const { invoice, checkout_url } = await sdk.topupBalance({ amount })
  const context = await browser.newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  const wallet = await injectWallet(page, { knows: [chainOf('ethereum'), chainOf('base')], ...options })
  await fundOnDemoChains(demo.chains, wallet.address)
  for (const [network, symbol] of tokens) await faucet(network).pay(symbol, wallet.address, 20_000_000n)
  const button = (name: string) => page.getByRole('button', { name })
  const paid = () => page.getByText('Paid. Thank you!').waitFor({ timeout: CREDITED_MS })
  const said = (text: string | RegExp) => page.locator('.wallet-said').getByText(text).waitFor()
  return {
    ...{ sdk, invoice, checkout_url, page, complaints, wallet, button, paid, said, token },
    close: () => context.close(),
  }
}

const SEND = 'Pay with Test Wallet'
const SIGN = 'Sign with Test Wallet, without network fee'

test('default: the wallet sends the transfer, after it went to the network of the payment', async () => {
  const { page, checkout_url, button, paid, sdk, invoice, wallet, complaints, close } = await openWithWallet()
  await page.goto(checkout_url)
  await button(SEND).click()
  await paid()
  const { payments } = await sdk.getInvoice({ invoice_id: invoice.id })
  expect(payments).toMatchObject([{ network: 'base', token: 'USDC', amount: 5_000_000n, status: 'credited' }])
  expect(wallet.asked()).toContain('wallet_switchEthereumChain')
  expect(wallet.asked()).not.toContain('wallet_addEthereumChain')
  expect(wallet.asked()).not.toContain('eth_signTypedData_v4')
  expect(await faucet('base').balance('USDC', wallet.address)).toBe(15_000_000n)
  expect(complaints).toEqual([])
  await close()
})

test('default: the wallet signs and sends nothing; the payer needs no coins for gas', async () => {
  const { page, checkout_url, button, paid, sdk, invoice, wallet, complaints, close } = await openWithWallet()
  await page.goto(checkout_url)
  await button(SIGN).click()
  await paid()
  const { payments } = await sdk.getInvoice({ invoice_id: invoice.id })
  expect(payments).toMatchObject([{ network: 'base', token: 'USDC', amount: 5_000_000n, status: 'credited' }])
  expect(wallet.asked()).not.toContain('eth_sendTransaction')
  expect(await faucet('base').client.getTransactionCount({ address: wallet.address })).toBe(0)
  expect(await faucet('base').balance('USDC', wallet.address)).toBe(15_000_000n)
  expect((await sdk.getBalance()).balance).toBe(5_000_000n)
  expect(complaints).toEqual([])
  await close()
})

test('behavior: a network that the wallet does not know is added first', async () => {
  const tokens: [string, TokenSymbol][] = [['polygon', 'USDC']]
  const { page, checkout_url, button, paid, wallet, close } = await openWithWallet({}, { tokens })
  await page.goto(`${checkout_url}?network=polygon&token=USDC`)
  await button(SIGN).click()
  await paid()
  const added = wallet.requests.find(({ method }) => method === 'wallet_addEthereumChain')!
  expect(added.params).toEqual([
    {
      chainId: '0x89',
      chainName: 'Polygon (local demo)',
      nativeCurrency: { name: 'POL', symbol: 'POL', decimals: 18 },
      rpcUrls: chainOf('polygon').rpcUrls,
    },
  ])
  await close()
})

test('behavior: a token without transfers by signature can only be sent', async () => {
  const tokens: [string, TokenSymbol][] = [['base', 'USDT']]
  const { page, checkout_url, button, paid, wallet, close } = await openWithWallet({}, { tokens })
  await page.goto(checkout_url)
  await button(SIGN).waitFor()
  await page.getByRole('radio', { name: 'USDT' }).check()
  await button(SIGN).waitFor({ state: 'detached' })
  await button(SEND).click()
  await paid()
  expect(await faucet('base').balance('USDT', wallet.address)).toBe(15_000_000n)
  await close()
})

test('behavior: an order is paid by a wallet that has nothing to do with its account', async () => {
  const { page, button, paid, token, close } = await openWithWallet()
  const sdk = createClient({ url, token })
  const unpaid = await sdk.orderVps({ product: 'nano', os_id: 1 }).catch((error) => error)
  await page.goto(unpaid.body.checkout_url)
  await button(SIGN).click()
  await paid()
  expect((await sdk.getOrder({ order_id: unpaid.body.order_id })).status).toBe('provisioning')
  await close()
})

test('behavior: what is declined in the wallet is said, and can be tried again', async () => {
  let declines = true
  const { page, checkout_url, button, said, paid, close } = await openWithWallet({
    refuses: (method) =>
      declines && /^eth_s/.test(method) ? { code: 4001, message: 'User rejected the request' } : undefined,
  })
  await page.goto(checkout_url)
  for (const name of [SEND, SIGN]) {
    await button(name).click()
    await said('Declined in the wallet. Nothing was sent.')
    expect(await button(name).isEnabled()).toBe(true)
  }
  declines = false
  await button(SIGN).click()
  await paid()
  await close()
})

test('behavior: too little in the wallet is said before anything is asked of it', async () => {
  const { page, checkout_url, button, said, wallet, close } = await openWithWallet({}, { amount: 25 })
  await page.goto(checkout_url)
  await button(SEND).click()
  await said('This account of the wallet has 20.00 USDC on Base (local demo), and 25.00 are to be paid.')
  expect(wallet.asked()).not.toContain('eth_sendTransaction')
  await close()
})

test('behavior: a wallet whose network is another of the same number is asked for no transfer', async () => {
  // As a wallet on the real network is, while the demo's bears the same number.
  const { page, checkout_url, button, said, wallet, close } = await openWithWallet({
    knows: [{ ...chainOf('base'), rpcUrls: chainOf('ethereum').rpcUrls }],
  })
  await page.goto(checkout_url)
  await button(SEND).click()
  await said(/is another network: it has no such USDC/)
  expect(wallet.asked()).not.toContain('eth_sendTransaction')
  await close()
})

test('behavior: a signature whose answer was lost is handed in again, and nothing else is signed', async () => {
  const { page, checkout_url, button, paid, sdk, wallet, close } = await openWithWallet()
  await page.goto(checkout_url)
  let lost = 0
  await page.route('**/x402', async (route) => {
    if (lost++ > 0) return route.continue()
    // It reaches the service, and its answer does not come back.
    await route.fetch()
    return route.abort()
  })
  await button(SIGN).click()
  await paid()
  await expect.poll(() => lost, { timeout: 10_000 }).toBe(2)
  expect(wallet.asked().filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1)
  expect((await sdk.getBalance()).balance).toBe(5_000_000n)
  await close()
})

test('behavior: of an invoice that is cancelled while the wallet signs nothing is taken', async () => {
  const { page, checkout_url, button, sdk, invoice, wallet, close } = await openWithWallet()
  await page.goto(checkout_url)
  await page.route('**/x402', async (route) => {
    await sdk.cancelInvoice({ invoice_id: invoice.id })
    return route.continue()
  })
  await button(SIGN).click()
  await page.getByText('This invoice was cancelled').waitFor({ timeout: CREDITED_MS })
  expect(await faucet('base').balance('USDC', wallet.address)).toBe(20_000_000n)
  await close()
})

test('behavior: an icon from elsewhere is not loaded, and a name is text', async () => {
  const { page, checkout_url, button, complaints, close } = await openWithWallet({
    icon: 'https://icons.rackmail.net/wallet.png',
  })
  await page.goto(checkout_url)
  await button(SEND).waitFor()
  expect(await page.locator('.wallets img').count()).toBe(0)
  expect(complaints).toEqual([])
  await close()
})

test('behavior: without a wallet there is no button for one', async () => {
  const { token } = await service.customer()
  const { checkout_url } = await createClient({ url, token }).topupBalance({ amount: 5 })
  const page = await browser.newPage()
  await page.goto(checkout_url)
  await page.getByRole('link', { name: 'Open in a wallet' }).waitFor()
  expect(await page.locator('.wallets').isVisible()).toBe(false)
  await page.close()
})
