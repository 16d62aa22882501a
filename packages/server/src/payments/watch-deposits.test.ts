import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChainSettings } from '../chain/chain-settings.ts'
import { type FakeChain, fakeChain } from '../chain/fake-chain.ts'
import { inTransaction } from '../database/transaction.ts'
import { placeHold } from '../ledger/hold.ts'
import { fakeSettings, type PaymentsWorld, paymentsWorld, usd } from './testing.ts'
import { depositWatcher, OtherChainError } from './watch-deposits.ts'

const [base, polygon] = [fakeSettings(8453, 'base'), fakeSettings(137, 'polygon')]

let world: PaymentsWorld
let chain: FakeChain
let watch: ReturnType<typeof depositWatcher>

beforeAll(async () => {
  world = await paymentsWorld([base, polygon])
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('truncate deposit, chain_cursor, invoice, deposit_address cascade')
  chain = fakeChain(base)
  watch = watcherOf(base, chain)
})

/** A new watcher each time, which knows only what a process knows that has just started. */
const watcherOf = (settings: ChainSettings, { port }: FakeChain) =>
  depositWatcher(world.services, { settings, port })

describe('crediting', () => {
  test('default: what arrived is credited after its confirmations, once', async () => {
    const customer = await world.customer()
    chain.pay('USDC', await customer.address(), usd(10))
    chain.grow(3)
    await watch()
    expect(await customer.balance()).toMatchObject({ available: 0n })
    chain.grow(1)
    for (let looks = 0; looks < 3; looks++) await watch()
    expect(await customer.balance()).toMatchObject({ available: usd(10) })
    await world.expectBooksToBalance()
  })

  test('behavior: transfers of nothing, of other tokens and to others are not deposits', async () => {
    const customer = await world.customer()
    const address = await customer.address()
    chain.pay('USDC', address, 0n)
    chain.pay('USDC', base.treasury, usd(5))
    chain.pay('USDT', address, usd(5))
    chain.grow(10)
    await watcherOf({ ...base, tokens: base.tokens.slice(0, 1) }, chain)()
    expect(await world.deposits()).toEqual([])
  })

  test('behavior: an absurd amount, as only a broken token shows it, is not credited and stops nothing', async () => {
    const customer = await world.customer()
    chain.pay('USDC', await customer.address(), 2n ** 255n)
    chain.pay('USDC', await customer.address(), usd(4))
    chain.grow(10)
    await watch()
    expect(await customer.balance()).toMatchObject({ available: usd(4) })
  })

  test("behavior: the account's early credits of all chains count towards the limit", async () => {
    const customer = await world.customer()
    const address = await customer.address()
    chain.pay('USDC', address, usd(60))
    chain.pay('USDT', address, usd(60))
    chain.grow(6)
    await watch()
    expect(await customer.balance()).toMatchObject({ available: usd(60) })
    chain.grow(4)
    await watch()
    expect(await customer.balance()).toMatchObject({ available: usd(120) })
  })

  test('behavior: nothing is credited on Polygon while it does not finalize, and it is reported', async () => {
    const customer = await world.customer()
    const slow = fakeChain(polygon)
    slow.pay('USDC', await customer.address(), usd(10))
    slow.distance = { safe: 70, finalized: 70 }
    slow.grow(100)
    const look = watcherOf(polygon, slow)
    expect(await look()).toEqual({ behind: 0, stalled: true })
    expect(await customer.balance()).toMatchObject({ available: 0n })
    slow.distance = { safe: 2, finalized: 2 }
    expect(await look()).toEqual({ behind: 0, stalled: false })
    expect(await customer.balance()).toMatchObject({ available: usd(10) })
  })

  test('behavior: two watchers at once, as two replicas are, credit once', async () => {
    const customer = await world.customer()
    for (let index = 0; index < 5; index++) chain.pay('USDC', await customer.address(), usd(3))
    chain.grow(20)
    const looks = Array.from({ length: 4 }, () => watcherOf(base, chain))
    await Promise.all(looks.map((look) => look().catch(() => {})))
    for (const look of looks) await look()
    expect(await customer.balance()).toMatchObject({ available: usd(15) })
    await world.expectBooksToBalance()
  })

  test('behavior: a customer of tens of thousands is found at once', async () => {
    const customer = await world.customer()
    await world.services.db.query(
      `with others as (
         insert into account (id, email, created_at) select 'acc_' || n, n || '@test.net', now()
         from generate_series(1, 30000) n returning id
       )
       insert into deposit_address (counter, address, account_id, invoice_id, created_at)
       select -substr(id, 5)::bigint, md5(id), id, null, '2026-01-01' from others`,
    )
    chain.pay('USDC', await customer.address(), usd(3))
    for (let index = 0; index < 3000; index++) chain.pay('USDC', base.treasury, usd(1))
    await watch()
    const begun = performance.now()
    chain.pay('USDC', base.treasury, usd(1))
    await watch()
    expect(performance.now() - begun).toBeLessThan(500)
    expect(await customer.balance()).toMatchObject({ available: usd(3) })
  })
})

