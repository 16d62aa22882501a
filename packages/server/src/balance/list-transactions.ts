import type { Handler } from '../handler.ts'
import { pageOf } from '../paging.ts'
import { transactionsOf } from './transaction-store.ts'

export const listTransactions: Handler<'listTransactions'> = async ({ input, caller, db }) => {
  const { limit, cursor } = input
  const rows = await transactionsOf(db, caller.accountId, { limit: limit + 1, before: cursor })
  return pageOf(rows, limit, (row) => ({
    id: row.id,
    kind: row.kind,
    description: row.description,
    amount: row.available_change,
    held_change: row.held_change,
    balance: row.available_after,
    reference: row.reference,
    created_at: row.created_at,
  }))
}
