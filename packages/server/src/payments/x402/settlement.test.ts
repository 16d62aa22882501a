import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import type { GasWallet } from '../../chain/gas-wallet.ts'
import { startTestChains, testWallet } from '../../chain/testing.ts'
import { type Customer, usd } from '../testing.ts'
import { settlePayments } from './settle-payments.ts'
import {
  type Payer,
  present,
  type SignedPayment,
  sendElsewhere as sendElsewhereFrom,
  signPayment,
  termsOf,
  type X402World,
  x402World,
} from './testing.ts'

/*
 * Payments for which something goes wrong between signature and credit.
 */

let demo: DemoChains
let world: X402World
let customer: Customer
let payer: Payer
let gasWallet: GasWallet
let broadcast: GasWallet['broadcast']

beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo)
  await world.look()
  gasWallet = world.services.chains[0]!.gasWallet!
  broadcast = gasWallet.broadcast
})
afterAll(async () => {
  await demo.stop()
  await world?.close()
})
beforeEach(async () => {
  gasWallet.broadcast = broadcast
  customer = await world.customer()
  payer = await world.payer([{ symbol: 'USDC', amount: usd(10) }])
})

const wallet = () => testWallet(demo.chains[0]!, demo.demo.faucet_key)
const sign = async (amount = 3) => signPayment(payer, await termsOf(customer, { amount }))

const statusOf = async () => {
  const { rows } = await world.services.db.query<{ status: string }>(
    'select status from x402_payment where account_id = $1',
    [customer.accountId],
  )
  return rows.map(({ status }) => status)
}
const expectPaidOnce = async (amount = 3) => {
  await world.settle()
  await world.settle()
  expect(await customer.balance()).toMatchObject({ available: usd(amount) })
  expect(await wallet().balance('USDC', payer.address)).toBe(usd(10 - amount))
  await world.expectBooksToBalance()
}
const sendElsewhere = (payment: SignedPayment) => sendElsewhereFrom(wallet(), payment)

test('behavior: a transaction that nobody has seen yet is pending, not failed, and is credited when it is seen', async () => {
  const payment = await sign()
  const { client } = wallet()
  await client.request({ method: 'evm_setAutomine' as never, params: [false] as never })
  try {
    const { status, body, headers } = await present(customer, 3, payment)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      balance: '0.00',
      invoice: { status: 'unpaid' },
      settlement: {
        success: false,
        errorReason: 'settlement_pending',
        transaction: expect.stringMatching(/^0x/),
      },
    })
    expect(headers['payment-response']).toBeDefined()
    expect(await statusOf()).toEqual(['sent'])
  } finally {
    await client.request({ method: 'evm_setAutomine' as never, params: [true] as never })
  }
  await client.request({ method: 'evm_mine' as never })
  await settlePayments(world.services, world.services.chains[0]!)
  await expectPaidOnce()
}, 90_000)

test('behavior: sent by somebody else before it is presented, it is credited once and not asked for again', async () => {
  const payment = await sign()
  await sendElsewhere(payment)
  const { status, body } = await present(customer, 3, payment)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    balance: '3.00',
    invoice: { status: 'paid' },
    settlement: { success: true, payer: payer.address },
  })
  expect((await present(customer, 3, payment)).body).toMatchObject({ settlement: body.settlement })
  await expectPaidOnce()
})

test('behavior: sent by somebody else while the service sends it, it is settled all the same', async () => {
  const payment = await sign()
  gasWallet.broadcast = async (raw) => {
    await sendElsewhere(payment)
    await broadcast(raw)
  }
  expect(await present(customer, 3, payment)).toMatchObject({
    status: 200,
    body: { balance: '3.00', settlement: { success: true } },
  })
  await expectPaidOnce()
  expect(await world.deposits(customer.accountId)).toHaveLength(1)
})

