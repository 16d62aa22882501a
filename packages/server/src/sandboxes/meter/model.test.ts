import { meteredCost } from '@coinrack/money/index.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../database/transaction.ts'
import { readBalance } from '../../ledger/balance.ts'
import { post } from '../../ledger/post.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from '../life/testing.ts'

/*
 * Random lives of sandboxes of one account, beside a model that knows prices and times alone: what each has run, what
 * the account had, and so the moment at which its money ends. The service looks at arbitrary moments; while it is down
 * it does not look at all.
 */

const PRICES = { micro: 16_500n, small: 33_000n, max: 528_000n } as const
type Tariff = keyof typeof PRICES

type Event =
  | { do: 'create'; tariff: Tariff; mode: 'ephemeral' | 'persistent' }
  | { do: 'kill' | 'pause' | 'resume' | 'fork' | 'crash'; which: number }
  | { do: 'credit' | 'spend'; amount: bigint }
  | { do: 'pass'; ms: number }
  | { do: 'down'; ms: number }

const which = fc.nat(20)
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('create'),
      tariff: fc.constantFrom('micro', 'small', 'max'),
      mode: fc.constantFrom('ephemeral', 'persistent'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('kill', 'pause', 'resume', 'fork', 'crash'), which }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('credit', 'spend'),
      amount: fc.bigInt({ min: 1n, max: 5_000n }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.integer({ min: 1, max: 90_000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('down'), ms: fc.integer({ min: 1, max: 600_000 }) }) },
)

/** A sandbox as the model has it. */
interface Modelled {
  id: string
  price: bigint
  mode: 'ephemeral' | 'persistent'
  state: 'running' | 'paused' | 'ended'
  ranMs: number
  /** The amount that was never charged, for want of money. */
  waived: bigint
}

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_SANDBOXES: '100000/min', COINRACK_RATE_DEFAULT: '100000/min' },
  })
})
afterAll(() => service.close())

/** The account's own funds, by what came in and went out, and by what ran. */
const fundsOf = (all: Modelled[], credited: bigint) =>
  all.reduce((left, { price, ranMs, waived }) => left - meteredCost(price, ranMs) + waived, credited)

/** The first millisecond that the money does not cover; none within `ms`. */
function endOf(all: Modelled[], funds: bigint, ms: number): number | undefined {
  const running = all.filter(({ state }) => state === 'running')
  const cost = (more: number) =>
    running.reduce(
      (sum, { price, ranMs }) => sum + meteredCost(price, ranMs + more) - meteredCost(price, ranMs),
      0n,
    )
  if (cost(ms) <= funds) return undefined
  let [covered, beyond] = [0, ms]
  while (beyond - covered > 1) {
    const middle = Math.floor((covered + beyond) / 2)
    if (cost(middle) <= funds) covered = middle
    else beyond = middle
  }
  return covered
}

test('behavior: whatever happens, each has cost what it ran, until the money ended and no longer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyEvent, { minLength: 10, maxLength: 40 }),
      fc.bigInt({ min: 0n, max: 30_000n }),
      async (events, start) => {
        const buyer = await buyerOf(service, start)
        const all: Modelled[] = []
        let credited = start
        const advance = (ms: number) => {
          service.clock.advance(ms)
          for (const each of all) if (each.state === 'running') each.ranMs += ms
        }
        for (const event of events) {
          credited += await run(event, buyer, all, credited, advance)
          await check(buyer, all, credited)
        }
        for (const { id, state } of all) if (state !== 'ended') await buyer.kill(id)
        expect((await buyer.balance()).held).toBe('0.00')
        await checkStatement(buyer)
      },
    ),
    { numRuns: 15, endOnFailure: true },
  )
  await expectBooksToBalance(service.services.db)
}, 300_000)

