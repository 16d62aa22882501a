import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import type { ChainSettings } from '@coinrack/server/chain/chain-settings.ts'
import { startTestChains, testWallet } from '@coinrack/server/chain/testing.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'

/*
 * Transfers per second that the watcher of deposits reads, beside the floor: bare `eth_getLogs`, `JSON.parse` and the
 * least decoding, of the same answers in the same ranges. In turns, each in a process of its own, which says its largest
 * memory. The answers are those of a real node for a few real transfers, replayed with other places and recipients: to
 * fill a node with so many takes longer, as is said.
 * `npm run bench:scan -- [rounds] [one transfer in so many is ours]`
 */

const [rounds = 7, oneIn = 100] = process.argv.slice(2).map(Number)
const BLOCKS = 2_500
const PER_BLOCK = 200
const ADDRESSES = 100_000
const SAMPLES = 200

interface Side {
  seconds: number
  cpuSeconds: number
  found: number
  idleMb: number
  peakMb: number
}

const here = (name: string) => new URL(`./${name}.ts`, import.meta.url).pathname
const ours = (index: number) => `0x${(index + 1).toString(16).padStart(40, '0')}`
const theirs = (index: number) => `0xffff${index.toString(16).padStart(36, '0')}`
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const folder = await mkdtemp('/tmp/coinrack-bench-')
const user = await serviceUser()
await prepareDataFolder(folder, user)
const postgres = await startEmbeddedPostgres({ dataFolder: folder, cacheFolder: join(folder, 'cache'), user })
const chains = await startTestChains()

/** A log of a real transfer, as the node writes it. */
async function sampleOf(chain: ChainSettings): Promise<Record<string, unknown>> {
  const wallet = testWallet(chain, chains.demo.faucet_key)
  const begin = performance.now()
  for (let index = 0; index < SAMPLES; index++) await wallet.pay('USDC', theirs(index) as `0x${string}`, 1n)
  const each = (performance.now() - begin) / SAMPLES
  const hours = (each * BLOCKS * PER_BLOCK) / 3_600_000
  console.log(
    `A real transfer takes ${each.toFixed(1)} ms: ${BLOCKS * PER_BLOCK} would take ${hours.toFixed(1)} h`,
  )
  const address = chain.tokens.find(({ symbol }) => symbol === 'USDC')!.address
  const params = [{ address, fromBlock: '0x1', toBlock: 'latest' }]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(chain.rpcUrls[0]!, { method: 'POST', headers, body })
  return ((await answer.json()) as { result: Record<string, unknown>[] }).result.at(-1)!
}

async function replay(chain: ChainSettings, sample: Record<string, unknown>) {
  const recipients = Array.from({ length: ADDRESSES * oneIn }, (_, index) =>
    index % oneIn === 0 ? ours(index / oneIn) : theirs(index),
  ).slice(0, BLOCKS * PER_BLOCK)
  const server = spawn(process.execPath, [here('replay-logs')], { stdio: ['pipe', 'pipe', 'inherit'] })
  server.stdin.end(
    JSON.stringify({ sample, chainId: chain.chainId, blocks: BLOCKS, perBlock: PER_BLOCK, recipients }),
  )
  const lines = createInterface(server.stdout)
  const [port] = (await new Promise<string>((resolve) => lines.once('line', resolve))).split(' ')
  return { url: `http://127.0.0.1:${port}`, stop: () => server.kill() }
}

let stopServer = () => true as boolean
try {
  const pool = openPool(postgres.url, { size: 1, onError: () => {} })
  await migrate(pool)
  await pool.query(
    `insert into account (id, email, created_at) values ('acc_1', 'buyer@rackmail.net', now())`,
  )
  await pool.query(
    `insert into deposit_address (counter, address, account_id, invoice_id, created_at)
     select n, '0x' || lpad(to_hex(n), 40, '0'), 'acc_1', 'inv_' || n, now() from generate_series(1, $1::int) n`,
    [ADDRESSES],
  )
  await pool.end()
  const chain = chains.chains[0]!
  const server = await replay(chain, await sampleOf(chain))
  stopServer = server.stop
  const measure = async (side: 'bare' | 'watcher'): Promise<Side> => {
    const { chainId, tokens } = chain
    const settings = { chainId, tokens, rpcUrls: [server.url] }
    const about = JSON.stringify([side, settings, postgres.url, BLOCKS])
    const { stdout } = await runCommand(process.execPath, [here('scan-side'), about])
    return JSON.parse(stdout)
  }
  const sides = { bare: [] as Side[], watcher: [] as Side[] }
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? (['bare', 'watcher'] as const) : (['watcher', 'bare'] as const))
      sides[side].push(await measure(side))
    const [bare, watcher] = [sides.bare.at(-1)!, sides.watcher.at(-1)!]
    if (bare.found !== watcher.found) throw new Error(`Found ${watcher.found} and not ${bare.found}`)
    console.log(JSON.stringify({ round, bare, watcher }))
  }
  const ratios = sides.bare.map(({ seconds }, round) => seconds / sides.watcher[round]!.seconds)
  const perSecond = (side: Side[]) =>
    Math.round((BLOCKS * PER_BLOCK) / median(side.map(({ seconds }) => seconds)))
  const peak = (side: Side[]) => Math.round(Math.max(...side.map(({ peakMb }) => peakMb)))
  console.log(
    `${BLOCKS * PER_BLOCK} transfers, ${sides.bare[0]!.found} of them to ${ADDRESSES} addresses of ours, ${rounds} rounds`,
  )
  console.log(`bare     ${perSecond(sides.bare)} transfers/s, largest memory ${peak(sides.bare)} MB`)
  console.log(`watcher  ${perSecond(sides.watcher)} transfers/s, largest memory ${peak(sides.watcher)} MB`)
  console.log(
    `ratio    ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
  )
} finally {
  stopServer()
  await chains.stop()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
