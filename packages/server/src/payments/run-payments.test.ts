import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoChains } from '../chain/demo-chains.ts'
import { startTestChains, testWallet } from '../chain/testing.ts'
import { runPayments } from './run-payments.ts'
import { type PaymentsWorld, paymentsWorld, usd } from './testing.ts'

let demo: DemoChains
let world: PaymentsWorld

beforeAll(async () => {
  demo = await startTestChains()
  world = await paymentsWorld(demo.chains)
})
afterAll(async () => {
  // The nodes would outlive this process, so they are stopped first, even when the service could not be set up.
  await demo.stop()
  await world?.close()
})

test('default: on the demo chains a top-up of each network is paid within 15 seconds, by waiting alone', async () => {
  const end = runPayments(world.services)
  await Promise.all(
    demo.chains.map(async (chain) => {
      const customer = await world.customer()
      const { invoice } = (await customer.post('/balance/topup', { amount: 20, network: chain.network })).body
      await testWallet(chain, demo.demo.faucet_key).pay('USDT', invoice.payment_options[0].address, usd(20))
      const begun = performance.now()
      const { body } = await customer.get(`/invoices/${invoice.id}?wait=paid&timeout=25`)
      expect(body).toMatchObject({ status: 'paid', received: '20.00' })
      expect(performance.now() - begun).toBeLessThan(15_000)
    }),
  )
  await end()
})

test('behavior: stopped and run again, it goes on where it was', async () => {
  const customer = await world.customer()
  const { invoice } = (await customer.post('/balance/topup', { amount: 20 })).body
  const wallet = testWallet(demo.chains[0]!, demo.demo.faucet_key)
  await wallet.pay('USDC', invoice.payment_options[0].address, usd(20))
  const until = async (status: string) => {
    while ((await customer.get(`/invoices/${invoice.id}`)).body.status !== status) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const end = runPayments(world.services)
  await until('confirming')
  await end()
  const endAgain = runPayments(world.services)
  await until('paid')
  await endAgain()
  expect(await customer.balance()).toMatchObject({ available: usd(20) })
  await world.expectBooksToBalance()
})

test('behavior: a chain that is down holds up no other', async () => {
  const [base, ...others] = world.services.chains
  const down = { ...base!, port: { ...base!.port, block: () => Promise.reject(new Error('down')) } }
  const end = runPayments({ ...world.services, chains: [down, ...others] })
  const customer = await world.customer()
  const { invoice } = (await customer.post('/balance/topup', { amount: 20 })).body
  const wallet = testWallet(demo.chains[2]!, demo.demo.faucet_key)
  await wallet.pay('USDC', invoice.payment_options[0].address, usd(20))
  const { body } = await customer.get(`/invoices/${invoice.id}?wait=paid&timeout=20`)
  expect(body).toMatchObject({ status: 'paid' })
  await end()
})
