import { isDeepStrictEqual } from 'node:util'
import type { LedgerAccount, Posting } from '@coinrack/money/index.ts'
import fc from 'fast-check'
import { expect } from 'vitest'
import { inTransaction, type Transaction } from '../database/transaction.ts'
import { creditPostings, reversalPostings } from '../payments/deposit-postings.ts'
import { OperationError } from '../platform/errors.ts'
import { lockBalance } from './balance.ts'
import { spendBudget } from './budget.ts'
import { captureHold, placeHold, releaseHold } from './hold.ts'
import { InsufficientFunds, post } from './post.ts'
import { type Books, expectBooksToBalance, openBooks } from './testing.ts'
import {
  type ModelBudgets,
  type ModelCap,
  type ModelOperation,
  type ModelOutcome,
  openModel,
  runOnModel,
  spentInAll,
} from './testing-model.ts'

/*
 * Random histories, run on the ledger and on its model: each operation has to give the same answer, and in the end the
 * written state has to be the same. A history is a list of transactions, some of which are rolled back.
 */

interface History {
  budgets: ModelBudgets[]
  transactions: { operations: ModelOperation[]; isRolledBack: boolean }[]
}

const CUSTOMERS = 3
const TOKENS = 3
const LANES = 4
const RUNS = 5
const HOUR_MS = 3_600_000
/** The moment at which the hours of the model begin. */
const MIDNIGHT = Date.parse('2026-01-31T00:00:00Z')
const UNIQUE_VIOLATION = '23505'

const customer = fc.nat(CUSTOMERS - 1)
/** Amounts that are mostly small, so that balances run out, and sometimes exceed the integers of a double. */
const amount = fc.oneof(
  { weight: 15, arbitrary: fc.bigInt({ min: 1n, max: 60n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 2n ** 53n, max: 2n ** 54n }) },
)
/** Causes and purposes repeat intentionally, so that operations which may happen once are requested again. */
const cause = fc.nat(14)
const token = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  { weight: 2, arbitrary: fc.nat(TOKENS - 1) },
)
const account = fc.constantFrom<LedgerAccount>(
  'customer.available',
  'customer.available',
  'customer.owed',
  'treasury.1.USDT',
  'revenue.vps',
  'house.adjustments',
)
const posting: fc.Arbitrary<Posting> = fc
  .record({ from: account, to: account, amount })
  .filter(({ from, to }) => from !== to)

const operation: fc.Arbitrary<ModelOperation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('deposit'), customer, amount, cause }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reverse'), customer, amount }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('hold'), customer, amount, purpose: cause, token }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom('capture', 'release'), customer, purpose: cause }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('charge'), customer, amount, cause, token }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refund'), customer, amount }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('post'),
      customer,
      postings: fc.array(posting, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait'), hours: fc.integer({ min: 1, max: 40 }) }) },
)

const cap = fc.option(fc.bigInt({ min: 0n, max: 300n }), { freq: 2 })
const anyHistory: fc.Arbitrary<History> = fc.record({
  budgets: fc.array(
    fc.array(fc.record({ max_per_charge: cap, per_day: cap, total: cap }), {
      minLength: TOKENS,
      maxLength: TOKENS,
    }),
    { minLength: CUSTOMERS, maxLength: CUSTOMERS },
  ),
  transactions: fc.array(
    fc.record({
      operations: fc.array(operation, { minLength: 1, maxLength: 8 }),
      isRolledBack: fc.nat(6).map((one) => one === 6),
    }),
    { minLength: 1, maxLength: 50, size: 'max' },
  ),
})

/** Thrown to roll back a transaction. */
class RollBack extends Error {}

