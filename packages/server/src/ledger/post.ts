import { changeOf, entriesOf, type Posting } from '@coinrack/money/index.ts'
import type { Transaction } from '../database/transaction.ts'

/** What happened to one customer's money, and why. */
export interface LedgerTransaction {
  /** `txn_...`, made by the caller */
  id: string
  kind: TransactionKind
  accountId: string
  /** Unique over the ledger: one cause has one effect. */
  reference?: string
  /** For the statement. */
  description: string
  postings: readonly Posting[]
  at: Date
}

export type TransactionKind =
  | 'deposit'
  | 'deposit_reversal'
  | 'hold'
  | 'hold_release'
  | 'charge'
  /** Of sandboxes, twice a minute: charged, and held for the next minute. A statement shows their days instead. */
  | 'usage'
  | 'refund'
  | 'adjustment'
  | 'debt_payment'

export class InsufficientFunds extends Error {
  override readonly name = 'InsufficientFunds'
}

/**
 * One round trip: the customer's row is locked and changed, and only when no part of it would fall on the
 * wrong side of zero are the transaction and its entries written. A begin and a commit around separate
 * statements cost more than half of the throughput (`npm run bench:ledger`).
 */
export const POST_STATEMENT = `
with customer as (
  update customer_balance
  set available = available + $7, held = held + $8, owed = owed + $9,
    owed_since = case when owed + $9 < 0 then coalesce(owed_since, $6) end
  where account_id = $3 and available + $7 >= 0 and held + $8 >= 0 and owed + $9 <= 0
  returning available
), recorded as (
  insert into ledger_transaction
    (id, kind, account_id, reference, description, created_at, available_change, held_change, available_after)
  select $1, $2, $3, $4, $5, $6, $7, $8, customer.available from customer
  returning id, available_after
), written as (
  insert into ledger_entry (transaction_id, line, ledger_account, amount)
  select recorded.id, entry.line, entry.account, entry.amount
  from recorded, unnest($10::text[], $11::bigint[]) with ordinality as entry (account, amount, line)
)
select available_after from recorded`

/** The statement with its values, prepared once on each connection. */
export function postQuery(transaction: LedgerTransaction) {
  const entries = entriesOf(transaction.postings)
  const values: unknown[] = [
    transaction.id,
    transaction.kind,
    transaction.accountId,
    transaction.reference ?? null,
    transaction.description,
    transaction.at,
    changeOf('customer.available', entries),
    changeOf('customer.held', entries),
    changeOf('customer.owed', entries),
    entries.map((entry) => entry.account),
    entries.map((entry) => entry.amount),
  ]
  return { name: 'ledger_post', text: POST_STATEMENT, values }
}

/**
 * Writes a transaction to the ledger: the only way that money moves. Inside a database transaction, with
 * what the money is for.
 * @returns the spendable balance after it, in micro-USD
 * @throws InsufficientFunds when the customer's balance does not cover it; nothing is written
 */
export async function post(tx: Transaction, transaction: LedgerTransaction): Promise<bigint> {
  const { rows } = await tx.query<{ available_after: bigint }>(postQuery(transaction))
  const row = rows[0]
  if (!row) throw new InsufficientFunds(`Account ${transaction.accountId} cannot cover ${transaction.kind}`)
  return row.available_after
}

/** As `POST_STATEMENT` for many customers at once, each in at most one transaction. */
const POST_ALL_STATEMENT = `
with change as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[])
    as change (id, kind, account_id, reference, description, available, held, owed)
), customer as (
  update customer_balance balance
  set available = balance.available + change.available, held = balance.held + change.held, owed = balance.owed + change.owed,
    owed_since = case when balance.owed + change.owed < 0 then coalesce(balance.owed_since, $9) end
  from change
  where balance.account_id = change.account_id and balance.available + change.available >= 0
    and balance.held + change.held >= 0 and balance.owed + change.owed <= 0
  returning change.*, balance.available as available_after
), recorded as (
  insert into ledger_transaction
    (id, kind, account_id, reference, description, created_at, available_change, held_change, available_after)
  select id, kind, account_id, reference, description, $9, available, held, available_after from customer
  returning id
), written as (
  insert into ledger_entry (transaction_id, line, ledger_account, amount)
  select recorded.id, entry.line, entry.account, entry.amount
  from recorded join unnest($10::text[], $11::smallint[], $12::text[], $13::bigint[]) as entry (transaction_id, line, account, amount)
    on entry.transaction_id = recorded.id
)
select id from recorded`

/**
 * Writes transactions of different customers, of the same moment, in one statement. Their balances have to be locked:
 * what is posted was decided on them.
 * @throws InsufficientFunds when one of them is not covered; the database transaction has to be given up
 */
export async function postAll(
  tx: Transaction,
  transactions: readonly Omit<LedgerTransaction, 'at'>[],
  at: Date,
): Promise<void> {
  if (transactions.length === 0) return
  const all = transactions.map((each) => ({ ...each, entries: entriesOf(each.postings) }))
  const lines = all.flatMap(({ id, entries }) =>
    entries.map((entry, index) => ({ id, line: index + 1, ...entry })),
  )
  const { rows } = await tx.query({
    name: 'ledger_post_all',
    text: POST_ALL_STATEMENT,
    values: [
      all.map(({ id }) => id),
      all.map(({ kind }) => kind),
      all.map(({ accountId }) => accountId),
      all.map(({ reference }) => reference ?? null),
      all.map(({ description }) => description),
      all.map(({ entries }) => changeOf('customer.available', entries)),
      all.map(({ entries }) => changeOf('customer.held', entries)),
      all.map(({ entries }) => changeOf('customer.owed', entries)),
      at,
      lines.map(({ id }) => id),
      lines.map(({ line }) => line),
      lines.map(({ account }) => account),
      lines.map(({ amount }) => amount),
    ],
  })
  if (rows.length === all.length) return
  const done = new Set(rows.map(({ id }) => id))
  const missing = all.filter(({ id }) => !done.has(id)).map(({ accountId, kind }) => `${accountId} ${kind}`)
  throw new InsufficientFunds(`Not covered: ${missing.join(', ')}`)
}
