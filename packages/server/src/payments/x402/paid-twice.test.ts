import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DemoChains } from '../../chain/demo-chains.ts'
import type { GasWallet } from '../../chain/gas-wallet.ts'
import { startTestChains, testWallet } from '../../chain/testing.ts'
import { type Customer, usd } from '../testing.ts'
import { settlePayments } from './settle-payments.ts'
import {
  encodePayment,
  type Payer,
  present,
  type SignedPayment,
  sendElsewhere as sendElsewhereFrom,
  signPayment,
  termsOf,
  topUp,
  type X402World,
  x402World,
} from './testing.ts'

/*
 * The known ways in which a payer pays twice: it is told that nothing was taken, or gets no answer, while its money
 * came. Whatever happens, an answer of 402 or 503 means that the authorization is unused, and for each wish only one
 * payment is settled.
 */

let demo: DemoChains
let world: X402World
let customer: Customer
let payer: Payer
let gasWallet: GasWallet
let real: GasWallet

beforeAll(async () => {
  demo = await startTestChains()
  world = await x402World(demo, { COINRACK_RATE_TOPUPS: '100000/min' })
  await world.look()
  gasWallet = world.services.chains[0]!.gasWallet!
  real = { ...gasWallet }
})
afterAll(async () => {
  await demo.stop()
  await world?.close()
})
beforeEach(async () => {
  gasWallet.broadcast = real.broadcast
  customer = await world.customer()
  payer = await world.payer([{ symbol: 'USDC', amount: usd(10) }])
})

const wallet = () => testWallet(demo.chains[0]!, demo.demo.faucet_key)
const sign = async (amount = 3, by = payer, to = customer) => signPayment(by, await termsOf(to, { amount }))
const sendElsewhere = (payment: SignedPayment, options = {}) => sendElsewhereFrom(wallet(), payment, options)
const chain = () => world.services.chains[0]!
/** How many transactions the gas wallet has sent. */
const sentCount = () => wallet().client.getTransactionCount({ address: world.gasWallet, blockTag: 'pending' })
const mining = (on: boolean) =>
  wallet().client.request({ method: 'evm_setAutomine' as never, params: [on] as never })
const mine = () => wallet().client.request({ method: 'evm_mine' as never })

async function withoutMining<T>(work: () => Promise<T>): Promise<T> {
  await mining(false)
  try {
    return await work()
  } finally {
    await mining(true)
    await mine()
  }
}
/** Makes one step of the answer fail, once. */
async function failingOnce<T>(work: () => Promise<T>): Promise<T> {
  const { services } = world
  const { ordering } = services
  services.ordering = {
    ...ordering,
    summary: async () => {
      throw new Error('Broken')
    },
  }
  try {
    return await work()
  } finally {
    services.ordering = ordering
  }
}
async function withoutGas<T>(work: () => Promise<T>): Promise<T> {
  const { client } = wallet()
  const setBalance = (value: Hex) =>
    client.request({ method: 'anvil_setBalance' as never, params: [world.gasWallet, value] as never })
  const before = await client.getBalance({ address: world.gasWallet })
  await setBalance('0x0')
  try {
    return await work()
  } finally {
    await setBalance(`0x${before.toString(16)}`)
  }
}
async function expectPaid(amount: number, has = 10) {
  await settlePayments(world.services, chain())
  await world.settle()
  expect((await customer.balance()).available).toBe(usd(amount))
  expect(await wallet().balance('USDC', payer.address)).toBe(usd(has - amount))
  expect(await world.deposits(customer.accountId)).toHaveLength(amount === 0 ? 0 : amount / 3)
  await world.expectBooksToBalance()
}
/** Asserts the answer to a payment that was not taken, since another one came or may come. */
const expectNotAgain = (answer: { status: number; body: Record<string, unknown> }, code: string) => {
  expect(answer).toMatchObject({
    status: 409,
    body: { code, fix: expect.stringContaining('Do not pay again'), balance: expect.any(String) },
  })
  const tools = (answer.body.next_steps as { tool: string }[]).map(({ tool }) => tool)
  expect(tools).toContain('get_balance')
  expect(tools).not.toContain('topup_balance')
}

