import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { createClient } from '@coinrack/sdk/index.ts'
import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { asProduction, startTestChains } from '@coinrack/server/chain/testing.ts'
import { createTestDatabase } from '@coinrack/server/database/testing.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './support/sources.ts'

/*
 * Two computers with one database, in the production profile: the program as it is, a data folder each, and nothing that goes from
 * one to the other but the sealed file.
 */

const server = join(root, 'packages/server/src')
const TENDS = 'This service tends the machines'

let demo: DemoChains
let database: Awaited<ReturnType<typeof createTestDatabase>>
let folder: string
const running: ChildProcess[] = []

beforeAll(async () => {
  demo = await startTestChains()
  database = await createTestDatabase()
  folder = await mkdtemp('/tmp/coinrack-two-')
  await chmod(folder, 0o711)
})
afterAll(async () => {
  for (const child of running) await end(child, 'SIGTERM')
  await demo?.stop()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** A computer on which the software is installed, with settings of its own. */
function computer(own: Record<string, string>) {
  const env = { PATH: process.env.PATH!, HOME: folder, COINRACK_LOG_LEVEL: 'info', ...own }
  let said = ''
  return {
    said: () => said,
    operator: async (...words: string[]) =>
      JSON.parse(
        (
          await runCommand(process.execPath, [join(server, 'operator/cli.ts'), ...words, '--json'], {
            env,
            timeoutMs: 60_000,
          })
        ).stdout,
      ),
    async start(): Promise<ChildProcess> {
      const child = spawn(process.execPath, [join(server, 'process/main.ts')], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      running.push(child)
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
      while (!said.includes('Coinrack takes requests')) {
        if (child.exitCode !== null) throw new Error(`The service ended:\n${said}`)
        await sleep(100)
      }
      return child
    },
  }
}

async function chainsFile(): Promise<string> {
  const file = join(folder, 'chains.json')
  const real = await Promise.all(demo.chains.map((chain) => asProduction(chain, demo.demo.faucet_key)))
  const chains = real.map(({ network, rpcUrls: [url], tokens }) => ({
    network,
    rpc_urls: [url, url!.replace('127.0.0.1', 'localhost')],
    tokens: Object.fromEntries(tokens.map(({ symbol, address }) => [symbol, address])),
  }))
  await writeFile(file, JSON.stringify({ treasury: real[0]!.treasury, chains }))
  return file
}

test('behavior: the second serves the same customers by the sealed file alone, and goes on when the first is gone', async () => {
  const here = await freePort()
  const first = computer({
    COINRACK_PROFILE: 'production',
    COINRACK_CHAINS: await chainsFile(),
    COINRACK_PUBLIC_URL: 'https://vps.example.com',
    COINRACK_PUBLIC_IP: '203.0.113.7',
    COINRACK_SMTP_URL: 'smtp://127.0.0.1:9',
    COINRACK_SERVER_SECRET: randomBytes(32).toString('hex'),
    COINRACK_DEPOSIT_SECRET: randomBytes(32).toString('hex'),
    COINRACK_DATA: join(folder, 'first'),
    DATABASE_URL: database.url,
    COINRACK_PORT: String(here),
    COINRACK_METRICS_PORT: '0',
    COINRACK_REPLICA_ADDRESS: `127.0.0.1:${await freePort()}`,
    COINRACK_SANDBOXES: 'false',
    COINRACK_INSTANT_VPS: 'off',
  })
  const program = await first.start()
  const { passphrase } = await first.operator('replica', 'bundle', join(folder, 'replica.age'))

  const dataFolder = join(folder, 'second')
  const second = computer({ COINRACK_DATA: dataFolder, COINRACK_LOG_LEVEL: 'info' })
  await writeFile(join(folder, 'passphrase'), passphrase)
  await second.operator(
    'replica',
    'join',
    join(folder, 'replica.age'),
    '--passphrase',
    join(folder, 'passphrase'),
  )
  const there = await freePort()
  const own = {
    COINRACK_LOCAL_MACHINES: 'false',
    COINRACK_PORT: String(there),
    COINRACK_METRICS_PORT: '0',
    COINRACK_REPLICA_ADDRESS: `127.0.0.1:${await freePort()}`,
  }
  const lines = Object.entries(own).map(([name, text]) => `${name}=${text}\n`)
  await appendFile(join(dataFolder, 'coinrack.env'), lines.join(''))
  await second.start()
  expect(first.said()).toContain(TENDS)
  expect(second.said()).not.toContain(TENDS)

  const at = (port: number, token?: string) =>
    createClient({ url: `http://127.0.0.1:${port}`, ...(token && { token }) })
  const { token } = await at(here).registerAccount({ email: 'two@rackmail.net' })
  const [one, two] = [at(here, token), at(there, token)]
  await second.operator('credit', 'two@rackmail.net', '5', '--reason', 'test')
  expect((await one.getBalance()).balance).toBe(5_000_000n)
  const { invoice } = await two.topupBalance({ amount: 10 })
  const { id: invoice_id, payment_options } = invoice!
  expect(payment_options).toHaveLength(9)
  expect((await one.getInvoice({ invoice_id })).payment_options).toEqual(payment_options)

  await end(program, 'SIGKILL')
  expect((await two.getBalance()).balance).toBe(5_000_000n)
  expect((await two.getInvoice({ invoice_id })).payment_options).toEqual(payment_options)
  // Another computer has no machines to tend.
  expect(second.said()).not.toContain(TENDS)
}, 120_000)
