import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { concat, encodeFunctionData, pad, parseAbi } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ChainSettings } from './chain-settings.ts'
import type { DemoChains } from './demo-chains.ts'
import { TestUSDC } from './generated/contracts.ts'
import { startTestChains, testWallet } from './testing.ts'
import { ChainUnavailableError, viemChain } from './viem-chain.ts'

const someone = '0x52908400098527886e0f7030069857d2e4169ee7'
let demo: DemoChains
let settings: ChainSettings
let wallet: ReturnType<typeof testWallet>
let proxy: Server | undefined

beforeAll(async () => {
  demo = await startTestChains()
  settings = demo.chains[0]!
  wallet = testWallet(settings, demo.demo.faucet_key)
})
afterAll(() => demo.stop())
afterEach(() => proxy?.close())

interface Rpc {
  method: string
  params: { fromBlock: string; toBlock: string }[]
}

/** A node between: it answers what `change` makes of the question, or passes it on. */
async function nodeThat(
  change: (rpc: Rpc) => { result: unknown } | { error: object } | undefined,
): Promise<string> {
  proxy = createServer(async (request, response) => {
    const body = await text(request)
    const rpc = JSON.parse(body)
    const changed = change(rpc)
    const answer = changed
      ? JSON.stringify({ jsonrpc: '2.0', id: rpc.id, ...changed })
      : await (
          await fetch(settings.rpcUrls[0]!, {
            method: 'POST',
            body,
            headers: { 'content-type': 'application/json' },
          })
        ).text()
    response.setHeader('content-type', 'application/json').end(answer)
  })
  await new Promise<void>((resolve) => proxy!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

test('default: the transfers of accepted tokens in a range, as receipt and logs show them', async () => {
  const chain = viemChain(settings)
  const hash = await wallet.pay('USDT', someone, 42n)
  const receipt = await chain.receipt(hash)
  expect(receipt).toMatchObject({ succeeded: true, transfers: [{ to: someone, value: 42n, txHash: hash }] })
  const { number } = receipt!.block
  expect(await chain.transfers(number, number)).toEqual(receipt!.transfers)
  const { hash: parentHash } = (await chain.block(number - 1))!
  expect(await chain.block(number)).toEqual({ ...receipt!.block, parentHash })
})

test('behavior: a token of the same symbol that is not accepted is not there', async () => {
  const hash = await wallet.client.deployContract({
    ...TestUSDC,
    args: [wallet.client.account.address, 1000n],
    chain: null,
  })
  const { contractAddress } = await wallet.client.waitForTransactionReceipt({ hash })
  const abi = parseAbi(['function transfer(address to, uint256 value)'])
  const fake = await wallet.send({
    to: contractAddress!,
    data: encodeFunctionData({ abi, functionName: 'transfer', args: [someone, 7n] }),
  })
  const receipt = await viemChain(settings).receipt(fake)
  expect(receipt).toMatchObject({ succeeded: true, transfers: [] })
  expect(await viemChain(settings).transfers(receipt!.block.number, receipt!.block.number)).toEqual([])
})

test('behavior: a reverted transaction has moved nothing', async () => {
  const usdc = settings.tokens[0]!.address
  const hash = await wallet.client.sendTransaction({
    to: usdc,
    data: concat(['0x23b872dd', pad(someone), pad(usdc), pad('0x01')]),
    gas: 100_000n,
    chain: null,
  })
  await wallet.client.waitForTransactionReceipt({ hash })
  expect(await viemChain(settings).receipt(hash)).toMatchObject({ succeeded: false, transfers: [] })
})

test('behavior: what is not there is undefined', async () => {
  expect(await viemChain(settings).block(1_000_000)).toBeUndefined()
  expect(await viemChain(settings).receipt(`0x${'12'.repeat(32)}`)).toBeUndefined()
})

test('behavior: a range that a node finds too large is asked for in halves', async () => {
  await wallet.pay('USDC', someone, 1n)
  const url = await nodeThat(({ method, params }) => {
    if (method !== 'eth_getLogs') return undefined
    const { fromBlock, toBlock } = params[0]!
    return Number(toBlock) - Number(fromBlock) > 1
      ? { error: { code: -32005, message: 'too many results' } }
      : undefined
  })
  const head = (await viemChain(settings).block('latest'))!.number
  const inHalves = await viemChain({ ...settings, rpcUrls: [url] }).transfers(0, head)
  expect(inHalves.length).toBeGreaterThan(3)
  expect(inHalves).toEqual(await viemChain(settings).transfers(0, head))
})

test('behavior: the next node answers for one that is down', async () => {
  const chain = viemChain({ ...settings, rpcUrls: ['http://127.0.0.1:9', ...settings.rpcUrls] })
  expect(await chain.block('latest')).toEqual(await viemChain(settings).block('latest'))
})

test('behavior: the next node answers for one that lags, which would show no logs', async () => {
  const hash = await wallet.pay('PYUSD', someone, 3n)
  const lagging = await nodeThat(({ method }) =>
    method === 'eth_blockNumber' ? { result: '0x1' } : method === 'eth_getLogs' ? { result: [] } : undefined,
  )
  const { block } = (await viemChain(settings).receipt(hash))!
  const chain = viemChain({ ...settings, rpcUrls: [lagging, ...settings.rpcUrls] })
  expect(await chain.transfers(block.number, block.number)).toHaveLength(1)
})

test('behavior: receipts are asked of every node, and those that are down are left out', async () => {
  const hash = await wallet.pay('USDC', someone, 1n)
  const url = await nodeThat(({ method }) =>
    method === 'eth_getTransactionReceipt' ? { result: null } : undefined,
  )
  const chain = viemChain({ ...settings, rpcUrls: ['http://127.0.0.1:9', url, ...settings.rpcUrls] })
  expect(chain.nodes).toBe(3)
  expect(await chain.receipts(hash)).toEqual([undefined, await viemChain(settings).receipt(hash)])
})

test('error: the only node lags', async () => {
  const head = (await viemChain(settings).block('latest'))!.number
  await expect(viemChain(settings).transfers(head, head + 1)).rejects.toThrow(ChainUnavailableError)
})

test('error: no node answers', async () => {
  const chain = viemChain({ ...settings, rpcUrls: ['http://127.0.0.1:9'] })
  await expect(chain.block('latest')).rejects.toThrow('No node of base answers')
})
