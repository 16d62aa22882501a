import { chmod, mkdtemp, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DemoChains, startDemoChains, stopDemoChains } from './demo-chains.ts'
import { payFromFaucet } from './pay-from-faucet.ts'
import { rpcNode } from './rpc-node.ts'
import { testWallet } from './testing.ts'
import { viemChain } from './viem-chain.ts'

const user = await serviceUser()
const someone = '0x52908400098527886E0F7030069857D2E4169EE7'
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-demo-'))
  await chmod(folder, 0o711)
})
afterEach(async () => {
  await stopDemoChains(folder)
  await rm(folder, { recursive: true })
})

const start = () => startDemoChains({ dataFolder: folder, cacheFolder: join(folder, 'cache'), user })
const pidOf = async (chainId: number) => readFile(join(folder, 'run', 'chain', `${chainId}.pid`), 'utf8')
const base = ({ chains, demo }: DemoChains) => testWallet(chains[0]!, demo.faucet_key)

test('default: three chains with all nine tokens, of which the faucet holds plenty', async () => {
  const demo = await start()
  expect(demo.demo.chains.map((chain) => chain.chain_id)).toEqual([8453, 1, 137])
  for (const chain of demo.chains) {
    const wallet = testWallet(chain, demo.demo.faucet_key)
    expect(await wallet.client.getChainId()).toBe(chain.chainId)
    for (const { symbol } of chain.tokens) {
      expect(await wallet.balance(symbol, wallet.client.account.address)).toBe(10n ** 15n)
    }
  }
  const addresses = demo.chains.flatMap((chain) => chain.tokens.map((token) => token.address))
  expect(new Set(addresses).size).toBe(9)
})

test('behavior: the second start adopts them in less than half a second', async () => {
  const first = await start()
  const hash = await base(first).pay('USDT', someone, 1n)
  const pid = await pidOf(8453)

  const begun = performance.now()
  const second = await start()
  expect(performance.now() - begun).toBeLessThan(500)
  expect(await pidOf(8453)).toBe(pid)
  expect(second.demo).toEqual(first.demo)
  expect(await viemChain(second.chains[0]!).receipt(hash)).toMatchObject({ succeeded: true })
})

test('behavior: stopped and started again, they have the same history at the same place', async () => {
  const first = await start()
  const hash = await base(first).pay('USDT', someone, 5n)
  const before = rpcNode(first.chains[0]!, first.chains[0]!.rpcUrls[0]!)
  const [genesis, head] = await Promise.all([before.block(0), before.block('latest')])
  await first.stop()

  const second = await start()
  expect(second.demo).toEqual(first.demo)
  const chain = rpcNode(second.chains[0]!, second.chains[0]!.rpcUrls[0]!)
  expect(await chain.block(0)).toEqual(genesis)
  expect(await chain.block('latest')).toEqual(head)
  expect((await chain.receipt(hash))?.transfers).toMatchObject([{ value: 5n, to: someone.toLowerCase() }])
  expect(await chain.transfers(0, head!.number)).toHaveLength(4)
  await base(second).pay('USDT', someone, 6n)
  expect(await chain.block('latest')).toMatchObject({ parentHash: head!.hash })
})

test('behavior: half a state, as a power cut leaves it, does not stop the next start', async () => {
  const first = await start()
  await first.stop()
  await truncate(join(folder, 'chain', '8453', 'state.json'), 1000)
  const second = await start()
  expect(await base(second).balance('USDC', base(second).client.account.address)).toBe(10n ** 15n)
})

test('behavior: payments from the faucet that are asked for at once all arrive', async () => {
  const { chains, demo } = await start()
  const { chainId, tokens } = chains[0]!
  const option = {
    chain_id: chainId,
    token_address: tokens[0]!.address,
    address: someone,
    amount_atomic: '5',
  }
  const hashes = await Promise.all(Array.from({ length: 10 }, () => payFromFaucet(demo, option)))
  expect(new Set(hashes).size).toBe(10)
  expect(await testWallet(chains[0]!, demo.faucet_key).balance(tokens[0]!.symbol, someone)).toBe(50n)
})
