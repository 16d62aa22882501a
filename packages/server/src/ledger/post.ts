import { entriesOf, type Posting } from '@coinrack/money/index.ts'
import type { Transaction } from '../database/transaction.ts'

/** A movement of one customer's money, and its reason. */
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
  /** The use of sandboxes, twice a minute: charged, and held for the next minute. A statement shows their days instead. */
  | 'usage'
  | 'refund'
  /** Left the treasury for an address of the customer's. */
  | 'payout'
  | 'adjustment'
  | 'debt_payment'

export class InsufficientFunds extends Error {
  override readonly name = 'InsufficientFunds'
}

/**
 * One round trip: the function locks and changes the customer's row, and writes the transaction and its entries only when
 * they balance and no part of the row would fall on the wrong side of zero. The service may write the ledger in no other
 * way. A begin and a commit around separate statements cost more than half of the throughput (`npm run bench:ledger`).
 */
export const POST_STATEMENT = 'select ledger_post($1, $2, $3, $4, $5, $6, $7, $8) as available_after'

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
  const { rows } = await tx.query<{ available_after: bigint | null }>(postQuery(transaction))
  const { available_after: after } = rows[0]!
  if (after === null)
    throw new InsufficientFunds(`Account ${transaction.accountId} cannot cover ${transaction.kind}`)
  return after
}

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
    text: 'select ledger_post_all($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as id',
    values: [
      all.map(({ id }) => id),
      all.map(({ kind }) => kind),
      all.map(({ accountId }) => accountId),
      all.map(({ reference }) => reference ?? null),
      all.map(({ description }) => description),
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
