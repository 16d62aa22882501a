import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { concat, encodeFunctionData, pad, parseAbi } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { NodeLagsError } from './chain-port.ts'
import type { ChainSettings } from './chain-settings.ts'
import type { DemoChains } from './demo-chains.ts'
import { TestUSDC } from './generated/contracts.ts'
import { rpcNode } from './rpc-node.ts'
import { startTestChains, testWallet } from './testing.ts'

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

const nodeOf = (url = settings.rpcUrls[0]!) => rpcNode(settings, url)

type Answer = { result: unknown } | { error: object }

/** A node between: it answers what `change` makes of the question and of the true answer, or passes it on. */
async function nodeThat(
  // biome-ignore lint/suspicious/noExplicitAny: an answer of JSON-RPC is whatever the method answers
  change: (rpc: Rpc, passOn: () => Promise<any>) => Answer | Promise<Answer> | undefined,
): Promise<string> {
  proxy = createServer(async (request, response) => {
    const body = await text(request)
    const rpc = JSON.parse(body)
    const passOn = async () => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(settings.rpcUrls[0]!, { method: 'POST', body, headers })).json()
    }
    const changed = await change(rpc, passOn)
    const answer = changed ? { jsonrpc: '2.0', id: rpc.id, ...changed } : await passOn()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => proxy!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

test('default: the transfers of accepted tokens in a range, as receipt and logs show them', async () => {
  const node = nodeOf()
  const hash = await wallet.pay('USDT', someone, 42n)
  const receipt = await node.receipt(hash)
  expect(receipt).toMatchObject({ succeeded: true, transfers: [{ to: someone, value: 42n, txHash: hash }] })
  const { number } = receipt!.block
  expect(await node.transfers(number, number)).toEqual(receipt!.transfers)
  const { hash: parentHash } = (await node.block(number - 1))!
  const timestamp = Number((await wallet.client.getBlock({ blockNumber: BigInt(number) })).timestamp)
  expect(await node.block(number)).toEqual({ ...receipt!.block, parentHash, timestamp })
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
  const receipt = await nodeOf().receipt(fake)
  expect(receipt).toMatchObject({ succeeded: true, transfers: [] })
  expect(await nodeOf().transfers(receipt!.block.number, receipt!.block.number)).toEqual([])
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
  expect(await nodeOf().receipt(hash)).toMatchObject({ succeeded: false, transfers: [] })
})

test('behavior: what is not there is undefined', async () => {
  expect(await nodeOf().block(1_000_000)).toBeUndefined()
  expect(await nodeOf().receipt(`0x${'12'.repeat(32)}`)).toBeUndefined()
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
  const head = (await nodeOf().block('latest'))!.number
  const inHalves = await nodeOf(url).transfers(0, head)
  expect(inHalves.length).toBeGreaterThan(3)
  expect(inHalves).toEqual(await nodeOf().transfers(0, head))
})

test('error: it lags behind the blocks that it is asked about', async () => {
  const head = (await nodeOf().block('latest'))!.number
  await expect(nodeOf().transfers(head, head + 1)).rejects.toThrow(NodeLagsError)
  const lagging = await nodeThat(({ method }) =>
    method === 'eth_blockNumber' ? { result: '0x1' } : method === 'eth_getLogs' ? { result: [] } : undefined,
  )
  await expect(nodeOf(lagging).transfers(head, head)).rejects.toThrow('it is at block 1')
})

test('behavior: logs that come twice and in another order are there once, in the order of the chain', async () => {
  for (const value of [5n, 5n]) await wallet.pay('USDC', someone, value)
  const head = (await nodeOf().block('latest'))!.number
  const transfers = await nodeOf().transfers(0, head)
  const url = await nodeThat(({ method }, passOn) =>
    method === 'eth_getLogs'
      ? passOn().then(({ result }) => ({ result: [...result, ...result].reverse() }))
      : undefined,
  )
  expect(await nodeOf(url).transfers(0, head)).toEqual(transfers)
})

test.each([
  { what: 'a log of a block that was not asked for', change: { blockNumber: '0x7fffffff' } },
  { what: 'a hash that is none', change: { blockHash: '0x12' } },
  { what: 'a value that is none', change: { data: '0x' } },
  { what: 'text in the place of a number', change: { logIndex: 'seven' } },
])('error: $what', async ({ change }) => {
  const head = (await nodeOf().block('latest'))!.number
  const url = await nodeThat(({ method }, passOn) =>
    method === 'eth_getLogs'
      ? passOn().then(({ result }) => ({
          result: (result as object[]).map((log, index) => (index === 0 ? { ...log, ...change } : log)),
        }))
      : undefined,
  )
  await expect(nodeOf(url).transfers(0, head)).rejects.toThrow()
})

test.each([
  { what: 'of another number', method: 'eth_getBlockByNumber', result: { number: '0x5' } },
  { what: 'without a hash', method: 'eth_getBlockByNumber', result: { hash: null } },
])('error: a block $what', async ({ method, result }) => {
  const url = await nodeThat((rpc, passOn) =>
    rpc.method === method
      ? passOn().then((answer) => ({ result: { ...answer.result, ...result } }))
      : undefined,
  )
  await expect(nodeOf(url).block(1)).rejects.toThrow()
})

test('error: an endpoint of another chain is never believed', async () => {
  const other = rpcNode({ ...settings, chainId: 1 }, settings.rpcUrls[0]!)
  await expect(other.block('latest')).rejects.toThrow('it is an endpoint of chain 8453')
})

test('behavior: where nothing is final yet, an error says no more than that', async () => {
  const url = await nodeThat(({ method, params }) =>
    method === 'eth_getBlockByNumber' && (params as unknown[])[0] === 'finalized'
      ? { error: { code: -39001, message: 'finalized block not found' } }
      : undefined,
  )
  expect(await nodeOf(url).block('finalized')).toBeUndefined()
  expect(await nodeOf(url).block('latest')).toBeDefined()
})
