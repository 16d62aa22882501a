import { startTestChains, testWallet } from '@coinrack/server/chain/testing.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { payOnDemoChain } from './pay-on-demo-chain.ts'

const PAYERS = 20
const address = '0x52908400098527886E0F7030069857D2E4169EE7'

let chains: Awaited<ReturnType<typeof startTestChains>>

beforeAll(async () => {
  chains = await startTestChains()
})
afterAll(() => chains?.stop())

test('behavior: of payers that come at the same moment with the same key, none loses its transfer', async () => {
  const [base] = chains.chains
  const { address: token_address, symbol } = base!.tokens[0]!
  const option = { chain_id: base!.chainId, token_address, address, amount_atomic: '5' }
  const hashes = await Promise.all(Array.from({ length: PAYERS }, () => payOnDemoChain(chains.demo, option)))
  expect(new Set(hashes).size).toBe(PAYERS)
  const wallet = testWallet(base!, chains.demo.faucet_key)
  expect(await wallet.balance(symbol, address)).toBe(5n * BigInt(PAYERS))
})

test('error: a chain that the demo does not have', async () => {
  const option = { chain_id: 10, token_address: address, address, amount_atomic: '5' }
  await expect(payOnDemoChain(chains.demo, option)).rejects.toThrow('The demo has no chain 10')
})
