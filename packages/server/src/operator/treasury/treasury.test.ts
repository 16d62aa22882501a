import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChainSettings } from '../../chain/chain-settings.ts'
import type { DemoChains } from '../../chain/demo-chains.ts'
import { forwarderFactoryAddress } from '../../chain/forwarder-factory.ts'
import { TestUSDC } from '../../chain/generated/contracts.ts'
import { minedReceipt } from '../../chain/mined-receipt.ts'
import { startTestChains, testWallet } from '../../chain/testing.ts'
import { doorAddress } from '../../payments/deposit-address-store.ts'
import { type PaymentsWorld, paymentsWorld, usd } from '../../payments/testing.ts'
import { runOperator } from '../run-operator.ts'
import { testOperator } from '../testing.ts'

let demo: DemoChains
let world: PaymentsWorld
let folder: string
const said: string[] = []

beforeAll(async () => {
  demo = await startTestChains()
  world = await paymentsWorld(demo.chains)
  folder = await mkdtemp(join(tmpdir(), 'coinrack-treasury-'))
  await world.look()
})
afterAll(async () => {
  await world?.close()
  await demo?.stop()
  await rm(folder, { recursive: true, force: true })
})

const chainOf = (network: string) => demo.chains.find((chain) => chain.network === network)!
const walletOn = (network: string) => testWallet(chainOf(network), demo.demo.faucet_key)

const run = (words: string[], settings: ChainSettings[] = demo.chains) =>
  runOperator(
    testOperator(world.services, {
      say: (line) => said.push(line),
      installed: {
        chains: async () => settings,
        secrets: async () => ({ deposit: world.services.config.depositSecret! }),
      },
    }),
    words,
  )
