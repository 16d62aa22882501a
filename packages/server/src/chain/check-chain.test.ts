import { afterAll, beforeAll, expect, test } from 'vitest'
import { ChainUnavailableError } from './chain-port.ts'
import type { ChainSettings } from './chain-settings.ts'
import { checkChain } from './check-chain.ts'
import type { DemoChains } from './demo-chains.ts'
import { forwarderFactoryAddress } from './forwarder-factory.ts'
import { asProduction, startTestChains, testWallet } from './testing.ts'

let demo: DemoChains
let good: ChainSettings

beforeAll(async () => {
  demo = await startTestChains()
  good = await asProduction(demo.chains[1]!, demo.demo.faucet_key)
})
afterAll(() => demo.stop())

test('default: settings that are true', async () => {
  await checkChain(good)
})

test('behavior: an endpoint that is down is left to be checked when it answers', async () => {
  await checkChain({ ...good, rpcUrls: ['http://127.0.0.1:9', ...good.rpcUrls] })
})

test('error: no endpoint answers', async () => {
  await expect(checkChain({ ...good, rpcUrls: ['http://127.0.0.1:9'] })).rejects.toThrow(
    ChainUnavailableError,
  )
})

test('error: a treasury without code', async () => {
  await expect(checkChain(demo.chains[1]!)).rejects.toThrow('must be a multisig')
})

test('error: deposit addresses whose factory nobody has deployed, or that is another contract', async () => {
  const { address: treasury } = good.tokens[0]!
  const factory = forwarderFactoryAddress(treasury)
  await expect(checkChain({ ...good, treasury })).rejects.toThrow(
    new RegExp(`forwarder factory is not at ${factory} yet: npm run operator -- treasury deploy ethereum`),
  )
  const { client } = testWallet(good, demo.demo.faucet_key)
  await client.request({ method: 'anvil_setCode' as never, params: [factory, '0x00'] as never })
  await expect(checkChain({ ...good, treasury })).rejects.toThrow(
    `forwarder factory at ${factory} is another contract`,
  )
})

test('error: an endpoint of another chain', async () => {
  const rpcUrls = [...good.rpcUrls, ...demo.chains[0]!.rpcUrls]
  await expect(checkChain({ ...good, rpcUrls })).rejects.toThrow('is a node of chain 8453')
})

test('error: a token that is not there', async () => {
  const tokens = demo.chains[0]!.tokens
  await expect(checkChain({ ...good, tokens })).rejects.toThrow(
    /USDC at .* has no code.*USDT at .* has no code/,
  )
})

test('error: two tokens in the place of each other', async () => {
  const [usdc, usdt] = good.tokens
  const tokens = [{ ...usdc!, address: usdt!.address }]
  await expect(checkChain({ ...good, tokens })).rejects.toThrow('is USDT, not USDC')
})
