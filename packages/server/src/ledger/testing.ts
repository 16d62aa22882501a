import { randomBytes } from 'node:crypto'
import { type IdKind, makeId } from '@coinrack/contract/ids.ts'
import type pg from 'pg'
import { expect } from 'vitest'
import { openPool } from '../database/pool.ts'
import { createTestDatabase } from '../database/testing.ts'
import { inTransaction } from '../database/transaction.ts'
import { openBalance } from './balance.ts'
import { post } from './post.ts'

export type Books = Awaited<ReturnType<typeof openBooks>>

/** The ledger alone, on a database of its own. */
export async function openBooks() {
  const database = await createTestDatabase()
  const db = openPool(database.url, { size: 16, onError: () => {} })
  const at = new Date('2026-01-31T12:00:00Z')
  let made = 0
  /** Generates ascending ids, so that the order of creation is the order of the statement. */
  const newId = (kind: IdKind) => makeId(kind, at.getTime() + made++, randomBytes(10))

  return {
    db,
    at,
    newId,
    /** Creates an account with this spendable balance in micro-USD. */
    async account(balance = 0n): Promise<string> {
      const id = newId('account')
      await inTransaction(db, async (tx) => {
        await tx.query('insert into account (id, email, created_at) values ($1, $1, $2)', [id, at])
        await openBalance(tx, id)
      })
      if (balance > 0n) await this.deposit(id, balance)
      return id
    },
    deposit: (accountId: string, amount: bigint, reference?: string) =>
      inTransaction(db, (tx) =>
        post(tx, {
          id: newId('transaction'),
          kind: 'deposit',
          accountId,
          ...(reference === undefined ? {} : { reference }),
          description: 'Deposit',
          postings: [{ from: 'treasury.8453.USDC', to: 'customer.available', amount }],
          at,
        }),
      ),
    async close() {
      await db.end()
      await database.drop()
    },
  }
}

/**
 * Asserts the invariants of the books: the entries of each transaction sum to zero, each balance is the sum of its
 * entries, each transaction has its entries and their changes, and held amounts match pending holds and sandboxes.
 */
export async function expectBooksToBalance(db: pg.Pool): Promise<void> {
  const { rows: unbalanced } = await db.query(
    'select transaction_id from ledger_entry group by transaction_id having sum(amount) <> 0',
  )
  expect(unbalanced).toEqual([])

  const { rows: wrong } = await db.query(
    `select b.account_id, b.available, b.held, b.owed, e.* from customer_balance b, lateral (
       select
         coalesce(sum(amount) filter (where ledger_account = 'customer.available'), 0) as entries_available,
         coalesce(sum(amount) filter (where ledger_account = 'customer.held'), 0) as entries_held,
         coalesce(sum(amount) filter (where ledger_account = 'customer.owed'), 0) as entries_owed
       from ledger_transaction t join ledger_entry on transaction_id = t.id
       where t.account_id = b.account_id
     ) e
     where (b.available, b.held, b.owed) <> (entries_available, entries_held, entries_owed)
       or b.available < 0 or b.held < 0 or b.owed > 0`,
  )
  expect(wrong).toEqual([])

  const { rows: headless } = await db.query(
    `select t.id from ledger_transaction t left join ledger_entry e on e.transaction_id = t.id
     group by t.id
     having count(e.*) < 2
       or t.available_change <> coalesce(sum(e.amount) filter (where ledger_account = 'customer.available'), 0)
       or t.held_change <> coalesce(sum(e.amount) filter (where ledger_account = 'customer.held'), 0)`,
  )
  expect(headless).toEqual([])

  const { rows: pending } = await db.query(
    `select b.account_id from customer_balance b
     where held <> (select coalesce(sum(amount), 0) from hold h where h.account_id = b.account_id and state = 'pending')
       + (select coalesce(sum(s.held), 0) from sandbox s where s.account_id = b.account_id)`,
  )
  expect(pending).toEqual([])
}
