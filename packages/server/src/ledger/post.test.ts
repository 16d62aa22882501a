import type { Posting } from '@coinrack/money/index.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { lockBalance, readBalance } from './balance.ts'
import { InsufficientFunds, type LedgerTransaction, post } from './post.ts'
import { type Books, expectBooksToBalance, openBooks } from './testing.ts'

let books: Books
beforeAll(async () => {
  books = await openBooks()
})
afterAll(async () => {
  await expectBooksToBalance(books.db)
  await books.close()
})

const write = (accountId: string, postings: Posting[], change: Partial<LedgerTransaction> = {}) =>
  inTransaction(books.db, (tx) =>
    post(tx, {
      id: books.newId('transaction'),
      kind: 'adjustment',
      accountId,
      description: 'Test',
      postings,
      at: books.at,
      ...change,
    }),
  )
const spend = (amount: bigint): Posting => ({ from: 'customer.available', to: 'revenue.vps', amount })
const countOf = async (table: 'ledger_transaction' | 'ledger_entry') =>
  Number((await books.db.query<{ count: bigint }>(`select count(*) from ${table}`)).rows[0]!.count)

test('default: writes the transaction with its entries, and answers the balance after it', async () => {
  const account = await books.account(5_000_000n)
  const id = books.newId('transaction')
  expect(await write(account, [spend(2_000_000n)], { id, reference: 'for:this' })).toBe(3_000_000n)

  const { rows } = await books.db.query('select * from ledger_transaction where id = $1', [id])
  expect(rows).toEqual([
    {
      id,
      kind: 'adjustment',
      account_id: account,
      reference: 'for:this',
      description: 'Test',
      available_change: -2_000_000n,
      held_change: 0n,
      available_after: 3_000_000n,
      created_at: books.at,
      position: expect.any(BigInt),
    },
  ])
  const entries = await books.db.query(
    'select line, ledger_account, amount from ledger_entry where transaction_id = $1 order by line',
    [id],
  )
  expect(entries.rows).toEqual([
    { line: 1, ledger_account: 'customer.available', amount: -2_000_000n },
    { line: 2, ledger_account: 'revenue.vps', amount: 2_000_000n },
  ])
})

describe('error: InsufficientFunds', () => {
  test.each<[string, Posting[]]>([
    ['a micro-dollar more than there is', [spend(5_000_001n)]],
    ['a capture of what was not held', [{ from: 'customer.held', to: 'revenue.vps', amount: 1n }]],
    ['paying a debt that is not there', [{ from: 'customer.available', to: 'customer.owed', amount: 1n }]],
  ])('%s', async (_what, postings) => {
    const account = await books.account(5_000_000n)
    const before = [await countOf('ledger_transaction'), await countOf('ledger_entry')]
    await expect(write(account, postings)).rejects.toThrow(InsufficientFunds)
    expect([await countOf('ledger_transaction'), await countOf('ledger_entry')]).toEqual(before)
    expect(await readBalance(books.db, account)).toEqual({ available: 5_000_000n, held: 0n, owed: 0n })
  })

  test('an account that does not exist', async () => {
    await expect(write(books.newId('account'), [spend(1n)])).rejects.toThrow(InsufficientFunds)
  })
})

test('behavior: the last micro-dollar can be spent', async () => {
  const account = await books.account(5n)
  expect(await write(account, [spend(5n)])).toBe(0n)
})

test('behavior: a debt is what a reversal leaves, and arriving money pays it', async () => {
  const account = await books.account(2n)
  await write(account, [
    { from: 'customer.available', to: 'treasury.8453.USDC', amount: 2n },
    { from: 'customer.owed', to: 'treasury.8453.USDC', amount: 3n },
  ])
  expect(await readBalance(books.db, account)).toEqual({ available: 0n, held: 0n, owed: 3n })
  await write(account, [
    { from: 'treasury.8453.USDC', to: 'customer.available', amount: 10n },
    { from: 'customer.available', to: 'customer.owed', amount: 3n },
  ])
  expect(await readBalance(books.db, account)).toEqual({ available: 7n, held: 0n, owed: 0n })
})

test('behavior: one cause has one effect: a reference is used once', async () => {
  const account = await books.account()
  await books.deposit(account, 5n, 'deposit:1:0xabc:0')
  await expect(books.deposit(account, 5n, 'deposit:1:0xabc:0')).rejects.toThrow(/unique/)
  expect((await readBalance(books.db, account)).available).toBe(5n)
})

