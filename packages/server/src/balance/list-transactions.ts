import type { Queryable } from '../database/transaction.ts'
import type { Handler } from '../handler.ts'
import { pageOf } from '../paging.ts'

interface TransactionRow {
  id: string
  kind: string
  description: string
  reference: string | null
  available_change: bigint
  held_change: bigint
  available_after: bigint
  created_at: Date
}

export const listTransactions: Handler<'listTransactions'> = async ({ input, caller, db }) =>
  pageOf(await transactionsOf(db, caller.accountId, input.limit, input.cursor), input.limit, (row) => ({
    id: row.id,
    kind: row.kind,
    description: row.description,
    amount: row.available_change,
    held_change: row.held_change,
    balance: row.available_after,
    reference: row.reference,
    created_at: row.created_at,
  }))

async function transactionsOf(db: Queryable, accountId: string, limit: number, cursor: string | undefined) {
  const { rows } = await db.query<TransactionRow>(
    `select id, kind, description, reference, available_change, held_change, available_after, created_at
     from ledger_transaction
     where account_id = $1
       and ($3::text is null or position < (select position from ledger_transaction where id = $3))
     order by position desc limit $2`,
    [accountId, limit + 1, cursor ?? null],
  )
  return rows
}
