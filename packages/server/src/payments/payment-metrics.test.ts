import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeChain, fakeChain } from '../chain/fake-chain.ts'
import { createMetrics } from '../process/metrics.ts'
import { paymentMetrics } from './payment-metrics.ts'
import { fakeSettings, type PaymentsWorld, paymentsWorld, usd } from './testing.ts'
import { depositWatcher } from './watch-deposits.ts'

const base = fakeSettings(8453, 'base')

let world: PaymentsWorld
let chain: FakeChain

beforeAll(async () => {
  world = await paymentsWorld([base])
  chain = fakeChain(base)
  world.services.chains = [{ settings: base, port: chain.port }]
})
afterAll(() => world.close())

/** The metrics of the chain, by name and label. */
async function measured() {
  const text = await createMetrics([paymentMetrics(world.services)]).text()
  const lines = [...text.matchAll(/^coinrack_(\w+)\{network="base"(?:,\w+="(\w+)")?\} (.+)$/gm)]
  return Object.fromEntries(
    lines.map(([, name, label, value]) => [[name, label].filter(Boolean).join(' '), Number(value)]),
  )
}

test('default: where a chain stands, its endpoints, and what it can still change', async () => {
  expect(await measured()).toEqual({
    'chain_endpoint_relied_on first': 1,
    'chain_endpoint_relied_on second': 1,
    deposits_orphaned: 0,
    x402_sent: 0,
  })
  const customer = await world.customer()
  const to = await customer.address()
  const watched = world.services.chains[0]!
  const watch = depositWatcher(world.services, watched)
  chain.pay('USDC', to, usd(1))
  await watch()
  chain.reorganise(1, 'dropped')
  await watch()
  chain.pay('USDC', to, usd(2))
  chain.grow(5)
  await watch()
  chain.nodes[1].isDown = true
  chain.pay('USDC', to, usd(3))
  chain.grow(5)
  await watch()
  chain.pay('USDC', to, usd(4))
  await watch()
  Object.assign(watched, { lookedAt: world.clock.now(), settlementsLeft: 7 })
  world.clock.advance(12_000)
  expect(await measured()).toEqual({
    'chain_endpoint_relied_on first': 1,
    'chain_endpoint_relied_on second': 0,
    'chain_block head': 15,
    'chain_block scanned': 15,
    'chain_block finalized': 0,
    'chain_block witnessed': 0,
    chain_look_age_seconds: 12,
    'deposits seen': 1,
    'deposits credited': 2,
    'deposits unwitnessed': 1,
    deposits_orphaned: 1,
    x402_sent: 0,
    gas_wallet_settlements_left: 7,
  })
})
