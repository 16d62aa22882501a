import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChainSettings } from '../chain/chain-settings.ts'
import { ChainSettingsError } from '../chain/check-chain.ts'
import type { DemoChains } from '../chain/demo-chains.ts'
import { openChain } from '../chain/open-chain.ts'
import { asProduction, startTestChains, testWallet } from '../chain/testing.ts'
import { createMetrics } from '../process/metrics.ts'
import { createReadiness } from '../process/readiness.ts'
import { startTestService } from '../process/testing.ts'
import { paymentMetrics } from './payment-metrics.ts'
import { runPayments } from './run-payments.ts'
import { type PaymentsWorld, paymentsWorld, usd } from './testing.ts'
import { depositWatcher } from './watch-deposits.ts'

/*
 * Tests against real endpoints, one of which accepts every connection and never answers.
 */

let demo: DemoChains
let silent: Server
let silentUrl: string
let settings: ChainSettings
let world: PaymentsWorld

beforeAll(async () => {
  demo = await startTestChains()
  silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const [chain] = demo.chains
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  settings = { ...chain!, pollMs: 200, rpcUrls: [silentUrl, ...chain!.rpcUrls] }
  world = await paymentsWorld([settings])
})
afterAll(async () => {
  await world?.close()
  silent?.close()
  await demo?.stop()
})

test('behavior: beside one that hangs money is credited soon, and the one that hangs is named', async () => {
  const customer = await world.customer()
  const wallet = testWallet(demo.chains[0]!, demo.demo.faucet_key)
  const end = runPayments(world.services)
  try {
    await wallet.pay('USDC', await customer.address(), usd(10))
    const begun = performance.now()
    while ((await customer.balance()).available === 0n) {
      expect(performance.now() - begun).toBeLessThan(40_000)
      await new Promise((resolve) => setTimeout(resolve, 50))
      await wallet.client.request({ method: 'evm_mine' as never })
    }
  } finally {
    await end()
  }
  expect(await customer.balance()).toMatchObject({ available: usd(10) })
  const parts = await createReadiness(world.services)()
  const { host } = new URL(silentUrl)
  expect(parts).toContainEqual({
    name: 'chain base',
    ready: true,
    detail: expect.stringContaining(`${host}: `),
  })
  const metrics = await createMetrics([paymentMetrics(world.services)]).text()
  expect(metrics).toContain(`coinrack_chain_endpoint_relied_on{network="base",endpoint="${host}"} 0`)
})

test('behavior: a chain that nobody could be asked about at the start is offered once its settings are proven', async () => {
  const real = await asProduction(demo.chains[0]!, demo.demo.faucet_key)
  await expect(openChain({ ...real, chainId: 1 }, undefined)).rejects.toThrow(ChainSettingsError)
  expect(
    (await openChain({ ...real, rpcUrls: [silentUrl, ...real.rpcUrls] }, undefined)).prove,
  ).toBeUndefined()

  const away = { ...real, rpcUrls: ['http://127.0.0.1:9'] }
  const opened = await openChain(away, undefined)
  const service = await startTestService({ chains: [opened] })
  try {
    const customer = await service.customer()
    const topUp = () =>
      service.ask('POST', '/balance/topup', { token: customer.token, body: { amount: 10, network: 'base' } })
    expect((await topUp()).body).toMatchObject({ code: 'payment_method_unavailable' })
    const watch = depositWatcher(service.services, service.services.chains[0]!)
    await expect(watch()).rejects.toThrow('No endpoint of base answers')
    away.rpcUrls.splice(0, 1, ...real.rpcUrls)
    await service.services.chains[0]!.prove!()
    expect((await topUp()).body).toMatchObject({ invoice: { status: 'unpaid' } })
  } finally {
    await service.close()
  }
})
