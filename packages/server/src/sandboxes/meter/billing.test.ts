import { meteredCost } from '@coinrack/money/index.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dyingAt } from '../../database/testing.ts'
import { inTransaction } from '../../database/transaction.ts'
import { post } from '../../ledger/post.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { createSandboxReconciler } from '../life/reconcile-sandboxes.ts'
import { buyerOf } from '../life/testing.ts'
import { createSandboxMeter } from './meter-sandboxes.ts'

const MICRO = 16_500n
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const forEver = { timeout: 86_400, idle_timeout: 0 }

let service: TestService
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_SANDBOXES: '10000/min' } })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

/** The service runs for so long, and looks every so often. */
async function pass(ms: number, everyMs = 10_000) {
  for (let left = ms; left > 0; left -= everyMs) {
    service.clock.advance(Math.min(left, everyMs))
    await service.reconcileSandboxes()
  }
}

test('default: it is charged twice a minute, to the micro-dollar, and holds its next minute', async () => {
  const buyer = await buyerOf(service, 1_000_000n)
  const id = await buyer.sandbox(forEver)
  await pass(HOUR_MS, 30_000)
  expect(await buyer.row(id)).toMatchObject({ charged: MICRO, waived: 0n, held: 275n })
  expect(await buyer.balance()).toMatchObject({ balance: '0.983225', held: '0.000275', owed: '0.00' })
  expect(await buyer.show(id)).toMatchObject({ seconds: 3600, cost: '0.0165' })
  await buyer.kill(id)
  expect(await buyer.balance()).toMatchObject({ balance: '0.9835', held: '0.00', burn_per_hour: '0.00' })
})

test('behavior: in between, the balance says what burns and when it runs out', async () => {
  const buyer = await buyerOf(service, 16_500n)
  const first = await buyer.sandbox({ ...forEver, tariff: 'micro' })
  const begun = service.clock.now().getTime()
  await pass(25_000)
  const { burn_per_hour, runs_out_at } = await buyer.balance()
  expect(burn_per_hour).toBe('0.0165')
  expect(Math.abs(Date.parse(runs_out_at) - begun - HOUR_MS)).toBeLessThan(500)
  await buyer.kill(first)
})

test('behavior: an ephemeral one ends at the very second that the balance does, and has cost all of it', async () => {
  const buyer = await buyerOf(service, 550n)
  const id = await buyer.sandbox(forEver)
  await pass(119_000)
  expect(await buyer.show(id)).toMatchObject({ state: 'running' })
  await pass(2_000, 250)
  const row = await buyer.row(id)
  expect(row).toMatchObject({ state: 'ended', reason: 'balance', held: 0n })
  expect(row.charged).toBe(550n)
  expect(Math.abs(Number(row.ran_ms) - 120_000)).toBeLessThanOrEqual(500)
  expect(await buyer.balance()).toMatchObject({ balance: '0.00', held: '0.00', total: '0.00' })
})

test('behavior: a persistent one pauses then, and goes on when there is money', async () => {
  const buyer = await buyerOf(service, 275n)
  const id = await buyer.sandbox({ ...forEver, mode: 'persistent' })
  await pass(61_000, 250)
  expect(await buyer.show(id)).toMatchObject({ state: 'paused', reason: 'balance', cost: '0.000275' })
  await pass(HOUR_MS, 30 * MINUTE_MS)
  const refused = await buyer.post(`/sandboxes/${id}/resume`)
  expect([refused.status, refused.body.code]).toEqual([402, 'insufficient_balance'])
  await service.credit(buyer.accountId, 1_000n)
  expect((await buyer.post(`/sandboxes/${id}/resume`)).body).toMatchObject({ state: 'running' })
  await pass(60_000)
  const before = await buyer.row(id)
  await buyer.kill(id)
  const after = await buyer.row(id)
  // Not more for the pause, and not twice for the parts.
  expect(after.charged + after.waived).toBe(meteredCost(MICRO, Number(after.ran_ms)))
  expect(after.waived).toBeLessThanOrEqual(1n)
  expect(after.charged).toBeGreaterThanOrEqual(before.charged)
  expect(Number(after.ran_ms)).toBeLessThan(122_000)
})

test('behavior: all of an account end at the same moment', async () => {
  const buyer = await buyerOf(service, 2_000n)
  const ids = [await buyer.sandbox(forEver), await buyer.sandbox({ ...forEver, tariff: 'small' })]
  await pass(3 * MINUTE_MS, 250)
  const rows = await Promise.all(ids.map((id) => buyer.row(id)))
  expect(rows.map(({ reason }) => reason)).toEqual(['balance', 'balance'])
  expect(rows[0]!.ran_ms).toBe(rows[1]!.ran_ms)
  expect(rows[0]!.charged + rows[1]!.charged).toBeGreaterThanOrEqual(1_999n)
})

