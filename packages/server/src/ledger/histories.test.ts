import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { readBalance } from './balance.ts'
import { captureHold, placeHold, releaseHold } from './hold.ts'
import { InsufficientFunds, post } from './post.ts'
import { type Books, expectBooksToBalance, openBooks } from './testing.ts'

/*
 * Random histories, run as concurrently as the pool allows: in any resulting order the books balance, no customer is
 * below zero, and the money is exactly what the successful calls moved.
 */

const ACCOUNTS = 5
const SECONDS = 8

type Event =
  | { do: 'deposit'; account: number; amount: bigint; cause: number }
  | { do: 'hold'; account: number; amount: bigint; ending: 'capture' | 'release' | 'both' | 'wait' }
  | { do: 'refund'; account: number; amount: bigint }
  | { do: 'reverse'; account: number; amount: bigint }
  | { do: 'fail'; account: number; amount: bigint }

const account = fc.integer({ min: 0, max: ACCOUNTS - 1 })
const amount = fc.bigInt({ min: 1n, max: 50n })
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  // Causes repeat intentionally, as when a deposit is seen twice.
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('deposit'),
      account,
      amount,
      cause: fc.integer({ min: 0, max: 12 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('hold'),
      account,
      amount,
      ending: fc.constantFrom('capture', 'release', 'both', 'wait'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refund'), account, amount }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reverse'), account, amount }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail'), account, amount }) },
)

let books: Books
beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books.close())

/** Runs one event. Returns the change of the customer's money, spendable and held together. */
async function run(event: Event, accountId: string, history: string): Promise<bigint> {
  const base = { kind: 'adjustment', accountId, description: 'History', at: books.at } as const
  const id = () => books.newId('transaction')
  const whole = (postings: Parameters<typeof post>[1]['postings'], reference?: string) =>
    inTransaction(books.db, (tx) =>
      post(tx, { ...base, id: id(), postings, ...(reference === undefined ? {} : { reference }) }),
    )
  switch (event.do) {
    case 'deposit':
      await whole(
        [{ from: 'treasury.8453.USDC', to: 'customer.available', amount: event.amount }],
        `${history}:${event.account}:${event.cause}`,
      )
      return event.amount
    case 'refund':
      await whole([{ from: 'revenue.vps', to: 'customer.available', amount: event.amount }])
      return event.amount
    case 'reverse':
      await whole([{ from: 'customer.available', to: 'treasury.8453.USDC', amount: event.amount }])
      return -event.amount
    case 'fail':
      await inTransaction(books.db, async (tx) => {
        const postings = [{ from: 'customer.available', to: 'revenue.vps', amount: event.amount } as const]
        await post(tx, { ...base, id: id(), postings })
        throw new InsufficientFunds('The rest of the work failed')
      })
      return 0n
    case 'hold': {
      const holdId = books.newId('hold')
      await inTransaction(books.db, (tx) =>
        placeHold(tx, { ...base, id: holdId, transactionId: id(), amount: event.amount, purpose: holdId }),
      )
      const end = (how: 'capture' | 'release') =>
        inTransaction(books.db, async (tx) => {
          const ending = { holdId, transactionId: id(), description: 'History', at: books.at }
          const ended = await (how === 'capture'
            ? captureHold(tx, ending)
            : releaseHold(tx, { ...ending, reason: 'History' }))
          return ended && how === 'capture' ? -event.amount : 0n
        })
      if (event.ending === 'wait') return 0n
      const ways = event.ending === 'both' ? (['capture', 'release'] as const) : [event.ending, event.ending]
      const changes = await Promise.all(ways.map(end))
      return changes.reduce((sum, change) => sum + change, 0n)
    }
  }
}

test('behavior: any concurrent history leaves the books balanced and every customer at zero or above', async () => {
  let histories = 0
  const property = fc.asyncProperty(
    fc.array(anyEvent, { minLength: 20, maxLength: 60, size: 'max' }),
    async (events) => {
      const history = String(histories++)
      const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => books.account(100n)))
      const results = await Promise.allSettled(
        events.map((event) => run(event, accounts[event.account]!, history)),
      )

      const wanted = accounts.map(() => 100n)
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') wanted[events[index]!.account]! += result.value
        else if (!(result.reason instanceof InsufficientFunds)) {
          expect(events[index]).toMatchObject({ do: 'deposit' })
          expect(result.reason).toMatchObject({ constraint: 'ledger_transaction_reference_key' })
        }
      }
      for (const [index, accountId] of accounts.entries()) {
        const { available, held } = await readBalance(books.db, accountId)
        expect(available + held).toBe(wanted[index])
        expect(available).toBeGreaterThanOrEqual(0n)
      }
      // Each cause of an attempted deposit has been credited once.
      const causes = new Set(
        events.flatMap((event) => (event.do === 'deposit' ? [`${event.account}:${event.cause}`] : [])),
      )
      const { rows } = await books.db.query('select from ledger_transaction where reference like $1', [
        `${history}:%`,
      ])
      expect(rows).toHaveLength(causes.size)
    },
  )
  const seed = Date.now() & 0x7fffffff
  console.log(`Random histories with seed ${seed}`)
  await fc.assert(property, {
    seed,
    numRuns: 100,
    interruptAfterTimeLimit: SECONDS * 1000,
    endOnFailure: true,
  })
  expect(histories).toBeGreaterThan(3)
  await expectBooksToBalance(books.db)
}, 60_000)

test('behavior: the statement runs: each balance is the one before it and the change', async () => {
  const accountId = await books.account(1000n)
  const events: Event[] = Array.from({ length: 60 }, (_, index) =>
    index % 3 === 0
      ? { do: 'refund', account: 0, amount: 7n }
      : { do: 'hold', account: 0, amount: 11n, ending: index % 2 ? 'capture' : 'release' },
  )
  await Promise.all(events.map((event) => run(event, accountId, 'statement')))
  const { rows } = await books.db.query<{ available_change: bigint; available_after: bigint }>(
    'select available_change, available_after from ledger_transaction where account_id = $1 order by position',
    [accountId],
  )
  let before = 0n
  for (const row of rows) {
    expect(row.available_after).toBe(before + row.available_change)
    before = row.available_after
  }
  expect(before).toBe((await readBalance(books.db, accountId)).available)
  // 20 refunds, 40 holds placed and ended, and the deposit at the beginning.
  expect(rows).toHaveLength(20 + 80 + 1)
})