describe('sent by somebody else', () => {
  test('behavior: in thirty races each payment is credited once, and each answer says that it came', {
    timeout: 120_000,
  }, async () => {
    const answers: string[] = []
    for (let race = 0; race < 30; race++) {
      const one = await world.customer()
      // Nothing is left afterwards, so that the payer seems to have had no money.
      const poor = await world.payer([{ symbol: 'USDC', amount: usd(3) }])
      const payment = await sign(3, poor, one)
      const racing = sleep((race % 10) * 12).then(() => sendElsewhere(payment, { waits: false }))
      const { status, body } = await present(one, 3, payment)
      // When the service was faster, the node may refuse the other transaction.
      await racing.catch(() => {})
      answers.push(status === 200 ? 'paid' : `${status} ${body.code}`)
      await world.settle()
      expect((await one.balance()).available).toBe(usd(3))
      expect(await world.deposits(one.accountId)).toHaveLength(1)
      expect(await wallet().balance('USDC', poor.address)).toBe(0n)
    }
    expect(answers.filter((answer) => answer !== 'paid')).toEqual([])
    await world.expectBooksToBalance()
  })

  test.each(['payerOf', 'verify', 'fees', 'funds', 'minedCount', 'sign', 'broadcast'] as const)(
    'behavior: just before the service asks %s, or just after it',
    async (step) => {
      for (const isAfter of [false, true]) {
        const one = await world.customer()
        const poor = await world.payer([{ symbol: 'USDC', amount: usd(3) }])
        const payment = await sign(3, poor, one)
        let isSent = false
        const race = async () => {
          if (!isSent) {
            isSent = true
            await sendElsewhere(payment)
          }
        }
        const asked = real[step] as (...args: unknown[]) => Promise<unknown>
        const raced = async (...args: unknown[]) => {
          if (!isAfter) await race()
          const answer = await asked(...args)
          if (isAfter) await race()
          return answer
        }
        Object.assign(gasWallet, { [step]: raced })
        // After the broadcast the service was faster, and the other transaction is refused.
        const { status, body } = await present(one, 3, payment).catch((error) => error)
        Object.assign(gasWallet, { [step]: asked })
        if (step === 'broadcast' && isAfter) continue
        expect([isAfter, status, body.code, body.settlement?.success]).toEqual([
          isAfter,
          200,
          undefined,
          true,
        ])
        await world.settle()
        expect((await one.balance()).available).toBe(usd(3))
        expect(await world.deposits(one.accountId)).toHaveLength(1)
      }
    },
  )

  test('behavior: seen by the watcher before there was a top-up, it is that of the payment', async () => {
    const payment = await sign()
    await sendElsewhere(payment)
    await world.settle()
    expect(await world.deposits(customer.accountId)).toMatchObject([{ status: 'credited', invoice_id: null }])
    expect(await present(customer, 3, payment)).toMatchObject({
      status: 200,
      body: { balance: '3.00', invoice: { status: 'paid', received: '3.00' }, settlement: { success: true } },
    })
    await expectPaid(3)
  })

  test('behavior: presented twenty times at once, it is answered the same twenty times', async () => {
    const payment = await sign()
    await sendElsewhere(payment)
    const replies = await Promise.all(Array.from({ length: 20 }, () => present(customer, 3, payment)))
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(new Set(replies.map(({ body }) => body.invoice.id)).size).toBe(1)
    await expectPaid(3)
  })

  test('behavior: presented after its end, or for another amount, it is said to have come', async () => {
    const terms = await termsOf(customer, { amount: 3 })
    const soon = { authorization: { validBefore: String(Math.floor(Date.now() / 1000) + 4) } }
    const payment = await signPayment(payer, terms, soon)
    await sendElsewhere(payment)
    expectNotAgain(await present(customer, 5, payment), 'payment_arrived')
    await sleep(5_000)
    await mine()
    expect(await present(customer, 3, payment)).toMatchObject({
      status: 200,
      body: { settlement: { success: true } },
    })
    await expectPaid(3)
  })

  test('behavior: while it waits for its block and the service cannot send it, it is pending', async () => {
    const payment = await sign()
    await withoutMining(async () => {
      await sendElsewhere(payment, { waits: false })
      expectNotAgain(await withoutGas(() => present(customer, 3, payment)), 'payment_pending')
    })
    expect(await present(customer, 3, payment)).toMatchObject({ status: 200, body: { balance: '3.00' } })
    await expectPaid(3)
  })

  test('behavior: the stock client is told of a payment, not of a refusal', async () => {
    const racing: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      const signed = request.headers.get('payment-signature')
      if (signed) await sendElsewhere(JSON.parse(Buffer.from(signed, 'base64').toString()))
      return fetch(request)
    }
    const { status, settled } = await topUp(world, customer, payer, { amount: 3, method: 'x402' }, racing)
    expect([status, settled?.success]).toEqual([200, true])
    await expectPaid(3)
  })

  test('error: another transfer under the same nonce: nothing came, and it is said so', async () => {
    const payment = await sign()
    const { nonce } = payment.payload.authorization
    const other = { ...payment.accepted, payTo: `0x${'44'.repeat(20)}` }
    const away = await signPayment(payer, other, { authorization: { nonce } })
    gasWallet.broadcast = async (raw) => {
      await sendElsewhere(away)
      await real.broadcast(raw)
    }
    expect(await present(customer, 3, payment)).toMatchObject({
      status: 402,
      body: { code: 'payment_failed' },
    })
    expect(await present(customer, 3, payment)).toMatchObject({
      status: 402,
      body: { code: 'payment_nonce_used' },
    })
    await world.settle()
    expect((await customer.balance()).available).toBe(0n)
    gasWallet.broadcast = real.broadcast
    expect((await present(customer, 3, await sign())).status).toBe(200)
  })
})

