import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { concat, encodeFunctionData, pad, parseAbi } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { NodeLagsError } from './chain-port.ts'
import type { ChainSettings } from './chain-settings.ts'
import type { DemoChains } from './demo-chains.ts'
import { TestUSDC } from './generated/contracts.ts'
import { minedReceipt } from './mined-receipt.ts'
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

/** A proxy before a node: it answers with what `change` makes of the request and the true answer, or passes it on. */
async function nodeThat(
  // biome-ignore lint/suspicious/noExplicitAny: the type of a JSON-RPC result depends on the method
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
  const { contractAddress } = await minedReceipt(wallet.client, hash)
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
  await minedReceipt(wallet.client, hash)
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

/** A proxy before a node that records the sizes of the requested ranges, and answers for at most `limit.blocks` blocks. */
async function nodeWithLimit(limit: { blocks: number }) {
  const asked: number[] = []
  const url = await nodeThat(({ method, params }) => {
    if (method !== 'eth_getLogs') return undefined
    const blocks = Number(params[0]!.toBlock) - Number(params[0]!.fromBlock) + 1
    asked.push(blocks)
    return blocks > limit.blocks
      ? { error: { code: -32005, message: 'query returned more than 10000 results' } }
      : undefined
  })
  return { node: nodeOf(url), asked }
}

test('behavior: how many blocks an endpoint answers for is remembered, and more are tried again slowly', async () => {
  await wallet.client.request({ method: 'anvil_mine' as never, params: ['0x80'] as never })
  const head = (await nodeOf().block('latest'))!.number
  const limit = { blocks: 4 }
  const { node, asked } = await nodeWithLimit(limit)
  const first = await node.transfers(0, head)
  expect(first).toEqual(await nodeOf().transfers(0, head))
  expect(Math.max(...asked)).toBe(head + 1)
  const begin = asked.length
  limit.blocks = 1_000
  expect(await node.transfers(0, head)).toEqual(first)
  const later = asked.slice(begin)
  expect(later[0]).toBeLessThanOrEqual(8)
  expect(Math.max(...later)).toBeGreaterThan(later[0]!)
  expect(later.every((blocks, index) => index === 0 || blocks <= later[index - 1]! + 1)).toBe(true)
})

test('behavior: after an answer that took too long fewer blocks are asked for', async () => {
  const head = (await nodeOf().block('latest'))!.number
  const asked: number[] = []
  let hangs = true
  const url = await nodeThat(async ({ method, params }, passOn) => {
    if (method !== 'eth_getLogs') return undefined as never
    asked.push(Number(params[0]!.toBlock) - Number(params[0]!.fromBlock) + 1)
    if (hangs) await new Promise((resolve) => setTimeout(resolve, 1_000))
    return passOn()
  })
  const node = rpcNode(settings, url, { logsTimeoutMs: 300 })
  await expect(node.transfers(0, head)).rejects.toThrow('it did not answer in 0.3 s')
  expect(asked).toEqual([head + 1])
  hangs = false
  expect(await node.transfers(0, head)).toEqual(await nodeOf().transfers(0, head))
  expect(asked[1]).toBe((head + 1) >> 1)
})

test('behavior: only transfers to those who are wanted are kept, with the numbers that they have among all', async () => {
  const other = '0x0000000000000000000000000000000000000b0b'
  for (const to of [someone, other, someone] as const) await wallet.pay('USDC', to, 9n)
  const head = (await nodeOf().block('latest'))!.number
  // Makes all logs look as if they were of one transaction.
  const url = await nodeThat(({ method }, passOn) =>
    method === 'eth_getLogs'
      ? passOn().then(({ result }) => ({
          result: (result as object[]).map((log, index) => ({
            ...log,
            transactionHash: `0x${'ab'.repeat(32)}`,
            blockHash: `0x${'cd'.repeat(32)}`,
            blockNumber: '0x1',
            logIndex: `0x${index.toString(16)}`,
          })),
        }))
      : undefined,
  )
  const all = await nodeOf(url).transfers(0, head)
  const asked = new Set<string>()
  const ours = await nodeOf(url).transfers(0, head, (to) => {
    asked.add(to)
    return to === someone
  })
  expect(ours).toEqual(all.filter(({ to }) => to === someone))
  expect(asked).toContain(other)
  expect(ours.filter(({ value }) => value === 9n).map(({ ordinal }) => ordinal)).toEqual([0, 1])
})

test('error: a log that is malformed, also where it would not be kept', async () => {
  const head = (await nodeOf().block('latest'))!.number
  for (const change of [{ data: '0x' }, { blockHash: '0x12' }, { address: '0x12' }, { topics: undefined }]) {
    const url = await nodeThat(({ method }, passOn) =>
      method === 'eth_getLogs'
        ? passOn().then(({ result }) => ({
            result: (result as object[]).map((log, index) => (index === 1 ? { ...log, ...change } : log)),
          }))
        : undefined,
    )
    await expect(nodeOf(url).transfers(0, head, () => false)).rejects.toThrow('it showed something')
    proxy!.close()
  }
})

/** A proxy before a node that answers a request for logs with these bytes, with a pause in their middle. */
async function nodeThatWrites(answer: (log: string) => string, status = 200): Promise<string> {
  proxy = createServer(async (request, response) => {
    const body = await text(request)
    const { method } = JSON.parse(body)
    const headers = { 'content-type': 'application/json' }
    const passed = await (await fetch(settings.rpcUrls[0]!, { method: 'POST', body, headers })).text()
    if (method !== 'eth_getLogs') return response.end(passed)
    const written = answer(JSON.stringify(JSON.parse(passed).result[0]))
    response.statusCode = status
    response.write(written.slice(0, written.length / 2))
    await new Promise((resolve) => setTimeout(resolve, 20))
    return response.end(written.slice(written.length / 2))
  })
  await new Promise<void>((resolve) => proxy!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

test.each([
  { what: 'half of an answer', answer: (log: string) => `{"jsonrpc":"2.0","id":1,"result":[${log},` },
  { what: 'a log that breaks off', answer: (log: string) => `{"result":[${log},${log.slice(0, 200)}` },
  { what: 'something else than a list', answer: () => '{"jsonrpc":"2.0","id":1,"result":{}}' },
  { what: 'nothing', answer: () => '' },
  { what: 'a page', answer: () => '<html>Bad gateway</html>' },
  { what: 'an element that is no log', answer: (log: string) => `{"result":[${log},7]}` },
])('error: $what in the place of logs', async ({ answer }) => {
  const node = nodeOf(await nodeThatWrites(answer))
  await expect(node.transfers(0, 3)).rejects.toThrow(/it (answered|showed) /)
})

test('error: a status of HTTP, unless an error is said with it', async () => {
  const away = nodeOf(await nodeThatWrites(() => 'away', 502))
  await expect(away.transfers(0, 3)).rejects.toThrow('it answered with status 502')
  proxy!.close()
  const busy = await nodeThatWrites(() => '{"error":{"code":-32005,"message":"too many requests"}}', 429)
  await expect(nodeOf(busy).transfers(0, 3)).rejects.toThrow('it answered with status 429')
  proxy!.close()
  let asked = 0
  const said = () => {
    asked++
    return '{"error":{"code":-32602,"message":"block range too wide"}}'
  }
  await expect(nodeOf(await nodeThatWrites(said, 400)).transfers(0, 3)).rejects.toThrow(
    'it said: block range too wide',
  )
  expect(asked).toBe(3)
})

test('behavior: an answer that is too large is asked for in halves', async () => {
  const head = (await nodeOf().block('latest'))!.number
  let asked = 0
  const url = await nodeThat(({ method }, passOn) => {
    if (method !== 'eth_getLogs' || asked++ > 0) return undefined
    return passOn().then(({ result }) => ({ result: Array(180_000).fill(result[0]) }))
  })
  expect(await nodeOf(url).transfers(0, head)).toEqual(await nodeOf().transfers(0, head))
  expect(asked).toBeGreaterThanOrEqual(3)
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