/** Runs at least `operations` operations, in histories determined by the seed, and compares ledger and model. */
export async function compareWithModel({ operations, seed }: { operations: number; seed: number }) {
  const books = await openBooks()
  try {
    let done = 0
    let rounds = 0
    const lane = async () => {
      while (done < operations) {
        const property = fc.asyncProperty(anyHistory, async (history) => {
          const ran = await runHistory(books, history)
          done += ran
        })
        await fc.assert(property, { seed: seed + rounds++, numRuns: RUNS })
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    await expectBooksToBalance(books.db)
    return done
  } finally {
    await books.close()
  }
}

/** @returns how many operations were run */
async function runHistory(books: Books, { budgets, transactions }: History): Promise<number> {
  const ledger = await openLedger(books, budgets)
  let model = openModel(budgets)
  let count = 0
  for (const { operations, isRolledBack } of transactions) {
    const before = structuredClone(model)
    const work = inTransaction(books.db, async (tx) => {
      for (const operation of operations) {
        count++
        const expected = runOnModel(model, budgets, operation)
        const outcome = await ledger.run(tx, operation)
        if (!isDeepStrictEqual(outcome, expected))
          expect({ operation, outcome }).toEqual({ operation, outcome: expected })
        if ('refused' in outcome && outcome.refused !== 'insufficient') throw new RollBack()
      }
      if (isRolledBack) throw new RollBack()
    })
    await work.catch((error) => {
      if (!(error instanceof RollBack)) throw error
      const { hours } = model
      // A rollback does not turn back the time.
      model = { ...before, hours }
    })
  }
  const { customers, sums } = model
  expect(await ledger.written()).toEqual({
    balances: customers.map(({ available, held, owed }) => ({ available, held, owed })),
    statements: customers.map(({ statement }) => statement),
    holds: customers.map(({ holds }) =>
      [...holds]
        .sort(([a], [b]) => a - b)
        .map(([purpose, { amount, state }]) => ({ purpose: String(purpose), amount, state })),
    ),
    spent: customers.map(({ spent }) => spent.map(spentInAll)),
    sums: Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n)),
  })
  return count
}

/** Opens new customers on the real ledger, with a function that runs an operation of the model there. */
async function openLedger(books: Books, budgets: ModelBudgets[]) {
  const accounts = budgets.map(() => books.newId('account'))
  const tokens = budgets.map((caps) => caps.map(() => books.newId('token')))
  await insertCustomers(books, accounts, tokens, budgets)
  let hours = 0
  const now = () => new Date(MIDNIGHT + hours * HOUR_MS)
  const holdIds = new Map<string, string>()

  async function attempt(tx: Transaction, operation: ModelOperation): Promise<ModelOutcome> {
    if (operation.do === 'wait') {
      hours += operation.hours
      return { done: 'waited' }
    }
    const { customer } = operation
    const accountId = accounts[customer]!
    const base = { id: books.newId('transaction'), accountId, description: 'Model', at: now() }
    const spender = (index: number | null) =>
      index === null ? undefined : { tokenId: tokens[customer]![index]! }
    switch (operation.do) {
      case 'deposit': {
        const { owed } = await lockBalance(tx, accountId)
        const postings = creditPostings(operation.amount, owed, 8453, 'USDC')
        const reference = `deposit:${accountId}:${operation.cause}`
        return { done: await post(tx, { ...base, kind: 'deposit', reference, postings }) }
      }
      case 'reverse': {
        const { available } = await lockBalance(tx, accountId)
        const postings = reversalPostings(operation.amount, available, 8453, 'USDC')
        return { done: await post(tx, { ...base, kind: 'deposit_reversal', postings }) }
      }
      case 'refund': {
        const postings = [
          { from: 'revenue.vps', to: 'customer.available', amount: operation.amount } as const,
        ]
        return { done: await post(tx, { ...base, kind: 'refund', postings }) }
      }
      case 'post':
        return { done: await post(tx, { ...base, kind: 'adjustment', postings: operation.postings }) }
      case 'charge': {
        const { amount, cause } = operation
        const postings = [{ from: 'customer.available', to: 'revenue.vps', amount } as const]
        const reference = `charge:${accountId}:${cause}`
        const after = await post(tx, { ...base, kind: 'charge', reference, postings })
        const by = spender(operation.token)
        if (by) await spendBudget(tx, { ...by, amount, at: base.at })
        return { done: after }
      }
      case 'hold': {
        const purpose = `${accountId}:${operation.purpose}`
        const id = books.newId('hold')
        const { amount } = operation
        const hold = {
          ...base,
          id,
          transactionId: base.id,
          amount,
          purpose,
          spender: spender(operation.token),
        }
        await placeHold(tx, hold)
        holdIds.set(purpose, id)
        return { done: 'held' }
      }
      case 'capture':
      case 'release': {
        const holdId = holdIds.get(`${accountId}:${operation.purpose}`) ?? 'none'
        const ending = { ...base, holdId, transactionId: base.id }
        const ended =
          operation.do === 'capture'
            ? captureHold(tx, ending)
            : releaseHold(tx, { ...ending, reason: 'Model' })
        return { done: await ended }
      }
    }
  }

  return {
    run: (tx: Transaction, operation: ModelOperation) =>
      attempt(tx, operation).catch((error): ModelOutcome => {
        if (error instanceof InsufficientFunds) return { refused: 'insufficient' }
        if (error.code === UNIQUE_VIOLATION) return { refused: 'duplicate' }
        if (!(error instanceof OperationError) || error.code !== 'budget_exceeded') throw error
        return budgetOutcome(error, tokens)
      }),
    written: () => readWritten(books, accounts, tokens, [...holdIds.values()]),
  }
}

