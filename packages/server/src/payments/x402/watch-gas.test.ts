import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { demoClient } from '../../chain/demo-node.ts'
import { startTestChains } from '../../chain/testing.ts'
import { usd } from '../testing.ts'
import { present, signPayment, termsOf, type X402World, x402World } from './testing.ts'
import { gasWatcher } from './watch-gas.ts'

let demo: DemoChains
let world: X402World

beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo)
})
afterAll(async () => {
  await demo.stop()
  await world?.close()
})

test('behavior: a network whose gas wallet is empty is not offered until it is filled up', async () => {
  const customer = await world.customer()
  const networks = async () => {
    const { body } = await customer.post('/balance/topup', { method: 'x402', amount: 3 })
    return new Set((body.accepts as { network: string }[]).map(({ network }) => network))
  }
  const [chain] = world.services.chains
  const all = await networks()
  expect(all).toContain('eip155:8453')

  const { client, address } = {
    client: demoClient(demo.chains[0]!.rpcUrls[0]!),
    address: chain!.gasWallet!.address,
  }
  const balance = await client.getBalance({ address })
  const watch = gasWatcher(world.services, chain!)
  await watch()
  const before = chain!.settlementsLeft!
  expect(before).toBeGreaterThan(50)

  // The promised number of settlements can be sent even in the worst case.
  const payer = await world.payer([{ symbol: 'USDC', amount: usd(10) }])
  const one = await signPayment(payer, await termsOf(customer, { amount: 3 }))
  await client.setBalance({ address, value: balance / BigInt(before) })
  await watch()
  expect(chain!.settlementsLeft).toBe(1)
  expect((await present(customer, 3, one)).status).toBe(200)

  await client.setBalance({ address, value: 1n })
  await watch()
  expect(chain!.settlementsLeft).toBe(0)
  expect(await networks()).toEqual(new Set([...all].filter((network) => network !== 'eip155:8453')))

  await client.setBalance({ address, value: balance })
  await watch()
  expect(await networks()).toEqual(all)
})
