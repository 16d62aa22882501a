import {
  type Address,
  concat,
  encodeFunctionData,
  erc20Abi,
  getContractAddress,
  type Hex,
  keccak256,
  numberToHex,
  size,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../chain/demo-chains.ts'
import { deterministicAddress, deterministicDeployment } from '../chain/deterministic-deployer.ts'
import { forwarderFactoryCode } from '../chain/forwarder-factory.ts'
import { ForwarderFactory, TestUSDT } from '../chain/generated/contracts.ts'
import { minedReceipt } from '../chain/mined-receipt.ts'
import { startTestChains, testWallet } from '../chain/testing.ts'
import { type Customer, type PaymentsWorld, paymentsWorld, usd } from './testing.ts'
import { depositWatcher } from './watch-deposits.ts'

/** The second well-known development account (`test test ... junk`), which has coins for gas on demo chains. */
const strangersKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const fees = {
  type: 'eip1559',
  gas: 300_000n,
  maxFeePerGas: 10n ** 11n,
  maxPriorityFeePerGas: 10n ** 9n,
} as const

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
  // The nodes would outlive this process, so they are stopped first, even when the service could not be set up.
  await demo.stop()
  await world?.close()
})
beforeEach(async () => {
  customer = await world.customer()
  address = await customer.address()
})

/** EVM bytecode that calls a contract with these inputs, one after the other, and deploys no code. */
function codeThatCalls(to: Address, inputs: Hex[]): Hex {
  const INSTRUCTIONS = 44
  let offset = inputs.length * INSTRUCTIONS + 1
  const code = inputs.map((input) => {
    const length = numberToHex(size(input), { size: 2 })
    // CODECOPY(0, offset, length); CALL(gas, to, 0, 0, length, 0, 0); POP
    const copy = concat(['0x61', length, '0x61', numberToHex(offset, { size: 2 }), '0x600039'])
    offset += size(input)
    return concat([copy, '0x60006000', '0x61', length, '0x60006000', '0x73', to, '0x5af150'])
  })
  return concat([...code, '0x00', ...inputs])
}

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

  test.each([
    { when: 'before the credit', rounds: 1, status: 'seen' },
    { when: 'after the credit', rounds: 12, status: 'credited' },
  ])('behavior: a batch whose logs move by one, $when, stays what it was', async ({ rounds, status }) => {
    const other = await world.customer()
    const batch = await signBatch([
      { to: address, value: usd(10) },
      { to: await other.address(), value: usd(20) },
    ])
    const [look] = looks()
    const hash = await wallet.client.sendRawTransaction({ serializedTransaction: batch })
    await minedReceipt(wallet.client, hash)
    for (let round = 0; round < rounds; round++) await look!()
    const logs = async () =>
      [...(await world.deposits(customer.accountId)), ...(await world.deposits(other.accountId))].map(
        ({ status, log_index }) => ({ status, log_index }),
      )
    expect(await logs()).toEqual([0, 1].map((log_index) => ({ status, log_index })))

    const depth = Number((await wallet.client.getBlock()).number) - (await blockOf(batch))
    await wallet.client.request({
      method: 'anvil_reorg' as never,
      params: [depth + 1, [await signForeign(), batch].map((raw) => [raw, 0])] as never,
    })
    await settle()
    expect(await logs()).toEqual([1, 2].map((log_index) => ({ status: 'credited', log_index })))
    expect(await customer.balance()).toMatchObject({ available: usd(10), owed: 0n })
    expect(await other.balance()).toMatchObject({ available: usd(20), owed: 0n })
    const { rows } = await world.services.db.query(
      `select from ledger_transaction where kind = 'deposit_reversal' and account_id = any($1)`,
      [[customer.accountId, other.accountId]],
    )
    expect(rows).toEqual([])
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

  const blockOf = async (raw: Hex) =>
    Number((await wallet.client.getTransactionReceipt({ hash: keccak256(raw) })).blockNumber)
  const usdc = () => demo.chains[0]!.tokens[0]!.address

  /** One transaction that pays USDC to several addresses: its constructor makes the transfers and deploys no code. */
  async function signBatch(payments: { to: Address; value: bigint }[]): Promise<Hex> {
    const { account } = wallet.client
    const nonce = (await wallet.client.getTransactionCount({ address: account.address })) + 1
    const payer = getContractAddress({ from: account.address, nonce: BigInt(nonce) })
    await wallet.pay(
      'USDC',
      payer,
      payments.reduce((sum, { value }) => sum + value, 0n),
    )
    const calls = payments.map(({ to, value }) =>
      encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, value] }),
    )
    const data = codeThatCalls(usdc(), calls)
    return account.signTransaction({ ...fees, chainId: demo.chains[0]!.chainId, nonce, data })
  }

  /** A transaction of another wallet with a log, to precede the deposits in a block. */
  async function signForeign(): Promise<Hex> {
    const account = privateKeyToAccount(strangersKey)
    const nonce = await wallet.client.getTransactionCount({ address: account.address })
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [address, 1n] })
    return account.signTransaction({
      ...fees,
      chainId: demo.chains[0]!.chainId,
      nonce,
      to: usdc(),
      data,
      maxPriorityFeePerGas: 2n * fees.maxPriorityFeePerGas,
    })
  }

  const dropPending = () => wallet.client.request({ method: 'anvil_dropAllTransactions' as never })
  const statuses = async () => (await world.deposits(customer.accountId)).map((deposit) => deposit.status)
})