describe('the answer is lost, and the payer signs another payment', () => {
  test('behavior: before the broadcast: it is pending, then it came, and the other is never sent', async () => {
    gasWallet.broadcast = async () => {
      throw new Error('Lost')
    }
    expect((await present(customer, 3, await sign())).status).toBe(500)
    gasWallet.broadcast = real.broadcast
    const other = await sign()
    expectNotAgain(await present(customer, 3, other), 'payment_pending')
    const before = await sentCount()
    await settlePayments(world.services, chain())
    expectNotAgain(await present(customer, 3, other), 'payment_arrived')
    expect(await sentCount()).toBe(before + 1)
    await expectPaid(3)
  })

  test('behavior: after the broadcast: the first came, and the answer leads to its invoice', async () => {
    const first = await sign()
    expect((await failingOnce(() => present(customer, 3, first))).status).toBe(500)
    const before = await sentCount()
    const answer = await present(customer, 3, await sign())
    expectNotAgain(answer, 'payment_arrived')
    const { invoice_id } = answer.body
    expect(answer.body).toMatchObject({
      balance: '3.00',
      payment: { network: 'eip155:8453', payer: payer.address, amount: '3.00' },
      next_steps: [{ tool: 'get_invoice', arguments: { invoice_id } }, {}, {}],
    })
    expect((await customer.get(`/invoices/${invoice_id}`)).body).toMatchObject({ status: 'paid' })
    expect(await sentCount()).toBe(before)
    expect(await present(customer, 3, first)).toMatchObject({ status: 200, body: { balance: '3.00' } })
    await expectPaid(3)
    // The payer was told of the payment, so another one is intended.
    expect((await present(customer, 3, await sign())).status).toBe(200)
    await expectPaid(6)
  })

  test('behavior: under the same Idempotency-Key the other is answered with the first, each time', async () => {
    const key = { 'idempotency-key': 'one wish' }
    expect((await failingOnce(async () => present(customer, 3, await sign(), key))).status).toBe(500)
    for (let time = 0; time < 2; time++) {
      const answer = await failingOnce(async () => present(customer, 3, await sign(), key))
      expect(answer.status).toBe(500)
    }
    expect(await present(customer, 3, await sign(), key)).toMatchObject({
      status: 200,
      body: { balance: '3.00', settlement: { success: true } },
    })
    await expectPaid(3)
  })

  test('behavior: the payer hung up: the first came, and the other is not sent', async () => {
    const hungUp = await withoutMining(async () => {
      const { token } = customer
      const asked = fetch(world.topupUrl, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'payment-signature': encodePayment(await sign()),
        },
        body: JSON.stringify({ amount: 3 }),
        signal: AbortSignal.timeout(1_500),
      }).then(
        () => false,
        () => true,
      )
      const answer = await asked
      expectNotAgain(await present(customer, 3, await sign()), 'payment_pending')
      return answer
    })
    expect(hungUp).toBe(true)
    await expect.poll(async () => (await customer.balance()).available, { timeout: 5_000 }).toBe(usd(3))
    await sleep(1_000)
    expectNotAgain(await present(customer, 3, await sign()), 'payment_arrived')
    await expectPaid(3)
  })

  test('behavior: two payments of one top-up at the same moment: one is sent', async () => {
    const payments = [await sign(), await sign()]
    const before = await sentCount()
    const replies = await withoutMining(async () => {
      const asked = payments.map((payment) => present(customer, 3, payment))
      await sleep(1_500)
      expect(await sentCount()).toBe(before + 1)
      await mine()
      return Promise.all(asked)
    })
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
    await expectPaid(3)
  })
})

