import type { Handler } from '../dispatch/handler.ts'
import { pageOf } from '../dispatch/paging.ts'
import { describeLine, linesOf } from './statement-store.ts'

export const listTransactions: Handler<'listTransactions'> = async ({ input, caller, db }) => {
  const { limit, cursor } = input
  const rows = await linesOf(db, caller.accountId, { order: 'newest first', limit: limit + 1, after: cursor })
  return pageOf(rows, limit, (row) => ({
    id: row.id,
    kind: row.kind,
    description: describeLine(row),
    amount: row.amount,
    held_change: row.held_change,
    balance: row.balance,
    reference: row.reference,
    created_at: row.created_at,
  }))
}
