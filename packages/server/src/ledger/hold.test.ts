import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { readBalance } from './balance.ts'
import { captureHold, placeHold, releaseHold } from './hold.ts'
import { InsufficientFunds } from './post.ts'
import { type Books, expectBooksToBalance, openBooks } from './testing.ts'

let books: Books
beforeAll(async () => {
  books = await openBooks()
})
afterAll(async () => {
  await expectBooksToBalance(books.db)
  await books.close()
})

async function place(accountId: string, amount: bigint, purpose = books.newId('order')): Promise<string> {
  const id = books.newId('hold')
  await inTransaction(books.db, (tx) =>
    placeHold(tx, {
      id,
      transactionId: books.newId('transaction'),
      accountId,
      amount,
      purpose,
      description: 'Reserved',
      at: books.at,
    }),
  )
  return id
}
const ending = (holdId: string) => ({
  holdId,
  transactionId: books.newId('transaction'),
  description: 'Ended',
  at: books.at,
})
const capture = (holdId: string) => inTransaction(books.db, (tx) => captureHold(tx, ending(holdId)))
const release = (holdId: string) =>
  inTransaction(books.db, (tx) => releaseHold(tx, { ...ending(holdId), reason: 'No room' }))
const holdRow = async (id: string) =>
  (await books.db.query('select state, reason, ended_at from hold where id = $1', [id])).rows[0]

test('default: what is held cannot be spent, and is still there', async () => {
  const account = await books.account(10n)
  const hold = await place(account, 7n)
  expect(await readBalance(books.db, account)).toEqual({ available: 3n, held: 7n, owed: 0n })
  expect(await holdRow(hold)).toEqual({ state: 'pending', reason: null, ended_at: null })
})

test('default: captured, it is gone', async () => {
  const account = await books.account(10n)
  const hold = await place(account, 7n)
  expect(await capture(hold)).toBe(true)
  expect(await readBalance(books.db, account)).toEqual({ available: 3n, held: 0n, owed: 0n })
  expect(await holdRow(hold)).toEqual({ state: 'posted', reason: null, ended_at: books.at })
})

test('default: released, it is back, with the reason', async () => {
  const account = await books.account(10n)
  const hold = await place(account, 7n)
  expect(await release(hold)).toBe(true)
  expect(await readBalance(books.db, account)).toEqual({ available: 10n, held: 0n, owed: 0n })
  expect(await holdRow(hold)).toEqual({ state: 'voided', reason: 'No room', ended_at: books.at })
})

test('behavior: it ends once, however often and however it is ended', async () => {
  const account = await books.account(10n)
  const hold = await place(account, 7n)
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? capture(hold) : release(hold))),
  )
  expect(ends.filter(Boolean)).toHaveLength(1)
  const { available, held } = await readBalance(books.db, account)
  const { state } = await holdRow(hold)
  expect(held).toBe(0n)
  expect(available).toBe(state === 'posted' ? 3n : 10n)
})

test('behavior: one purpose is held for once', async () => {
  const account = await books.account(10n)
  await place(account, 2n, 'ord_once')
  await expect(place(account, 2n, 'ord_once')).rejects.toThrow(/unique/)
  expect(await readBalance(books.db, account)).toEqual({ available: 8n, held: 2n, owed: 0n })
})

test('error: more than there is to spend, and held money is not', async () => {
  const account = await books.account(10n)
  await place(account, 7n)
  await expect(place(account, 4n)).rejects.toThrow(InsufficientFunds)
  expect(await readBalance(books.db, account)).toEqual({ available: 3n, held: 7n, owed: 0n })
})

test('behavior: an unknown hold ends nothing', async () => {
  expect(await capture(books.newId('hold'))).toBe(false)
  expect(await release(books.newId('hold'))).toBe(false)
})