describe('a reorganisation', () => {
  test('behavior: a deposit that is dropped before its credit is orphaned', async () => {
    const customer = await world.customer()
    chain.pay('USDC', await customer.address(), usd(10))
    await watch()
    chain.reorganise(1, 'dropped')
    chain.grow(20)
    await watch()
    expect(await world.deposits()).toMatchObject([{ status: 'orphaned' }])
    expect(await customer.balance()).toMatchObject({ available: 0n, owed: 0n })
  })

  test('behavior: a credit that is dropped is taken back; what was spent of it is owed, and paid first', async () => {
    const customer = await world.customer()
    chain.pay('USDC', await customer.address(), usd(10))
    chain.grow(5)
    await watch()
    await spend(customer.accountId, usd(7))
    chain.reorganise(6, 'dropped')
    await watch()
    expect(await customer.balance()).toMatchObject({ available: 0n, held: usd(7), owed: usd(7) })
    await world.expectBooksToBalance()

    chain.pay('USDT', await customer.address(), usd(9))
    chain.grow(5)
    await watch()
    expect(await customer.balance()).toMatchObject({ available: usd(2), owed: 0n })
    await world.expectBooksToBalance()
  })

  test('behavior: a deposit that moves to another block stays credited once', async () => {
    const customer = await world.customer()
    const paid = chain.pay('USDC', await customer.address(), usd(10))
    chain.grow(5)
    await watch()
    chain.grow(1)
    chain.reorganise(5, 'kept')
    chain.reorganise(8, 'kept')
    for (let looks = 0; looks < 3; looks++) await watch()
    expect(await customer.balance()).toMatchObject({ available: usd(10) })
    const [deposit] = await world.deposits()
    expect(deposit).toMatchObject({ status: 'credited' })
    expect(deposit!.block_hash).not.toBe(paid.blockHash)
  })

  test('behavior: a deposit whose log gets another number is the same deposit: nothing is taken back', async () => {
    const customer = await world.customer()
    const first = chain.pay('USDC', await customer.address(), usd(10))
    const second = chain.pay('USDT', await customer.address(), usd(20))
    chain.grow(5)
    await watch()
    chain.reorganise(7, 'kept')
    await watch()
    expect([first.logIndex, second.logIndex]).toEqual([0, 0])
    expect(await inOrder(customer.accountId)).toMatchObject([
      { status: 'credited', log_index: 0 },
      { status: 'credited', log_index: 1 },
    ])
    expect(await postings(customer.accountId)).toEqual(['deposit', 'deposit'])
    await world.expectBooksToBalance()
  })

  test.each([
    { when: 'before the credit', confirmations: 1 },
    { when: 'after the credit', confirmations: 5 },
  ])(
    'behavior: a batch whose logs move by one, $when: each customer gets their own, and no invoice hangs',
    async ({ confirmations }) => {
      const customers = [await world.customer(), await world.customer()]
      const amounts = [usd(10), usd(20)]
      const invoices: string[] = []
      for (const [index, customer] of customers.entries()) {
        const { body } = await customer.post('/balance/topup', { amount: index === 0 ? 10 : 20 })
        invoices.push(body.invoice.id)
      }
      chain.payBatch([
        { symbol: 'USDC', to: await customers[0]!.address(), value: amounts[0]! },
        { symbol: 'USDC', to: await customers[1]!.address(), value: amounts[1]! },
      ])
      chain.grow(confirmations - 1)
      await watch()
      chain.reorganise(confirmations, 'kept', 1)
      for (let looks = 0; looks < 2; looks++) {
        chain.grow(5)
        await watch()
      }
      for (const [index, customer] of customers.entries()) {
        expect(await customer.balance()).toMatchObject({ available: amounts[index]!, owed: 0n })
        expect((await customer.get(`/invoices/${invoices[index]}`)).body).toMatchObject({ status: 'paid' })
        expect(await world.deposits(customer.accountId)).toMatchObject([
          { status: 'credited', amount: amounts[index]!, log_index: index + 1 },
        ])
        expect(await postings(customer.accountId)).toEqual(['deposit'])
      }
      await world.expectBooksToBalance()
    },
  )

  test('behavior: equal transfers in one transaction are deposits of their own, also after their logs moved', async () => {
    const customer = await world.customer()
    const payment = { symbol: 'USDC' as const, to: await customer.address(), value: usd(5) }
    chain.payBatch([payment, payment])
    await watch()
    chain.reorganise(1, 'kept', 1)
    chain.grow(5)
    await watch()
    expect(await customer.balance()).toMatchObject({ available: usd(10) })
    expect(await world.deposits()).toMatchObject([{ status: 'credited' }, { status: 'credited' }])
    await world.expectBooksToBalance()
  })

  test.each([
    { when: 'before the credit', confirmations: 1, booked: [] },
    { when: 'after the credit', confirmations: 5, booked: ['deposit', 'deposit_reversal'] },
  ])(
    'behavior: a transaction that does something else in its new block, $when, is another deposit, and the first is orphaned',
    async ({ confirmations, booked }) => {
      const [one, other] = [await world.customer(), await world.customer()]
      const to = { one: await one.address(), other: await other.address() }
      chain.payBatch([{ symbol: 'USDC', to: to.one, value: usd(10) }])
      chain.grow(confirmations - 1)
      await watch()
      // Another transfer now stands in place of the first, followed by one of another amount.
      chain.rewrite(confirmations, [
        { symbol: 'USDC', to: to.other, value: usd(20) },
        { symbol: 'USDC', to: to.one, value: usd(11) },
      ])
      chain.grow(5)
      await watch()
      expect(await one.balance()).toMatchObject({ available: usd(11), owed: 0n })
      expect(await other.balance()).toMatchObject({ available: usd(20), owed: 0n })
      expect(await inOrder(one.accountId)).toMatchObject([
        { status: 'orphaned', amount: usd(10) },
        { status: 'credited', amount: usd(11) },
      ])
      expect(await world.deposits(other.accountId)).toMatchObject([{ status: 'credited', amount: usd(20) }])
      expect(await postings(one.accountId)).toEqual([...booked, 'deposit'])
      await world.expectBooksToBalance()
    },
  )

  test('behavior: a deposit that comes back is credited again', async () => {
    const customer = await world.customer()
    const address = await customer.address()
    chain.pay('USDC', address, usd(10))
    chain.grow(5)
    await watch()
    const [before] = await world.deposits()
    const fork = chain
    const without = fakeChain(base)
    // The same genesis, another branch.
    without.grow(8)
    await watcherOf(base, without)()
    expect(await customer.balance()).toMatchObject({ available: 0n })
    fork.grow(10)
    await watcherOf(base, fork)()
    expect(await customer.balance()).toMatchObject({ available: usd(10) })
    expect(await world.deposits()).toMatchObject([{ id: before!.id, status: 'credited', credits: 2 }])
    await world.expectBooksToBalance()
  })

  /** The deposits of an account, smallest first. */
  const inOrder = async (accountId: string) =>
    (await world.deposits(accountId)).sort((one, other) => Number(one.amount - other.amount))

  /** The ledger transactions of an account, in order. */
  async function postings(accountId: string) {
    const { rows } = await world.services.db.query<{ kind: string }>(
      'select kind from ledger_transaction where account_id = $1 order by position',
      [accountId],
    )
    return rows.map(({ kind }) => kind)
  }

  async function spend(accountId: string, amount: bigint) {
    const { services } = world
    await inTransaction(services.db, (tx) =>
      placeHold(tx, {
        id: services.newId('hold'),
        transactionId: services.newId('transaction'),
        accountId,
        amount,
        purpose: services.newId('order'),
        description: 'Spent',
        at: services.clock.now(),
      }),
    )
  }
})

