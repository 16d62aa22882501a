import { chainOfNodes } from '@coinrack/server/chain/chain-of-nodes.ts'
import type { ChainSettings } from '@coinrack/server/chain/chain-settings.ts'
import { rpcNode } from '@coinrack/server/chain/rpc-node.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { knownAddresses } from '@coinrack/server/payments/deposit-address-store.ts'
import { ourTransfers } from '@coinrack/server/payments/our-transfers.ts'
import { scanSteps } from '@coinrack/server/payments/scan-chain.ts'
import { zeroAddress } from 'viem'

/*
 * One side of `scan-logs.ts`, in a process of its own: `bare` asks for logs and decodes them, `watcher` reads them as the
 * watcher of deposits does. Says the seconds, what it found and its largest memory.
 */

const [side, settings, databaseUrl, blocks]: ['bare' | 'watcher', ChainSettings, string, number] = JSON.parse(
  process.argv[2]!,
)
const url = settings.rpcUrls[0]!
const db = openPool(databaseUrl, { size: 1, onError: () => {} })
// No customer buys without an account here.
const addresses = knownAddresses({ db, depositAddressOf: () => zeroAddress })
await addresses.refresh()
await db.end()

/** The least that anybody has to do. */
async function readBare(fromBlock: number, toBlock: number): Promise<number> {
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'eth_getLogs' },
    params: [{ fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` }],
  })
  const answer = await fetch(url, { method: 'POST', body })
  const { result } = (await answer.json()) as { result: Record<string, string>[] }
  const transfers = result.map((log) => ({
    token: log.address!,
    from: `0x${log.topics![1]!.slice(26)}`,
    to: `0x${log.topics![2]!.slice(26)}`,
    value: BigInt(log.data!),
    txHash: log.transactionHash!,
    logIndex: Number(log.logIndex),
    blockNumber: Number(log.blockNumber),
    blockHash: log.blockHash!,
  }))
  return transfers.filter(({ to }) => addresses.find(to)).length
}

const node = rpcNode(settings, url)
const chain = { settings, port: chainOfNodes(settings, [node]) }
async function readAsWatcher(fromBlock: number, toBlock: number): Promise<number> {
  const transfers = await node.transfers(fromBlock, toBlock, (to) => addresses.find(to) !== undefined)
  return (await ourTransfers(chain, transfers, addresses)).length
}

const idleMb = process.memoryUsage.rss() / 1e6
const begin = performance.now()
let found = 0
const BARE_BLOCKS = 500
const steps = scanSteps()
for (let from = 0; from < blocks; ) {
  const size = side === 'bare' ? BARE_BLOCKS : steps.blocks
  const last = Math.min(from + size, blocks) - 1
  const ours = side === 'bare' ? await readBare(from, last) : await readAsWatcher(from, last)
  steps.found(ours)
  found += ours
  from = last + 1
}
const seconds = (performance.now() - begin) / 1000
const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6
process.stdout.write(JSON.stringify({ seconds, cpuSeconds, found, idleMb, peakMb: (maxRSS * 1024) / 1e6 }))