/** Lets an event happen, here and in the model. @returns what came in */
async function run(
  event: Event,
  buyer: Buyer,
  all: Modelled[],
  credited: bigint,
  advance: (ms: number) => void,
): Promise<bigint> {
  const { db, newId, clock } = service.services
  switch (event.do) {
    case 'create': {
      const { tariff, mode } = event
      const { status, body } = await buyer.create({ tariff, mode, timeout: 86_400, idle_timeout: 0 })
      if (status !== 200) {
        expect(body.code).toBe('insufficient_balance')
        return 0n
      }
      all.push({ id: body.id, price: PRICES[tariff], mode, state: 'running', ranMs: 0, waived: 0n })
      return 0n
    }
    case 'credit':
      await service.credit(buyer.accountId, event.amount)
      return event.amount
    case 'spend': {
      const { available } = await readBalance(db, buyer.accountId)
      const amount = least(available, event.amount)
      if (amount === 0n) return 0n
      await inTransaction(db, (tx) =>
        post(tx, {
          id: newId('transaction'),
          kind: 'charge',
          accountId: buyer.accountId,
          description: 'Something else',
          postings: [{ from: 'customer.available', to: 'revenue.vps', amount }],
          at: clock.now(),
        }),
      )
      return -amount
    }
    case 'pass': {
      // It looks often enough, and at the moment of the end.
      for (let left = event.ms; left > 0; ) {
        const end = endOf(all, fundsOf(all, credited), left)
        const ms = Math.min(left, 25_000, end ?? left)
        advance(ms)
        left -= Math.max(ms, 1)
        await service.reconcileSandboxes()
        if (end === ms) moneyEnds(all)
      }
      return 0n
    }
    case 'down': {
      const end = endOf(all, fundsOf(all, credited), event.ms)
      advance(event.ms)
      if (end !== undefined) {
        const owing = -fundsOf(all, credited)
        const running = all.filter(({ state }) => state === 'running')
        await service.reconcileSandboxes()
        for (const each of running) each.waived = (await buyer.row(each.id)).waived
        if (owing > 0n)
          expect(running.reduce((sum, each) => sum + each.waived, 0n)).toBeGreaterThanOrEqual(owing)
        moneyEnds(all)
      }
      await service.reconcileSandboxes()
      return 0n
    }
    default:
      await change(event, buyer, all)
      return 0n
  }
}

const least = (one: bigint, other: bigint) => (one < other ? one : other)

async function change(
  event: Extract<Event, { which: number }>,
  buyer: Buyer,
  all: Modelled[],
): Promise<void> {
  const chosen = all[event.which % Math.max(1, all.length)]
  if (!chosen || chosen.state === 'ended') return
  const { id, state } = chosen
  if (event.do === 'kill') {
    await buyer.kill(id)
    chosen.state = 'ended'
  } else if (event.do === 'crash') {
    service.runtime.crash(id)
    await service.reconcileSandboxes()
    chosen.state = 'ended'
  } else if (event.do === 'pause' && state === 'running') {
    await buyer.post(`/sandboxes/${id}/pause`)
    chosen.state = 'paused'
  } else if (event.do === 'resume' && state === 'paused') {
    const { status } = await buyer.post(`/sandboxes/${id}/resume`)
    if (status === 200) chosen.state = 'running'
    else expect(status).toBe(402)
  } else if (event.do === 'fork') {
    const { status, body } = await buyer.post(`/sandboxes/${id}/fork`)
    if (status === 200) all.push({ ...chosen, id: body.id, state: 'running', ranMs: 0, waived: 0n })
    else expect(status).toBe(402)
  }
}

function moneyEnds(all: Modelled[]): void {
  for (const each of all)
    if (each.state === 'running') each.state = each.mode === 'persistent' ? 'paused' : 'ended'
}

/** Its lines add up to the balance, nothing seems to be given back, and each sandbox has a line. */
async function checkStatement(buyer: Buyer): Promise<void> {
  const { body: lines } = await buyer.ask('GET', '/balance/transactions?limit=100')
  const usage = lines.filter(({ kind }: { kind: string }) => kind === 'usage')
  for (const { amount, held_change } of usage) {
    expect(Number(amount)).toBeLessThan(0)
    expect(held_change).toBe('0.00')
  }
  const { balance } = await buyer.balance()
  expect(lines[0]?.balance ?? '0.00').toBe(balance)
  const micro = (usd: string) => BigInt(Math.round(Number(usd) * 1e6))
  const sum = lines.reduce((total: bigint, { amount }: { amount: string }) => total + micro(amount), 0n)
  expect(sum).toBe(micro(balance))
}

async function check(buyer: Buyer, all: Modelled[], credited: bigint): Promise<void> {
  const rows = await Promise.all(all.map(({ id }) => buyer.row(id)))
  expect(rows.map(({ state }) => state)).toEqual(all.map(({ state }) => state))
  for (const [index, row] of rows.entries()) {
    const { price, ranMs, state, waived } = all[index]!
    expect(row.waived).toBe(waived)
    if (state === 'running') expect(row.charged + waived).toBeLessThanOrEqual(meteredCost(price, ranMs))
    else {
      expect(Number(row.ran_ms)).toBe(ranMs)
      expect(row.charged + waived).toBe(meteredCost(price, ranMs))
      expect(row.held).toBe(0n)
    }
  }
  const { available, held, owed } = await readBalance(service.services.db, buyer.accountId)
  const charged = rows.reduce((sum, row) => sum + row.charged, 0n)
  expect(available + held).toBe(credited - charged)
  expect(held).toBe(rows.reduce((sum, row) => sum + row.held, 0n))
  expect(owed).toBe(0n)
}