async function reconcile() {
  const { exitCode, stdout, stderr } = await run(['treasury', 'reconcile', '--json'])
  expect(stderr).toBe('')
  const { sums, differences, ...rest } = JSON.parse(stdout)
  const of = (network: string, token: string) =>
    sums.find((one: { network: string; token: string }) => one.network === network && one.token === token)
  return { exitCode, sums, differences, of, ...rest }
}
async function plan(...words: string[]) {
  const { exitCode, stdout, stderr } = await run(['treasury', 'flush', ...words, '--json'])
  expect([exitCode, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
/** As the operator's own wallet does it. */
async function send(network: string, transactions: { to: Address; data: `0x${string}` }[]) {
  for (const { to, data } of transactions) await walletOn(network).send({ to, data })
}

test('default: nine tokens on three networks agree before a flush, after it, and when money comes again', async () => {
  const customers = await Promise.all([world.customer(), world.customer()])
  const [one, other] = await Promise.all(customers.map((customer) => customer.address()))
  for (const { network } of demo.chains) {
    for (const symbol of ['USDC', 'USDT', 'PYUSD'] as const) {
      await walletOn(network).pay(symbol, one!, usd(12.345678))
      await walletOn(network).pay(symbol, other!, usd(100))
    }
  }
  await world.settle()
  const before = await reconcile()
  expect(before).toMatchObject({ exitCode: 0, differences: [] })
  expect(before.sums).toHaveLength(9)
  const paid = '112.345678'
  for (const sum of before.sums)
    expect(sum).toMatchObject({
      ledger: paid,
      credited: paid,
      waiting: '0.000000',
      at_addresses: paid,
      flushed: '0.000000',
      difference: '0.000000',
    })

  for (const { network } of demo.chains) {
    const { transactions } = await plan(network)
    expect(transactions).toHaveLength(1)
    expect(transactions[0]).toMatchObject({ items: 6, to: world.factory })
    const moves = ['PYUSD', 'USDC', 'USDT'].map((symbol) => `112.345678 ${symbol}`)
    expect(transactions[0].moves.split(', ').sort()).toEqual(moves)
    await send(network, transactions)
  }
  const after = await reconcile()
  expect(after).toMatchObject({ exitCode: 0, differences: [] })
  for (const sum of after.sums)
    expect(sum).toMatchObject({
      at_addresses: '0.000000',
      flushed: paid,
      treasury: paid,
      difference: '0.000000',
    })

  await walletOn('base').pay('USDC', one!, usd(20))
  await world.settle()
  const again = await reconcile()
  expect(again).toMatchObject({ exitCode: 0, differences: [] })
  expect(again.of('base', 'USDC')).toMatchObject({
    ledger: '132.345678',
    at_addresses: '20.000000',
    flushed: paid,
  })
})

test('behavior: transfers to the treasury are read once, and the same when they are final', async () => {
  const before = await reconcile()
  await walletOn('base').client.request({ method: 'anvil_mine' as never, params: ['0x60'] as never })
  await world.settle()
  expect(await reconcile()).toMatchObject({ exitCode: 0, sums: before.sums })
  const { rowCount } = await world.services.db.query('select from treasury_flush where chain_id = 8453')
  expect(rowCount).toBe(6)
  said.length = 0
  expect(await reconcile()).toMatchObject({ exitCode: 0, sums: before.sums })
  expect(said.filter((line) => line.startsWith('base: transfers'))).toEqual([])
})

test('behavior: what wallets pay without an account is counted and flushed with the rest', async () => {
  const address = doorAddress(world.services) as Address
  await walletOn('base').pay('USDC', address, usd(42))
  await world.settle()
  const { exitCode, of, differences } = await reconcile()
  expect([exitCode, differences]).toEqual([0, []])
  expect(of('base', 'USDC').at_addresses).toBe('62.000000')
  const { transactions } = await plan('base', '--above', '42')
  expect(transactions[0].moves).toBe('42.00 USDC')
  await send('base', transactions)
  expect(await reconcile()).toMatchObject({ exitCode: 0, differences: [] })
})

describe('a difference', () => {
  test('behavior: money that the service has not looked at is on its way, and what it missed is named', async () => {
    const customer = await world.customer()
    const address = await customer.address()
    await walletOn('polygon').pay('USDT', address, usd(7))
    const early = await reconcile()
    expect(early).toMatchObject({ exitCode: 0, differences: [] })
    expect(early.of('polygon', 'USDT').waiting).toBe('7.000000')

    const { client } = walletOn('polygon')
    const paidIn = Number(await client.getBlockNumber({ cacheTime: 0 }))
    await client.request({ method: 'anvil_mine' as never, params: ['0x100'] as never })
    const head = await client.getBlock()
    await world.services.db.query(
      'update chain_cursor set scanned_number = $1, scanned_hash = $2 where chain_id = 137',
      [head.number, head.hash],
    )
    const missed = await reconcile()
    expect(missed.exitCode).toBe(1)
    expect(missed.differences).toMatchObject([
      { network: 'polygon', token: 'USDT', address, account_id: customer.accountId, amount: '7.000000' },
    ])
    const shown = await run(['treasury', 'reconcile'])
    expect(shown.stdout).toContain('chain rescan')
    expect(shown.stdout).toContain('1 differences')

    expect(await run(['chain', 'rescan', 'polygon', String(paidIn)])).toMatchObject({ exitCode: 0 })
    await world.settle()
    expect(await customer.balance()).toMatchObject({ available: usd(7) })
    expect(await reconcile()).toMatchObject({ exitCode: 0, differences: [] })
  })

  test('behavior: a posting that no deposit stands behind', async () => {
    const { accountId } = await world.customer()
    await world.post(accountId, [{ from: 'treasury.1.PYUSD', to: 'customer.available', amount: 1n }])
    const { exitCode, differences } = await reconcile()
    expect(exitCode).toBe(1)
    expect(differences).toMatchObject([
      { network: 'ethereum', token: 'PYUSD', account_id: accountId, amount: '-0.000001' },
    ])
  })

  test('behavior: less at an address than arrived', async () => {
    const customer = await world.customer()
    const address = await customer.address()
    await walletOn('ethereum').pay('USDC', address, usd(9))
    await world.settle()
    // The issuer takes it away.
    const { client } = walletOn('ethereum')
    await client.request({ method: 'anvil_impersonateAccount' as never, params: [address] as never })
    await client.request({
      method: 'anvil_setBalance' as never,
      params: [address, '0xde0b6b3a7640000'] as never,
    })
    const data = encodeFunctionData({ ...TestUSDC, functionName: 'transfer', args: [world.factory, usd(4)] })
    const [token] = chainOf('ethereum').tokens
    const transaction = { from: address, to: token!.address, data }
    const hash = await client.request({
      method: 'eth_sendTransaction' as never,
      params: [transaction] as never,
    })
    await minedReceipt(client, hash)
    const { differences } = await reconcile()
    expect(differences).toContainEqual(expect.objectContaining({ address, amount: '-4.000000' }))
  })
})

describe('a flush', () => {
  test('behavior: what is not worth it stays; the price of gas can forbid all of it', async () => {
    const address = await (await world.customer()).address()
    await walletOn('base').pay('PYUSD', address, usd(2))
    await world.settle()
    const { transactions, left_for_later } = await plan('base', '--above', '3')
    expect(JSON.stringify(transactions)).not.toContain('PYUSD')
    expect(left_for_later).toBe(1)
    expect((await plan('base', '--above', '2')).transactions[0].moves).toContain('2.00 PYUSD')
    expect(await run(['treasury', 'flush', 'base', '--max-gas-price', '0.000001'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('nothing is planned'),
    })
  })

  test('behavior: a token that is paused is left out and named; the others go', async () => {
    const address = await (await world.customer()).address()
    for (const symbol of ['USDC', 'USDT'] as const) await walletOn('polygon').pay(symbol, address, usd(50))
    await world.settle()
    const usdc = chainOf('polygon').tokens[0]!.address
    const setPaused = (functionName: 'pause' | 'unpause') =>
      walletOn('polygon').send({ to: usdc, data: encodeFunctionData({ ...TestUSDC, functionName }) })
    await setPaused('pause')
    const { cannot_be_moved, transactions } = await plan('polygon')
    expect(cannot_be_moved).toContainEqual({
      address,
      token: 'USDC',
      reason: expect.stringContaining('50.00 USDC'),
    })
    expect(transactions[0].moves).not.toContain('USDC')
    await send('polygon', transactions)
    await setPaused('unpause')

    const setBlocked = (functionName: 'blacklist' | 'unBlacklist') =>
      walletOn('polygon').send({
        to: usdc,
        data: encodeFunctionData({ ...TestUSDC, functionName, args: [address] }),
      })
    await setBlocked('blacklist')
    expect((await plan('polygon')).cannot_be_moved).toMatchObject([{ address, token: 'USDC' }])
    await setBlocked('unBlacklist')
    expect((await plan('polygon')).transactions[0].moves).toContain('USDC')
  })

  test('behavior: coin that came by mistake goes too, and a multisig can load the batch', async () => {
    const address = await (await world.customer()).address()
    await walletOn('base').send({ to: address, value: 5n * 10n ** 15n })
    const file = join(folder, 'batch.json')
    const { transactions } = await plan('base', '--above', '3', '--coin', '--safe', file)
    expect(transactions[0].moves).toContain('0.005 coin')
    const batch = JSON.parse(await readFile(file, 'utf8'))
    expect(batch).toMatchObject({ version: '1.0', chainId: '8453', meta: { name: expect.any(String) } })
    expect(batch.transactions).toEqual([{ to: world.factory, value: '0', data: transactions[0].data }])
    await send('base', transactions)
    expect(await walletOn('base').client.getBalance({ address })).toBe(0n)
  })

  test('error: another deposit secret, an unknown network, no amount', async () => {
    const address = await (await world.customer()).address()
    await walletOn('base').pay('USDC', address, usd(30))
    await world.settle()
    const operator = testOperator(world.services, {
      installed: { chains: async () => demo.chains, secrets: async () => ({ deposit: 'another' }) },
    })
    expect(await runOperator(operator, ['treasury', 'flush', 'base'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('deposit secret'),
    })
    expect(await run(['treasury', 'flush', 'solana'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('base, ethereum, polygon'),
    })
    expect(await run(['treasury', 'flush', 'base', '--above', 'much'])).toMatchObject({ exitCode: 1 })
  })
})

describe('the factory', () => {
  test('default: it is there, or the transaction that any wallet can send puts it there', async () => {
    expect((await run(['treasury', 'deploy', 'base'])).stdout).toContain(`is at ${world.factory}`)
    const treasury = forwarderFactoryAddress(chainOf('base').treasury)
    const settings = demo.chains.map((chain) => ({ ...chain, treasury }))
    const file = join(folder, 'deploy.json')
    const { stdout } = await run(['treasury', 'deploy', 'base', '--safe', file, '--json'], settings)
    const { transactions, factory, deployed } = JSON.parse(stdout)
    expect(deployed).toBe(false)
    expect(JSON.parse(await readFile(file, 'utf8')).transactions).toHaveLength(1)
    await send('base', transactions)
    expect(JSON.parse((await run(['treasury', 'deploy', 'base', '--json'], settings)).stdout)).toMatchObject({
      deployed: true,
      factory,
    })
  })
})

test('error: in production, as long as no backup was ever restored', async () => {
  const operator = testOperator(world.services, { installed: { profile: 'production' } })
  for (const words of [['deploy', 'base'], ['flush', 'base'], ['reconcile']])
    expect(await runOperator(operator, ['treasury', ...words])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('No backup of this installation was ever restored'),
    })
})

test('error: endpoints that do not show the same state', async () => {
  const [base, ethereum] = [chainOf('base'), chainOf('ethereum')]
  const settings = [{ ...base, rpcUrls: [...base.rpcUrls, 'http://127.0.0.1:9'] }]
  expect(await run(['treasury', 'flush', 'base'], settings)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('No two endpoints of base show the same state: '),
  })
  const strange = [{ ...base, rpcUrls: [...base.rpcUrls, ...ethereum.rpcUrls] }]
  expect(await run(['treasury', 'flush', 'base'], strange)).toMatchObject({ exitCode: 1 })
})