/** The refusal by a budget in the form of the model, with the number of the token among those of its customer. */
function budgetOutcome({ options: { fields } }: OperationError, tokens: string[][]): ModelOutcome {
  const { cap, raised_by } = fields as { cap: ModelCap; raised_by: { arguments: { token_id: string } } }
  const of = tokens.find((each) => each.includes(raised_by.arguments.token_id))!
  return { refused: 'budget', token: of.indexOf(raised_by.arguments.token_id), cap }
}

async function insertCustomers(
  { db, at }: Books,
  accounts: string[],
  tokens: string[][],
  budgets: ModelBudgets[],
): Promise<void> {
  const rows = tokens.flatMap((ids, index) =>
    ids.map((id, depth) => ({
      id,
      account: accounts[index]!,
      parent: ids[depth - 1] ?? null,
      lineage: ids.slice(0, depth + 1).join(' '),
      caps: budgets[index]![depth]!,
    })),
  )
  const columns = [
    rows.map(({ id }) => id),
    rows.map(({ account }) => account),
    rows.map(({ parent }) => parent),
    rows.map(({ lineage }) => lineage),
    rows.map(({ caps }) => caps.max_per_charge),
    rows.map(({ caps }) => caps.per_day),
    rows.map(({ caps }) => caps.total),
  ]
  await inTransaction(db, async (tx) => {
    const about = [accounts, at]
    await tx.query(
      'insert into account (id, email, created_at) select id, id, $2 from unnest($1::text[]) id',
      about,
    )
    await tx.query('insert into customer_balance (account_id) select unnest($1::text[])', [accounts])
    await tx.query(
      `insert into token (id, account_id, hash, scopes, authenticated_at, created_at, expires_at, parent_id, lineage)
       select id, account, id::bytea, '{}', $5, $5, $5, parent, string_to_array(lineage, ' ')
       from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as new (id, account, parent, lineage)`,
      [...columns.slice(0, 4), at],
    )
    await tx.query(
      `insert into token_budget (token_id, max_per_charge, per_day, total, allow_auto_renew)
       select id, per_charge, per_day, total, true
       from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as new (id, per_charge, per_day, total)`,
      [columns[0], ...columns.slice(4)],
    )
  })
}

/** The whole state of some customers on the ledger, in the form of the model for comparison. */
async function readWritten({ db }: Books, accounts: string[], tokens: string[][], holdIds: string[]) {
  const of = async <R extends { account_id: string }>(sql: string) =>
    (await db.query<R>(sql, [accounts])).rows
  const statements = await of<{
    account_id: string
    available_change: bigint
    held_change: bigint
    available_after: bigint
  }>(
    `select account_id, available_change, held_change, available_after from ledger_transaction
     where account_id = any($1) order by position`,
  )
  const balances = await of<{ account_id: string; available: bigint; held: bigint; owed: bigint }>(
    'select account_id, available, held, owed from customer_balance where account_id = any($1)',
  )
  const { rows: holds } = await db.query<{
    account_id: string
    purpose: string
    amount: bigint
    state: string
  }>(
    `select account_id, split_part(purpose, ':', 2) as purpose, amount, state from hold
     where id = any($1) order by split_part(purpose, ':', 2)::int`,
    [holdIds],
  )
  const { rows: spent } = await db.query<{ token_id: string; total: bigint }>(
    'select token_id, total from token_spending where token_id = any($1)',
    [tokens.flat()],
  )
  const { rows: sums } = await db.query<{ ledger_account: string; sum: string }>(
    // Lateral and with an offset, so that no query plan reads the entries that other histories have written.
    `select ledger_account, sum(amount) from ledger_transaction,
       lateral (select * from ledger_entry where transaction_id = ledger_transaction.id offset 0) entry
     where account_id = any($1) group by ledger_account having sum(amount) <> 0`,
    [accounts],
  )
  const each = <R extends { account_id: string }>(rows: R[]) =>
    accounts.map((id) =>
      rows.filter((row) => row.account_id === id).map(({ account_id: _of, ...row }) => row),
    )
  return {
    balances: each(balances).flat(),
    statements: each(statements),
    holds: each(holds),
    spent: tokens.map((ids) => ids.map((id) => spent.find((row) => row.token_id === id)?.total ?? 0n)),
    sums: Object.fromEntries(sums.map((row) => [row.ledger_account, BigInt(row.sum)])),
  }
}