test('behavior: money that comes in the last minute lets them go on', async () => {
  const buyer = await buyerOf(service, 300n)
  const id = await buyer.sandbox(forEver)
  await pass(50_000)
  expect((await buyer.row(id)).held).toBeLessThan(275n)
  await service.credit(buyer.accountId, 10_000n)
  await pass(60_000)
  expect(await buyer.show(id)).toMatchObject({ state: 'running' })
  await buyer.kill(id)
})

test('behavior: what something else takes of the balance does not take what is held', async () => {
  const buyer = await buyerOf(service, 10_000n)
  const id = await buyer.sandbox(forEver)
  await pass(30_000)
  const { balance } = await buyer.balance()
  await inTransaction(service.services.db, (tx) =>
    post(tx, {
      id: service.services.newId('transaction'),
      kind: 'charge',
      accountId: buyer.accountId,
      description: 'A VPS',
      postings: [
        {
          from: 'customer.available',
          to: 'revenue.vps',
          amount: BigInt(Math.round(Number(balance) * 1e6)),
        },
      ],
      at: service.clock.now(),
    }),
  )
  // It was settled in the last half minute.
  await pass(29_000)
  expect(await buyer.show(id)).toMatchObject({ state: 'running' })
  await pass(33_000, 250)
  const row = await buyer.row(id)
  expect(row).toMatchObject({ state: 'ended', reason: 'balance' })
  expect(row.waived).toBeLessThanOrEqual(1n)
})

test('behavior: what ran while the service was down is charged, all of it', async () => {
  const buyer = await buyerOf(service, 1_000_000n)
  const id = await buyer.sandbox(forEver)
  service.clock.advance(5 * HOUR_MS)
  await service.reconcileSandboxes()
  expect(await buyer.row(id)).toMatchObject({ charged: 5n * MICRO, waived: 0n, state: 'running' })
  await buyer.kill(id)
})

test('behavior: when the money ended meanwhile, no more is taken than there was, then or later', async () => {
  const buyer = await buyerOf(service, 1_000n)
  const id = await buyer.sandbox({ ...forEver, mode: 'persistent' })
  service.clock.advance(HOUR_MS)
  await service.reconcileSandboxes()
  await service.reconcileSandboxes()
  expect(await buyer.row(id)).toMatchObject({ state: 'paused', charged: 1_000n, waived: 15_500n, held: 0n })
  expect(await buyer.balance()).toMatchObject({ balance: '0.00', held: '0.00', owed: '0.00' })
  await service.credit(buyer.accountId, 100_000n)
  await buyer.post(`/sandboxes/${id}/resume`)
  await pass(MINUTE_MS)
  expect(await buyer.row(id)).toMatchObject({ charged: 1_275n, waived: 15_500n })
  await buyer.kill(id)
})

test('behavior: who owes has nothing running', async () => {
  const buyer = await buyerOf(service, 1_000_000n)
  const id = await buyer.sandbox(forEver)
  await pass(30_000)
  await inTransaction(service.services.db, (tx) =>
    post(tx, {
      id: service.services.newId('transaction'),
      kind: 'deposit_reversal',
      accountId: buyer.accountId,
      description: 'The chain took it back',
      postings: [{ from: 'customer.owed', to: 'treasury.8453.USDC', amount: 5n }],
      at: service.clock.now(),
    }),
  )
  await pass(1_000, 250)
  expect(await buyer.row(id)).toMatchObject({ state: 'ended', reason: 'owed', held: 0n })
  const refused = await buyer.create()
  expect([refused.status, refused.body.code]).toEqual([402, 'account_owes'])
})

test('behavior: killed at any statement of settling and ending, it charges what ran, once', async () => {
  for (let statement = 1; ; statement++) {
    const buyer = await buyerOf(service, 100_000n)
    const id = await buyer.sandbox({ timeout: 60, idle_timeout: 0 })
    service.clock.advance(40_000)
    const dying = dyingAt(service.services, statement)
    const meter = createSandboxMeter(dying.services)
    const reconciler = createSandboxReconciler(dying.services)
    await meter.pass().catch(() => {})
    service.clock.advance(20_000)
    for (let turn = 0; turn < 3; turn++) {
      await reconciler.pass().catch(() => {})
      await reconciler.idle()
    }
    await pass(500, 250)
    const row = await buyer.row(id)
    expect(row).toMatchObject({ state: 'ended', reason: 'timeout', held: 0n, waived: 0n })
    // A service that dies after the end and before it was written down knows what was seen last.
    expect([275n, meteredCost(MICRO, Number(row.ran_ms))]).toContain(row.charged)
    expect(row.charged).toBeGreaterThanOrEqual(275n)
    expect((await buyer.balance()).held).toBe('0.00')
    if (!dying.died()) break
  }
})
