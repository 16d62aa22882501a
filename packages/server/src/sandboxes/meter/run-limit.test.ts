import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../database/transaction.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { buyerOf } from '../life/testing.ts'
import { believedRunTime } from './run-limit.ts'
import { type Seen, settleAccounts } from './settle-accounts.ts'

const MICRO = 16_500n
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

const settle = (accountId: string, seen: Seen) =>
  inTransaction(service.services.db, (tx) => settleAccounts(tx, service.services, [accountId], seen))

const saying = (id: string, ranMs: number): Seen => new Map([[LOCAL_HOST, new Map([[id, { ranMs }]])]])

test('default: a host that reports more than the service saw pass is believed as far as that', async () => {
  const buyer = await buyerOf(service)
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  service.clock.advance(HOUR_MS)
  await settle(buyer.accountId, saying(id, 1_000 * HOUR_MS))
  await settle(buyer.accountId, saying(id, 1_000 * HOUR_MS))
  expect(await buyer.row(id)).toMatchObject({ ran_ms: BigInt(HOUR_MS), charged: MICRO })
  await buyer.kill(id)
  expect(await buyer.row(id)).toMatchObject({ state: 'ended', charged: MICRO })
})

test('behavior: a settlement without a report takes nothing from what is believed later', async () => {
  const buyer = await buyerOf(service)
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  for (const seen of [new Map(), new Map(), saying(id, 3 * MINUTE_MS)]) {
    service.clock.advance(MINUTE_MS)
    await settle(buyer.accountId, seen)
  }
  expect(await buyer.row(id)).toMatchObject({ ran_ms: BigInt(3 * MINUTE_MS) })
  await buyer.kill(id)
})

test('behavior: a pause is no time in which it can have run', async () => {
  const buyer = await buyerOf(service)
  const id = await buyer.sandbox({ mode: 'persistent', timeout: 86_400, idle_timeout: 0 })
  service.clock.advance(MINUTE_MS)
  await buyer.post(`/sandboxes/${id}/pause`)
  service.clock.advance(HOUR_MS)
  await buyer.post(`/sandboxes/${id}/resume`)
  service.clock.advance(MINUTE_MS)
  await settle(buyer.accountId, saying(id, HOUR_MS))
  expect(await buyer.row(id)).toMatchObject({ state: 'running', ran_ms: BigInt(2 * MINUTE_MS) })
  await buyer.kill(id)
})

test('behavior: less than is written down, no report and a clock that is set back change nothing', () => {
  const seenAt = new Date('2026-01-01T00:00:00Z')
  const row = { ran_ms: 500n, ran_before_ms: 0n, run_limit_ms: 700n, seen_at: seenAt }
  const after = (ms: number) => new Date(seenAt.getTime() + ms)
  expect(believedRunTime(row, 400, after(1_000))).toBe(500)
  expect(believedRunTime(row, undefined, after(1_000))).toBe(500)
  expect(believedRunTime(row, 9_000, after(-1_000))).toBe(700)
  expect(believedRunTime(row, 9_000, after(1_000))).toBe(1_700)
})