describe('a chain in trouble', () => {
  test('behavior: killed at any call to the chain and started again, everything is credited once', async () => {
    const customer = await world.customer()
    for (let failAt = 1; failAt < 60; failAt++) {
      chain.pay('USDC', await customer.address(), usd(1))
      chain.grow(5)
      chain.calls = 0
      chain.failFrom = 1 + (failAt % 30)
      await watcherOf(base, chain)().catch(() => {})
    }
    chain.failFrom = Number.POSITIVE_INFINITY
    chain.grow(30)
    await watcherOf(base, chain)()
    expect(await customer.balance()).toMatchObject({ available: usd(59) })
    await world.expectBooksToBalance()
  })

  test('behavior: a node that lags behind what was seen changes nothing', async () => {
    const customer = await world.customer()
    chain.pay('USDC', await customer.address(), usd(10))
    chain.grow(5)
    await watch()
    const lagging = fakeChain(base)
    expect(await watcherOf(base, lagging)()).toEqual({ behind: 6, stalled: false })
    expect(await customer.balance()).toMatchObject({ available: usd(10) })
    expect(await world.deposits()).toMatchObject([{ status: 'credited' }])
  })

  test('error: another chain behind the same endpoint', async () => {
    await watch()
    const other = fakeChain({ ...base, chainId: 1 })
    other.grow(50)
    await expect(watcherOf(base, other)()).rejects.toThrow(OtherChainError)
  })

  test('behavior: a demo chain that lost its newest blocks keeps what was credited, and goes on', async () => {
    const customer = await world.customer()
    const demo = { ...base, demo: true }
    const look = watcherOf(demo, chain)
    chain.grow(3)
    chain.pay('USDC', await customer.address(), usd(10))
    chain.grow(5)
    await look()

    const restored = fakeChain(base)
    restored.grow(3)
    const lookAgain = watcherOf(demo, restored)
    await lookAgain()
    restored.pay('USDC', await customer.address(), usd(5))
    restored.grow(40)
    await lookAgain()
    expect(await customer.balance()).toMatchObject({ available: usd(15), owed: 0n })
  })

  test('behavior: a demo chain that began anew keeps what was credited, and goes on', async () => {
    const customer = await world.customer()
    const demo = { ...base, demo: true }
    chain.pay('USDC', await customer.address(), usd(10))
    chain.grow(5)
    await watcherOf(demo, chain)()

    const anew = fakeChain({ ...base, chainId: 5 })
    anew.pay('USDC', await customer.address(), usd(5))
    anew.grow(5)
    await watcherOf(demo, anew)()
    expect(await customer.balance()).toMatchObject({ available: usd(15), owed: 0n })
  })
})
