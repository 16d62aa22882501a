import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FakeChain, fakeChain } from '../chain/fake-chain.ts'
import { demandRescan } from './chain-cursor-store.ts'
import { expireInvoices } from './expire-invoices.ts'
import { type Customer, fakeSettings, type PaymentsWorld, paymentsWorld, usd } from './testing.ts'
import { depositWatcher } from './watch-deposits.ts'

/*
 * Deposits that a look at the chain missed or wrongly accepted, and how they are corrected.
 */

const base = fakeSettings(8453, 'base')

let world: PaymentsWorld
let chain: FakeChain
let watch: ReturnType<typeof depositWatcher>

beforeAll(async () => {
  world = await paymentsWorld([base])
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('truncate deposit, chain_cursor, invoice, deposit_address cascade')
  chain = fakeChain(base)
  watch = depositWatcher(world.services, { settings: base, port: chain.port })
})

test.each(Array.from({ length: 20 }, (_, index) => index + 1))(
  'behavior: a reorganisation before question %i of a look is noticed, and what it brought is credited',
  async (question) => {
    const customer = await world.customer()
    const to = await customer.address()
    chain.distance = { safe: 200, finalized: 200 }
    // Deeper than the blocks that are always read again.
    chain.pay('USDC', base.treasury, usd(1))
    chain.grow(98)
    await watch()
    chain.calls = 0
    let height = 99
    chain.beforeCall = (call) => {
      if (call === question) chain.rewrite(height++, [{ symbol: 'USDC', to, value: usd(10) }])
    }
    for (let looks = 0; looks < 5; looks++) {
      chain.grow(1)
      height++
      await watch().catch(() => {})
    }
    expect(await customer.balance()).toMatchObject({ available: usd(10) })
  },
)

test('behavior: a log that a node left out once is found when the chain has grown', async () => {
  const customer = await world.customer()
  const to = await customer.address()
  await watch()
  chain.grow(5)
  chain.pay('USDC', to, usd(10))
  chain.shown = () => []
  for (let looks = 0; looks < 3; looks++) {
    chain.grow(20)
    await watch()
  }
  expect(await world.deposits()).toEqual([])
  chain.shown = (transfers) => transfers
  chain.grow(1)
  await watch()
  expect(await customer.balance()).toMatchObject({ available: usd(10) })
})

test('behavior: reading again costs one question for logs, and changes nothing for what is known', async () => {
  const customer = await world.customer()
  chain.pay('USDC', await customer.address(), usd(10))
  chain.grow(5)
  await watch()
  const rows = async () => {
    const { rows } = await world.services.db.query('select xmin, xmax, * from deposit')
    return rows
  }
  const before = await rows()
  chain.ranges = []
  for (let looks = 1; looks <= 3; looks++) {
    chain.grow(1)
    chain.calls = 0
    await watch()
    expect(chain.ranges).toHaveLength(looks)
    expect(chain.calls).toBeLessThan(20)
    expect(await rows()).toEqual(before)
  }
  chain.calls = 0
  await watch()
  expect(chain.calls).toBe(2)
})

test('behavior: where there are many transfers, blocks are not read again at every look', async () => {
  chain.distance = { safe: 1000, finalized: 1000 }
  chain.shown = (transfers) => [...transfers, ...Array.from({ length: 12_000 }, () => spam)]
  const spam = chain.pay('USDC', base.treasury, usd(1))
  await watch()
  chain.ranges = []
  chain.grow(60)
  await watch()
  for (let looks = 0; looks < 13; looks++) {
    chain.grow(1)
    await watch()
  }
  const lengths = chain.ranges.map(({ from, to }) => to - from + 1)
  expect(lengths).toEqual([62, ...Array(12).fill(1), 65])
})

test('behavior: nodes that lack the newest block when they are asked for it are asked again at the next look', async () => {
  const customer = await world.customer()
  const to = await customer.address()
  let isLacking = true
  for (const node of chain.nodes)
    node.block = (block) => (isLacking && block?.number === 1 ? undefined : block)
  await watch()
  chain.pay('USDC', to, usd(10))
  await watch().catch(() => {})
  expect(await world.deposits()).toEqual([])
  isLacking = false
  await watch()
  expect(await world.deposits()).toMatchObject([{ status: 'seen' }])
})

test('behavior: looked through again at the wish of the operator, a token that was added later is found from then on', async () => {
  const customer = await world.customer()
  const to = await customer.address()
  const before = depositWatcher(world.services, {
    settings: { ...base, tokens: base.tokens.slice(0, 1) },
    port: chain.port,
  })
  chain.pay('USDC', to, usd(1))
  const early = chain.pay('USDT', to, usd(10)).blockNumber
  chain.grow(300)
  await before()
  expect(await customer.balance()).toMatchObject({ available: usd(1) })
  const { db } = world.services
  expect(await demandRescan(db, 1, early)).toBeUndefined()
  expect(await demandRescan(db, 8453, early)).toBe(302)
  chain.ranges = []
  await watch()
  await watch()
  expect(await customer.balance()).toMatchObject({ available: usd(11) })
  expect(await world.deposits()).toMatchObject([{ credits: 1 }, { credits: 1 }])
  // Only once: the next look continues at the head.
  chain.grow(1)
  chain.ranges = []
  await watch()
  expect(Math.min(...chain.ranges.map(({ from }) => from))).toBeGreaterThan(200)
  await world.expectBooksToBalance()
})

