import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { basePath } from '@coinrack/contract/index.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { DemoChains } from '@coinrack/server/chain/demo-chains.ts'
import { forwarderFactoryAddress } from '@coinrack/server/chain/forwarder-factory.ts'
import { startTestChains, testWallet } from '@coinrack/server/chain/testing.ts'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from './support/sources.ts'

/*
 * The guide to real networks, command by command as it stands there, in the production profile: on local chains whose
 * blocks only their users make.
 */

const guide = await readFile(join(root, 'docs/guide-real-networks.md'), 'utf8')
const lines = [...guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block]) =>
  block!.trim().split('\n'),
)

let demo: DemoChains
let folder: string
let env: Record<string, string>
let service: ChildProcess | undefined

beforeAll(async () => {
  demo = await startTestChains()
  folder = await mkdtemp(join(tmpdir(), 'coinrack-real-'))
  await chmod(folder, 0o711)
  const identity = await generateX25519Identity()
  await writeFile(join(folder, 'key.txt'), identity)
  const chains = demo.chains.map(({ network, rpcUrls: [url], tokens }) => ({
    network,
    rpc_urls: [url, url!.replace('127.0.0.1', 'localhost')],
    tokens: Object.fromEntries(tokens.map(({ symbol, address }) => [symbol, address])),
  }))
  // Some contract: whether a multisig is one of its owner's, no service can see.
  const treasury = forwarderFactoryAddress(demo.chains[0]!.treasury)
  await writeFile(join(folder, 'chains.json'), JSON.stringify({ treasury, chains }))
  env = {
    PATH: process.env.PATH!,
    HOME: folder,
    COINRACK_PROFILE: 'production',
    COINRACK_CHAINS: join(folder, 'chains.json'),
    COINRACK_PUBLIC_URL: 'https://vps.example.com',
    COINRACK_PUBLIC_IP: '203.0.113.7',
    COINRACK_SMTP_URL: 'smtp://127.0.0.1:9',
    COINRACK_SERVER_SECRET: randomBytes(32).toString('hex'),
    COINRACK_DEPOSIT_SECRET: randomBytes(32).toString('hex'),
    COINRACK_DATA: join(folder, 'data'),
    COINRACK_PORT: String(await freePort()),
    COINRACK_METRICS_PORT: '0',
    COINRACK_SANDBOXES: 'false',
    COINRACK_INSTANT_VPS: 'off',
    BACKUPS: folder,
    DRILL: join(folder, 'drill'),
    AGE_KEY_FILE: join(folder, 'key.txt'),
    AGE_PUBLIC_KEY: await identityToRecipient(identity),
  }
})
afterAll(async () => {
  await end()
  await run('npm run --silent stop')
  await demo?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const run = (line: string) =>
  runCommand('bash', ['--norc', '-euc', line], { cwd: root, env, timeoutMs: 120_000 }).then(
    ({ stdout }) => ({ stdout, refusal: undefined }),
    (error: Error) => ({ stdout: '', refusal: error.message }),
  )
/** A line of the guide; it has to go well. */
async function does(line: string): Promise<string> {
  expect(lines).toContain(line)
  const { stdout, refusal } = await run(line)
  expect(refusal, line).toBeUndefined()
  return stdout
}

async function begin(line: string): Promise<void> {
  expect(lines).toContain(line)
  let said = ''
  service = spawn('bash', ['-c', line], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [service.stdout!, service.stderr!]) stream.on('data', (text) => (said += text))
  while (!said.includes('Coinrack takes requests')) {
    if (service.exitCode !== null) throw new Error(`The service ended:\n${said}`)
    await sleep(100)
  }
}
async function end(): Promise<void> {
  if (!service || service.exitCode !== null) return
  const ended = once(service, 'exit')
  service.kill('SIGTERM')
  await ended
}

async function ask(method: 'GET' | 'POST', path: string, token?: string, body?: object) {
  const response = await fetch(`http://127.0.0.1:${env.COINRACK_PORT}${basePath}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}

const walletOn = (network: string) =>
  testWallet(demo.chains.find((chain) => chain.network === network)!, demo.demo.faucet_key)
/** As an operator does it who takes the transaction of a command to his own wallet. */
async function sendWhat(line: string, network: string): Promise<void> {
  expect(lines).toContain(line)
  const { stdout, refusal } = await run(line.replace('npm run', 'npm run --silent').concat(' --json'))
  expect(refusal, line).toBeUndefined()
  const { transactions } = JSON.parse(stdout)
  expect(transactions, stdout).toHaveLength(1)
  for (const { to, data } of transactions) await walletOn(network).send({ to, data })
}

test('default: from the settings to money in the treasury, of all nine tokens', async () => {
  const operator = (words: string) => `npm run operator -- ${words}`
  const early = await run(operator('treasury deploy base'))
  expect(early.refusal).toContain('No backup of this installation was ever restored')

  await does(operator('backup "$BACKUPS/first.age" --to "$AGE_PUBLIC_KEY"'))
  const restored = await does(
    `COINRACK_DATA=$DRILL ${operator('restore "$BACKUPS/first.age" --identity "$AGE_KEY_FILE"')}`,
  )
  await does('COINRACK_DATA=$DRILL npm run stop')
  env.CODE = /backup prove ([0-9a-f]+)/.exec(restored)![1]!
  await does(operator('backup prove "$CODE"'))

  await expect(begin('npm start')).rejects.toThrow('npm run operator -- treasury deploy')
  for (const { network } of demo.chains) {
    await sendWhat(operator(`treasury deploy ${network}`), network)
    expect(await does(operator(`treasury deploy ${network}`))).toContain('The forwarder factory')
  }
  await begin('npm start')

  const { token } = await ask('POST', '/auth/register', undefined, { email: 'first@rackmail.net' })
  const { invoice } = await ask('POST', '/balance/topup', token, { amount: 10 })
  const { payment_options: options } = invoice
  expect(options).toHaveLength(9)
  for (const { network, token: symbol, address } of options)
    await walletOn(network).pay(symbol, address, 10_000_001n)
  for (let balance = ''; balance !== '90.000009'; { balance } = await ask('GET', '/balance', token)) {
    for (const { network } of demo.chains)
      await walletOn(network).client.request({ method: 'anvil_mine' as never, params: ['0x5'] as never })
    await sleep(500)
  }

  const reconcile = operator('treasury reconcile')
  expect(lines.filter((line) => line === reconcile)).toHaveLength(2)
  const before = await does(reconcile)
  expect(before).toContain('Everything agrees, to the micro-dollar')
  expect(before.match(/ {2}0\.000000 {2}0\.000000 +10\.000001| 10\.000001 /g)).not.toBeNull()
  await sendWhat(operator('treasury flush base --above 5 --max-gas-price 2'), 'base')
  const { stdout } = await run('npm run --silent operator -- treasury reconcile --json')
  const { sums, differences } = JSON.parse(stdout)
  expect(differences).toEqual([])
  for (const { network, ...sum } of sums)
    expect(sum).toMatchObject({
      ledger: '10.000001',
      at_addresses: network === 'base' ? '0.000000' : '10.000001',
      flushed: network === 'base' ? '10.000001' : '0.000000',
      treasury: network === 'base' ? '10.000001' : '0.000000',
      difference: '0.000000',
    })

  expect(await does(operator('chain rescan base 1'))).toContain('will be looked through again from block 1')
  await end()
}, 300_000)

test('behavior: no line of the guide is left out', () => {
  const known =
    /^(COINRACK_DATA=\$DRILL )?npm (start|run stop|run operator -- (backup|restore|treasury|chain) .*)$/
  expect(lines.filter((line) => !known.test(line))).toEqual([])
  expect(lines).toHaveLength(12)
})
