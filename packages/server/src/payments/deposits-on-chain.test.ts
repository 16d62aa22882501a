import { type Address, encodeFunctionData, type Hex, numberToHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../chain/demo-chains.ts'
import { deterministicAddress, deterministicDeployment } from '../chain/deterministic-deployer.ts'
import { forwarderFactoryCode } from '../chain/forwarder-factory.ts'
import { ForwarderFactory, TestUSDT } from '../chain/generated/contracts.ts'
import { startTestChains, testWallet } from '../chain/testing.ts'
import { type Customer, type PaymentsWorld, paymentsWorld, usd } from './testing.ts'
import { depositWatcher } from './watch-deposits.ts'

let demo: DemoChains
let world: PaymentsWorld
let customer: Customer
let address: Address
let wallet: ReturnType<typeof testWallet>

beforeAll(async () => {
  demo = await startTestChains()
  world = await paymentsWorld(demo.chains)
  wallet = testWallet(demo.chains[0]!, demo.demo.faucet_key)
})
afterAll(async () => {
  // The nodes outlive this process, so they end first: also when the service could not be set up.
  await demo.stop()
  await world?.close()
})
beforeEach(async () => {
  customer = await world.customer()
  address = await customer.address()
})

const looks = () => world.services.chains.map((chain) => depositWatcher(world.services, chain))
const settle = () => world.settle()

test('default: three tokens on three chains, one of which returns nothing, are credited once each', async () => {
  let amount = 1
  for (const chain of demo.chains) {
    const payer = testWallet(chain, demo.demo.faucet_key)
    for (const { symbol } of chain.tokens) await payer.pay(symbol, address, usd(amount++))
  }
  await settle()
  await settle()
  expect(await customer.balance()).toMatchObject({ available: usd(45), owed: 0n })
  const { rows } = await world.services.db.query(
    'select chain_id, token, amount, status from deposit where account_id = $1 order by amount',
    [customer.accountId],
  )
  expect(rows).toMatchObject(
    [8453, 1, 137].flatMap((chain_id, row) =>
      ['USDC', 'USDT', 'PYUSD'].map((token, column) => ({
        chain_id,
        token,
        amount: usd(3 * row + column + 1),
        status: 'credited',
      })),
    ),
  )
  await world.expectBooksToBalance()
})

test('behavior: two transfers in one transaction are two deposits', async () => {
  // A factory whose treasury is the customer's address: flushing two of its forwarders transfers to it twice.
  const code = forwarderFactoryCode(address)
  const salt = numberToHex(7, { size: 32 })
  await wallet.send(deterministicDeployment(code, salt))
  const factory = deterministicAddress(code, salt)
  const salts: Hex[] = [numberToHex(1, { size: 32 }), numberToHex(2, { size: 32 })]
  const token = demo.chains[0]!.tokens[1]!
  for (const [index, forwarderSalt] of salts.entries()) {
    const forwarder = await wallet.client.readContract({
      ...ForwarderFactory,
      address: factory,
      functionName: 'predict',
      args: [forwarderSalt],
    })
    await wallet.pay(token.symbol, forwarder, usd(index + 4))
  }
  const items = salts.map((forwarderSalt) => ({ salt: forwarderSalt, token: token.address }))
  await wallet.send({
    to: factory,
    data: encodeFunctionData({ ...ForwarderFactory, functionName: 'flush', args: [items] }),
  })
  await settle()
  expect(await customer.balance()).toMatchObject({ available: usd(9) })
})

test('behavior: of a transfer with a fee, what arrived is credited', async () => {
  const usdt = demo.chains[0]!.tokens[1]!.address
  const setFee = (basisPoints: bigint) =>
    wallet.send({
      to: usdt,
      data: encodeFunctionData({ ...TestUSDT, functionName: 'setFee', args: [basisPoints] }),
    })
  await setFee(20n)
  await wallet.pay('USDT', address, usd(10))
  await setFee(0n)
  await settle()
  expect(await customer.balance()).toMatchObject({ available: usd(9.98) })
})

test('behavior: flushing a credited address to the treasury is no deposit and takes nothing away', async () => {
  await wallet.pay('USDC', address, usd(10))
  await settle()
  const { rows } = await world.services.db.query<{ counter: bigint }>(
    'select counter from deposit_address where account_id = $1',
    [customer.accountId],
  )
  await wallet.send({
    to: world.factory,
    data: encodeFunctionData({
      ...ForwarderFactory,
      functionName: 'flush',
      args: [[{ salt: world.saltOf(rows[0]!.counter), token: demo.chains[0]!.tokens[0]!.address }]],
    }),
  })
  await settle()
  expect(await wallet.balance('USDC', address)).toBe(0n)
  expect(await customer.balance()).toMatchObject({ available: usd(10) })
})

test('behavior: a credit takes the confirmations of the network, and the chain makes no block without need', async () => {
  await settle()
  const [look] = looks()
  await wallet.pay('USDC', address, usd(10))
  const height = () => wallet.client.getBlockNumber({ cacheTime: 0 })
  const seen = await height()
  for (let round = 0; (await customer.balance()).available === 0n; round++) {
    if (round > 10) throw new Error('Not credited')
    await look!()
  }
  expect(Number((await height()) - seen) + 1).toBe(5)
  for (let round = 0; round < 3; round++) await look!()
  expect(Number((await height()) - seen) + 1).toBe(5)
})

test('behavior: a watcher that is dropped at each step and made anew credits once', async () => {
  await wallet.pay('USDC', address, usd(10))
  await wallet.pay('USDT', address, usd(5))
  for (let round = 0; round < 12; round++) {
    const [look] = looks()
    await look!()
  }
  expect(await customer.balance()).toMatchObject({ available: usd(15) })
})

describe('a reorganisation of a real node', () => {
  const reorganise = (depth: number) =>
    wallet.client.request({ method: 'anvil_reorg' as never, params: [depth, []] as never })

  test('behavior: before the credit, the deposit is orphaned', async () => {
    const [look] = looks()
    await wallet.pay('USDC', address, usd(10))
    await look!()
    await reorganise(2)
    await dropPending()
    await settle()
    expect(await customer.balance()).toMatchObject({ available: 0n, owed: 0n })
    expect(await statuses()).toEqual(['orphaned'])
  })

  test('behavior: after the credit, it is taken back', async () => {
    await wallet.pay('USDC', address, usd(10))
    await settle()
    expect(await customer.balance()).toMatchObject({ available: usd(10) })
    await reorganise(8)
    await dropPending()
    await settle()
    expect(await customer.balance()).toMatchObject({ available: 0n, owed: 0n })
    expect(await statuses()).toEqual(['orphaned'])
    await world.expectBooksToBalance()
  })

  test('behavior: a demo chain that lost its newest blocks keeps what was credited, and new money is credited', async () => {
    const snapshot = await wallet.client.request({ method: 'evm_snapshot' as never })
    await wallet.pay('USDC', address, usd(10))
    await settle()
    await wallet.client.request({ method: 'evm_revert' as never, params: [snapshot] as never })
    await settle()
    expect(await customer.balance()).toMatchObject({ available: usd(10), owed: 0n })

    await wallet.pay('USDT', address, usd(4))
    await settle()
    expect(await customer.balance()).toMatchObject({ available: usd(14), owed: 0n })
    await world.expectBooksToBalance()
  })

  const dropPending = () => wallet.client.request({ method: 'anvil_dropAllTransactions' as never })
  const statuses = async () => (await world.deposits(customer.accountId)).map((deposit) => deposit.status)
})