describe('refused, and sent by somebody else later', () => {
  const refuse = async (payment: SignedPayment, headers = {}) => {
    const refused = await withoutGas(() => present(customer, 3, payment, headers))
    expect(refused).toMatchObject({ status: 503, body: { code: 'settlement_unavailable' } })
  }

  test('behavior: the answer to another payment says that the first came, and sends nothing', async () => {
    const first = await sign()
    await refuse(first)
    await sendElsewhere(first)
    const before = await sentCount()
    const answer = await present(customer, 3, await sign())
    expectNotAgain(answer, 'payment_arrived')
    expect(await sentCount()).toBe(before)
    await expectPaid(3)
  })

  test('behavior: under the same Idempotency-Key the first is the answer', async () => {
    const key = { 'idempotency-key': 'one wish' }
    const first = await sign()
    await refuse(first, key)
    const hash = await sendElsewhere(first)
    expect(await present(customer, 3, await sign(), key)).toMatchObject({
      status: 200,
      body: { balance: '3.00', settlement: { success: true, transaction: hash } },
    })
    await expectPaid(3)
  })

  test('default: what never came does not keep another from being sent', async () => {
    await refuse(await sign())
    expect((await present(customer, 3, await sign())).status).toBe(200)
    await expectPaid(3)
  })
})

test('behavior: a receipt that comes late is pending, and nothing else is sent meanwhile', async () => {
  const { port } = chain()
  const { receipt } = port
  const until = Date.now() + 3_000
  port.receipt = async (hash) => (Date.now() < until ? undefined : receipt.call(port, hash))
  try {
    const first = present(customer, 3, await sign())
    await sleep(1_500)
    expectNotAgain(await present(customer, 3, await sign()), 'payment_pending')
    expect(await first).toMatchObject({ status: 200, body: { settlement: { success: true } } })
  } finally {
    port.receipt = receipt
  }
  await expectPaid(3)
})

test('behavior: a transaction of the gas wallet that another one took the place of takes nothing', async () => {
  const key = { 'idempotency-key': 'one wish' }
  gasWallet.broadcast = async () => {}
  const first = await sign()
  const answer = await present(customer, 3, first, key)
  expect(answer).toMatchObject({ status: 200, body: { settlement: { success: false } } })
  gasWallet.broadcast = real.broadcast
  // Another transaction is sent from the wallet with the nonce of the payment.
  await testWallet(demo.chains[0]!, world.key).send({ to: world.gasWallet })
  world.clock.advance(120_000)
  await settlePayments(world.services, chain())
  const { rows } = await world.services.db.query('select status from x402_payment where account_id = $1', [
    customer.accountId,
  ])
  expect(rows).toEqual([{ status: 'failed' }])
  // The same payment is begun again, and the top-up needs no other one.
  expect(await present(customer, 3, first)).toMatchObject({ status: 200, body: { balance: '3.00' } })
  await expectPaid(3)
})