test('behavior: a deposit that no receipt proves is orphaned when its block is final, and its invoice is free', async () => {
  const customer = await world.customer()
  const { invoice } = (await customer.post('/balance/topup', { amount: 10 })).body
  const to = (await customer.address()).toLowerCase() as `0x${string}`
  const foreign = chain.pay('USDC', base.treasury, usd(10))
  chain.shown = (transfers) => transfers.concat({ ...foreign, to })
  await watch()
  chain.shown = (transfers) => transfers
  chain.grow(10)
  await watch()
  const read = async () => (await customer.get(`/invoices/${invoice.id}`)).body
  expect(await read()).toMatchObject({ status: 'confirming' })
  expect((await customer.post(`/invoices/${invoice.id}/cancel`)).status).toBe(409)

  chain.grow(60)
  chain.nodes[1].isDown = true
  await watch()
  expect(await world.deposits()).toMatchObject([{ status: 'seen' }])
  chain.nodes[1].isDown = false
  await watch()
  expect(await world.deposits()).toMatchObject([{ status: 'orphaned' }])
  expect(await customer.balance()).toMatchObject({ available: 0n, owed: 0n })
  expect(await read()).toMatchObject({ status: 'unpaid' })
  world.clock.advance(25 * 3_600_000)
  await expireInvoices(world.services)
  expect(await read()).toMatchObject({ status: 'expired' })
  expect((await customer.post('/balance/topup', { amount: 10 })).status).toBe(200)
})

test('behavior: a deposit whose receipt the nodes have forgotten is not orphaned while their logs show it', async () => {
  const customer = await world.customer()
  chain.pay('USDC', await customer.address(), usd(10))
  for (const node of chain.nodes) node.receipt = () => undefined
  for (let looks = 0; looks < 3; looks++) {
    chain.grow(40)
    await watch()
  }
  expect(await world.deposits()).toMatchObject([{ status: 'seen' }])
  for (const node of chain.nodes) node.receipt = (receipt) => receipt
  await watch()
  expect(await customer.balance()).toMatchObject({ available: usd(10) })
})

test('behavior: what an earlier version wrote down is not credited twice, and what it confused is put right', async () => {
  const [one, other] = [await world.customer(), await world.customer()]
  const to = { one: await one.address(), other: await other.address() }
  const payments = [
    { symbol: 'USDC' as const, to: base.treasury, value: usd(1) },
    { symbol: 'USDC' as const, to: to.one, value: usd(10) },
    { symbol: 'USDC' as const, to: to.other, value: usd(20) },
  ]
  const transfers = chain.payBatch(payments)
  chain.grow(5)
  chain.shown = () => []
  await watch()
  chain.shown = (transfers) => transfers

  // The logs shifted by one: the first deposit was orphaned, and the second row took the place of the first log.
  const { db, clock } = world.services
  await db.query(
    `alter table deposit drop column ordinal;
     alter table deposit
       add constraint deposit_chain_id_tx_hash_log_index_key unique (chain_id, tx_hash, log_index)`,
  )
  const write = async (customer: Customer, row: { id: string; log: number; status: string }) =>
    db.query(
      `insert into deposit (id, chain_id, tx_hash, log_index, block_number, block_hash, token, token_address,
         address, account_id, amount, status, credits, seen_at)
       values ($1, 8453, $2, $3, $4, $5, 'USDC', $6, $7, $8, $9, $10, $11, $12)`,
      [
        row.id,
        transfers[0]!.txHash,
        row.log,
        transfers[0]!.blockNumber,
        transfers[0]!.blockHash,
        transfers[0]!.token,
        (await customer.address()).toLowerCase(),
        customer.accountId,
        customer === one ? usd(10) : usd(20),
        row.status,
        row.status === 'credited' ? 1 : 0,
        clock.now(),
      ],
    )
  await write(one, { id: 'dep_1', log: 0, status: 'orphaned' })
  await write(other, { id: 'dep_2', log: 1, status: 'seen' })
  await write(other, { id: 'dep_3', log: 2, status: 'credited' })
  const migration = new URL('../database/migrations/0190_deposit_identity.sql', import.meta.url)
  await db.query(await readFile(migration, 'utf8'))

  chain.grow(1)
  await watch()
  expect(await one.balance()).toMatchObject({ available: usd(10) })
  // The row of the second customer says that it was credited; the ledger of this test does not.
  expect(await other.balance()).toMatchObject({ available: 0n })
  chain.grow(70)
  for (let looks = 0; looks < 2; looks++) await watch()
  expect(await world.deposits()).toMatchObject([
    { id: 'dep_1', status: 'credited', ordinal: 0, log_index: 1, final: true },
    { id: 'dep_2', status: 'orphaned', ordinal: 1 },
    { id: 'dep_3', status: 'credited', ordinal: 0, log_index: 2, final: true },
  ])
  expect(await other.balance()).toMatchObject({ available: 0n })
})
