import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DemoChains } from './demo-chains.ts'
import { startTestChains } from './testing.ts'
import { readTokenDomain } from './token-domain.ts'

let demo: DemoChains
beforeAll(async () => {
  demo = await startTestChains()
})
afterAll(() => demo.stop())

const read = (address: `0x${string}`, url = demo.chains[1]!.rpcUrls[0]) =>
  readTokenDomain(createPublicClient({ transport: http(url, { retryCount: 0 }) }), { address })

test('default: name and version that the token signs under', async () => {
  const domains = await Promise.all(
    demo.chains[1]!.tokens.map(async ({ symbol, address }) => [symbol, await read(address)]),
  )
  expect(Object.fromEntries(domains)).toEqual({
    USDC: { name: 'USD Coin', version: '2' },
    USDT: undefined,
    PYUSD: { name: 'PayPal USD', version: '1' },
  })
})

test('behavior: an address without a contract has none', async () => {
  expect(await read('0x1111111111111111111111111111111111111111')).toBeUndefined()
})

test('error: a node that does not answer is not a token without signatures', async () => {
  await expect(read(demo.chains[1]!.tokens[0]!.address, 'http://127.0.0.1:1')).rejects.toThrow()
})