test('behavior: of twenty deposits of one cause at the same moment one is written', async () => {
  const account = await books.account()
  const tries = Array.from({ length: 20 }, () => books.deposit(account, 5n, 'deposit:1:0xdef:0'))
  const results = await Promise.allSettled(tries)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect((await readBalance(books.db, account)).available).toBe(5n)
})

test('behavior: a balance that covers three of twenty at the same moment is charged three times', async () => {
  const account = await books.account(3_999_999n)
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => write(account, [spend(1_000_000n)])),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  expect(failures.every((error) => error instanceof InsufficientFunds)).toBe(true)
  expect((await readBalance(books.db, account)).available).toBe(999_999n)
})

test('behavior: stands or falls with the transaction around it', async () => {
  const account = await books.account(5n)
  const work = inTransaction(books.db, async (tx) => {
    await post(tx, {
      id: books.newId('transaction'),
      kind: 'charge',
      accountId: account,
      description: 'Test',
      postings: [spend(5n)],
      at: books.at,
    })
    throw new Error('What the money was for failed')
  })
  await expect(work).rejects.toThrow('What the money was for failed')
  expect((await readBalance(books.db, account)).available).toBe(5n)
})

test('behavior: a locked balance is not changed by others until the lock ends', async () => {
  const account = await books.account(5n)
  const locked = Promise.withResolvers<void>()
  const other = locked.promise.then(() => write(account, [spend(5n)]))
  await inTransaction(books.db, async (tx) => {
    const { available } = await lockBalance(tx, account)
    locked.resolve()
    await tx.query('select pg_sleep(0.2)')
    expect(await lockBalance(tx, account)).toMatchObject({ available })
  })
  expect(await other).toBe(0n)
})

describe('behavior: the service may write the ledger in no other way', () => {
  test.each([
    'update ledger_entry set amount = 1',
    'delete from ledger_entry',
    'truncate ledger_entry',
    `insert into ledger_entry values ('txn_1', 1, 'revenue.vps', 1)`,
    'update ledger_transaction set available_after = 0',
    'delete from ledger_transaction',
    'truncate ledger_transaction cascade',
    `insert into ledger_transaction (id, kind, account_id, description, created_at, available_change, held_change, available_after)
     select 'txn_1', 'adjustment', id, '', now(), 0, 0, 0 from account limit 1`,
    'update customer_balance set available = 7000000',
    'update customer_balance set account_id = account_id',
    'delete from customer_balance',
    'truncate customer_balance',
    `insert into customer_balance (account_id, available) values ('acc_1', 1)`,
    'alter table customer_balance disable trigger all',
  ])('%s', async (statement) => {
    await books.account(5n)
    await expect(books.db.query(statement)).rejects.toMatchObject({ code: '42501' })
  })

  test('the column that a row is locked by', async () => {
    await books.account()
    const unlocked = books.db.query('update customer_balance set for_locks = false')
    await expect(unlocked).rejects.toThrow(/can only be updated to DEFAULT/)
  })
})

describe('behavior: the database refuses what does not balance', () => {
  const call = (accounts: string[], amounts: number[]) => async (account: string) =>
    books.db.query(`select ledger_post($1, 'adjustment', $2, null, '', now(), $3, $4)`, [
      books.newId('transaction'),
      account,
      accounts,
      amounts,
    ])
  const callAll =
    (...entries: [string, string, number][]) =>
    (account: string) => {
      const [id, other] = [books.newId('transaction'), books.newId('transaction')]
      const named = entries.map(([whose, ...entry]) => [whose === 'other' ? other : id, ...entry] as const)
      return books.db.query(
        `select ledger_post_all($1, array['adjustment'], $2, array[null], array[''], now(), $3, $4, $5, $6)`,
        [
          [id],
          [account],
          named.map(([whose]) => whose),
          named.map((_, index) => index + 1),
          named.map(([, to]) => to),
          named.map(([, , amount]) => amount),
        ],
      )
    }
  test.each<[string, (account: string) => Promise<unknown>]>([
    ['entries that do not sum to zero', call(['customer.available', 'revenue.vps'], [5, -4])],
    ['one entry', call(['customer.available'], [5])],
    ['no entry', call([], [])],
    ['an entry without an account', call(['customer.available'], [5, -5])],
    [
      'of many: entries that do not sum to zero',
      callAll(['own', 'customer.available', 5], ['own', 'revenue.vps', -4]),
    ],
    ['of many: one without entries', callAll()],
    [
      'of many: entries of another',
      callAll(['other', 'customer.available', 5], ['other', 'revenue.vps', -5]),
    ],
  ])('%s', async (_what, post) => {
    const account = await books.account(5n)
    await expect(post(account)).rejects.toThrow(/does not balance/)
    expect((await readBalance(books.db, account)).available).toBe(5n)
  })
})

