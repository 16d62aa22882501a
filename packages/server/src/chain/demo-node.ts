import { chown, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { adoptDetached, startDetached, stopDetached } from '@coinrack/host/detached-process.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { createTestClient, http, publicActions } from 'viem'

export interface DemoNodeOptions {
  dataFolder: string
  /** The path of the program; see `anvilBinary`. */
  anvil: string
  /** The user that the node runs as; by default that of the caller. */
  user?: RunAs
}

const READY_MS = 15_000

const pidFile = (dataFolder: string, chainId: number) => join(dataFolder, 'run', 'chain', `${chainId}.pid`)
const folderOf = (dataFolder: string, chainId: number) => join(dataFolder, 'chain', String(chainId))

/** A client for a demo node. */
export function demoClient(rpcUrl: string) {
  const transport = http(rpcUrl, { timeout: READY_MS, retryCount: 0 })
  return createTestClient({ mode: 'anvil', transport, pollingInterval: 20 }).extend(publicActions)
}

/**
 * Adopts the demo node of this chain, or starts it: a detached anvil on loopback that writes its state every second.
 * Its port is chosen at the first start and kept, so that wallets stay connected.
 * @returns the URL of its JSON-RPC, once it answers
 */
export async function startDemoNode(chainId: number, options: DemoNodeOptions): Promise<string> {
  const folder = folderOf(options.dataFolder, chainId)
  const portFile = join(folder, 'port')
  const kept = Number(await readFile(portFile, 'utf8').catch(() => '0'))
  if (await adoptDetached(pidFile(options.dataFolder, chainId))) return whenReady(chainId, kept)

  await mkdir(folder, { recursive: true })
  if (options.user) await chown(folder, options.user.uid, options.user.gid)
  const state = join(folder, 'state.json')
  await keepReadable(state)
  const port = await freePort(kept ? { from: kept, to: kept } : {}).catch(() => freePort())
  await writeFile(portFile, String(port))
  await startDetached({
    name: `chain ${chainId}`,
    command: options.anvil,
    args: nodeArguments(chainId, port, state),
    pidFile: pidFile(options.dataFolder, chainId),
    logFile: join(folder, 'anvil.log'),
    user: options.user,
  })
  return whenReady(chainId, port)
}

/** Ends the demo node of this chain after it wrote its state; does nothing when it is not running. */
export const stopDemoNode = (dataFolder: string, chainId: number) =>
  stopDetached(pidFile(dataFolder, chainId))

/** With one slot an epoch, a block is `safe` when one block follows it and `finalized` when two do. */
function nodeArguments(chainId: number, port: number, state: string): string[] {
  const settings = {
    '--host': '127.0.0.1',
    '--port': port,
    '--chain-id': chainId,
    '--state': state,
    '--state-interval': 1,
    '--slots-in-an-epoch': 1,
    '--accounts': 10,
    '--balance': 1_000_000_000,
  }
  return ['--quiet', ...Object.entries(settings).flatMap(([name, value]) => [name, String(value)])]
}

/**
 * Anvil writes its state in place, so a kill can leave half a file, which it would refuse to start from. In that case
 * the state that the last start found intact takes its place; without one, the chain starts over.
 */
async function keepReadable(state: string): Promise<void> {
  const text = await readFile(state, 'utf8').catch(() => undefined)
  if (text === undefined) return
  const spare = `${state}.whole`
  try {
    JSON.parse(text)
    await copyFile(state, spare)
  } catch {
    await copyFile(spare, state).catch(() => rm(state))
  }
}

async function whenReady(chainId: number, port: number): Promise<string> {
  const url = `http://127.0.0.1:${port}`
  const client = demoClient(url)
  let failure: unknown
  for (const started = performance.now(); performance.now() - started < READY_MS; await sleep(10)) {
    try {
      const answer = await client.getChainId()
      if (answer === chainId) return url
      failure = new Error(`Port ${port} is answered by chain ${answer}`)
    } catch (error) {
      failure = error
    }
  }
  throw new Error(`The demo node of chain ${chainId} does not answer at ${url}`, { cause: failure })
}
