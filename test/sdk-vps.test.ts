import {
  type CoinrackError,
  createClient,
  NeverError,
  NoPaymentOptionError,
  payWithWallet,
  Vps,
} from '@coinrack/sdk/index.ts'
import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { startTestChains } from '@coinrack/server/chain/testing.ts'
import { viemChain } from '@coinrack/server/chain/viem-chain.ts'
import { runPayments } from '@coinrack/server/payments/run-payments.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { createWalletClient, defineChain, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'

/*
 * The SDK's object of a VPS, and its payment by a wallet of viem, against a service with real chains.
 */

let demo: DemoChains
let service: TestService
let endPayments: () => Promise<void>
let url: string
let isOver = false
let background: Promise<void>

beforeAll(async () => {
  demo = await startTestChains()
  const chains = demo.chains.map((settings) => ({ settings, port: viemChain(settings) }))
  service = await startTestService({ chains, demo: demo.demo, features: ['guestCommands'] })
  url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  endPayments = runPayments(service.services)
  background = keepReconciling()
})
afterAll(async () => {
  isOver = true
  await background
  await endPayments?.()
  await service?.close()
  await demo?.stop()
})

/** As the background of a service does. */
async function keepReconciling() {
  while (!isOver) {
    await service.reconcile()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function walletOn(network: string) {
  const { chainId, rpcUrls } = demo.chains.find((chain) => chain.network === network)!
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  const chain = defineChain({
    id: chainId,
    name: network,
    nativeCurrency,
    rpcUrls: { default: { http: [rpcUrls[0]!] } },
  })
  return createWalletClient({ account: privateKeyToAccount(demo.demo.faucet_key), chain, transport: http() })
}

test('default: an order that waits for its money is paid by a wallet, and the VPS is used and cancelled', async () => {
  const options = { url, token: (await service.customer()).token }
  const input = { product: 'nano', os_id: 1, hostname: 'made-by-sdk' }
  const unpaid = (await Vps.order(options, input).catch((error) => error)) as CoinrackError
  expect(unpaid.code).toBe('insufficient_balance')

  const coinrack = createClient(options)
  const invoice = await coinrack.getInvoice({ invoice_id: (unpaid.body.invoice as { id: string }).id })
  const seen: string[] = []
  const paid = await payWithWallet(coinrack, invoice, {
    wallet: walletOn('base'),
    onChange: ({ status }) => seen.push(status),
  })
  expect(paid.hash).toMatch(/^0x[0-9a-f]{64}$/)
  expect([paid.invoice.status, seen.at(-1)]).toEqual(['paid', 'paid'])

  const { items } = await coinrack.listVps()
  const vps = Vps.connect(options, items[0]!.id)
  const ready = await vps.waitUntilReady()
  expect(ready.root_password).toEqual(expect.any(String))
  expect(await vps.ssh()).toMatchObject({
    host: ready.ip,
    port: ready.ssh_port,
    username: 'root',
    knownHosts: [expect.stringContaining(ready.ip)],
  })

  const ran = await vps.exec('echo hello', { timeout: 10 })
  expect([ran.exit_code, ran.stdout]).toEqual([0, 'hello\n'])
  const steps: string[] = []
  await vps.reboot({ onChange: ({ status }) => steps.push(status) })
  expect(steps.at(-1)).toBe('succeeded')
  await vps.stop()
  expect((await vps.info()).status).toBe('stopped')
  await vps.cancel({ mode: 'immediate', confirm: 'made-by-sdk' })
  await expect.poll(async () => (await vps.info()).status).toBe('deleted')
  await expect(vps.waitUntilReady()).rejects.toThrow(NeverError)
})

test('behavior: a file of more than one piece is written and read as it is', async () => {
  const { token } = await service.customer(20_000_000n)
  const vps = await Vps.order({ url, token }, { product: 'nano', os_id: 1 })
  await vps.waitUntilReady()
  const content = Uint8Array.from({ length: 7_000_001 }, (_, index) => (index * 7) % 251)
  expect(await vps.files.write('/root/large.bin', content)).toBe(content.length)
  expect(Buffer.from(await vps.files.read('/root/large.bin')).equals(Buffer.from(content))).toBe(true)
  await vps.files.write('/root/a.txt', 'grüße\n')
  expect(await vps.files.text('/root/a.txt')).toBe('grüße\n')
})

test('error: a wallet on another network sends nothing, and hears what is taken', async () => {
  const coinrack = createClient({ url, token: (await service.customer()).token })
  const { invoice } = await coinrack.topupBalance({ amount: 5 })
  const wallet = { chain: { id: 10 }, writeContract: () => Promise.reject(new Error('It was asked to send')) }
  const refused = await payWithWallet(coinrack, invoice, { wallet }).catch((error) => error)
  expect(refused).toBeInstanceOf(NoPaymentOptionError)
  expect(refused.message).toContain('USDC on base')
})