describe('behavior: whoever writes by hand is held to the same', () => {
  /** Runs statements as the owner of the ledger, as migrations do. */
  const byHand = (...statements: string[]) =>
    inTransaction(books.db, async (tx) => {
      await tx.query('set local role coinrack_ledger')
      for (const statement of statements) await tx.query(statement)
    })
  const transaction = (id: string, account: string, available: number) =>
    `insert into ledger_transaction (id, kind, account_id, description, created_at, available_change, held_change, available_after)
     values ('${id}', 'adjustment', '${account}', '', now(), ${available}, 0, ${available})`
  const entry = (id: string, line: number, account: string, amount: number) =>
    `insert into ledger_entry values ('${id}', ${line}, '${account}', ${amount})`
  const balance = (account: string, available: number) =>
    `update customer_balance set available = ${available} where account_id = '${account}'`

  test('default: what balances is written', async () => {
    const account = await books.account()
    const id = books.newId('transaction')
    await byHand(
      transaction(id, account, 5),
      entry(id, 1, 'house.adjustments', -5),
      entry(id, 2, 'customer.available', 5),
      balance(account, 5),
    )
    expect((await readBalance(books.db, account)).available).toBe(5n)
  })

  test.each<[string, (account: string, id: string) => string[]]>([
    ['a balance without entries', (account) => [balance(account, 5)]],
    ['a transaction without entries', (account, id) => [transaction(id, account, 0)]],
    [
      'entries without the balance',
      (account, id) => [
        transaction(id, account, 5),
        entry(id, 1, 'house.adjustments', -5),
        entry(id, 2, 'customer.available', 5),
      ],
    ],
    [
      'entries that do not sum to zero',
      (account, id) => [
        transaction(id, account, 5),
        entry(id, 1, 'house.adjustments', -4),
        entry(id, 2, 'customer.available', 5),
        balance(account, 5),
      ],
    ],
    [
      'a change that is not that of the entries',
      (account, id) => [
        transaction(id, account, 4),
        entry(id, 1, 'house.adjustments', -5),
        entry(id, 2, 'customer.available', 5),
        balance(account, 5),
      ],
    ],
    [
      'a balance that is taken away',
      (account) => [`delete from customer_balance where account_id = '${account}'`],
    ],
  ])('%s', async (what, statements) => {
    const account = await books.account(what === 'a balance that is taken away' ? 5n : 0n)
    const before = await readBalance(books.db, account)
    await expect(byHand(...statements(account, books.newId('transaction')))).rejects.toMatchObject({
      code: '23514',
    })
    expect(await readBalance(books.db, account)).toEqual(before)
  })

  test('an entry that is added to a transaction', async () => {
    const account = await books.account()
    const id = books.newId('transaction')
    await write(account, [{ from: 'house.adjustments', to: 'customer.available', amount: 5n }], { id })
    await expect(byHand(entry(id, 3, 'revenue.vps', 1))).rejects.toThrow(/does not balance/)
  })

  test.each([
    'update ledger_entry set amount = 1',
    'delete from ledger_entry',
    'update ledger_transaction set available_after = 0',
    'delete from ledger_transaction',
    // A statement that matches no row is refused too, since it is a mistake in any case.
    `delete from ledger_entry where transaction_id = 'none'`,
    'truncate ledger_entry',
    'truncate ledger_transaction cascade',
  ])('append only: %s', async (statement) => {
    await expect(byHand(statement)).rejects.toThrow(/append only/)
  })

  test.each([
    'update customer_balance set available = -1',
    'update customer_balance set held = -1',
    'update customer_balance set owed = 1',
  ])('a balance on the wrong side of zero: %s', async (statement) => {
    await books.account()
    await expect(byHand(statement)).rejects.toThrow(/check constraint/)
  })
})