test('behavior: dropped by a reorganisation, it is taken back, sent again and credited again', async () => {
  expect((await present(customer, 3, await sign())).status).toBe(200)
  await world.look()
  const { client } = wallet()
  await client.request({ method: 'anvil_reorg' as never, params: [1, []] as never })
  await client.request({ method: 'anvil_dropAllTransactions' as never })
  await world.look()
  expect((await customer.balance()).available).toBe(0n)
  expect(await world.deposits(customer.accountId)).toMatchObject([{ status: 'orphaned' }])
  await settlePayments(world.services, world.services.chains[0]!)
  await expectPaidOnce()
})

test('behavior: in another block behind logs of others, it is the deposit that it was', async () => {
  expect((await present(customer, 3, await sign())).status).toBe(200)
  const { rows } = await world.services.db.query<{ raw_tx: Hex }>(
    'select raw_tx from x402_payment where account_id = $1',
    [customer.accountId],
  )
  const { client } = wallet()
  const foreign = await client.account.signTransaction({
    type: 'eip1559',
    chainId: demo.chains[0]!.chainId,
    nonce: await client.getTransactionCount({ address: client.account.address }),
    gas: 100_000n,
    maxFeePerGas: 10n ** 12n,
    maxPriorityFeePerGas: 10n ** 11n,
    to: demo.chains[0]!.tokens[0]!.address,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [payer.address, 1n] }),
  })
  const before = await world.deposits(customer.accountId)
  await client.request({
    method: 'anvil_reorg' as never,
    params: [1, [foreign, rows[0]!.raw_tx].map((raw) => [raw, 0])] as never,
  })
  await expectPaidOnce()
  const [deposit, ...others] = await world.deposits(customer.accountId)
  expect(others).toEqual([])
  expect(deposit).toMatchObject({ id: before[0]!.id, status: 'credited', credits: 1 })
  expect(deposit!.log_index).toBeGreaterThan(before[0]!.log_index)
})

test('error: tokens that went elsewhere meanwhile: the chain takes nothing, and neither invoice nor credit is left', async () => {
  const payment = await sign(10)
  const away = await signPayment(payer, {
    ...payment.accepted,
    payTo: `0x${'33'.repeat(20)}`,
    amount: '5000000',
  })
  gasWallet.broadcast = async (raw) => {
    await sendElsewhere(away)
    await broadcast(raw)
  }
  expect(await present(customer, 10, payment)).toMatchObject({
    status: 402,
    body: { code: 'payment_failed' },
  })
  expect(await statusOf()).toEqual(['failed'])
  await world.settle()
  expect((await customer.balance()).available).toBe(0n)
  expect((await customer.get('/invoices')).body).toMatchObject([{ status: 'cancelled' }])

  await wallet().pay('USDC', payer.address, usd(5))
  gasWallet.broadcast = broadcast
  expect(await present(customer, 10, payment)).toMatchObject({ status: 200, body: { balance: '10.00' } })
})

test('error: a gas wallet without coins takes no payment, and nothing is charged', async () => {
  const { client } = wallet()
  const setBalance = (value: Hex) =>
    client.request({ method: 'anvil_setBalance' as never, params: [world.gasWallet, value] as never })
  const before = await client.getBalance({ address: world.gasWallet })
  await setBalance('0x0')
  try {
    expect(await present(customer, 3, await sign())).toMatchObject({
      status: 503,
      body: { code: 'settlement_unavailable' },
    })
    expect(await statusOf()).toEqual([])
  } finally {
    await setBalance(`0x${before.toString(16)}`)
  }
})

test('error: a chain that does not answer is no reason to doubt the payment', async () => {
  const { payerOf } = gasWallet
  gasWallet.payerOf = async () => {
    throw new Error('No node answers')
  }
  try {
    expect(await present(customer, 3, await sign())).toMatchObject({
      status: 503,
      body: { code: 'settlement_unavailable' },
    })
  } finally {
    gasWallet.payerOf = payerOf
  }
})
