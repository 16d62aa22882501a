import type { Queryable } from '../database/transaction.ts'

/** Amounts in micro-USD. */
export interface TransactionRow {
  id: string
  kind: string
  description: string
  reference: string | null
  available_change: bigint
  held_change: bigint
  available_after: bigint
  created_at: Date
}

const COLUMNS = 'id, kind, description, reference, available_change, held_change, available_after, created_at'

/** Newest first, those before the `before` one. */
export async function transactionsOf(
  db: Queryable,
  accountId: string,
  page: { limit: number; before?: string | undefined },
): Promise<TransactionRow[]> {
  const { rows } = await db.query<TransactionRow>(
    `select ${COLUMNS} from ledger_transaction
     where account_id = $1
       and ($3::text is null or position < (select position from ledger_transaction where id = $3))
     order by position desc limit $2`,
    [accountId, page.limit, page.before ?? null],
  )
  return rows
}

/** Oldest first, from a moment up to and not including another, those after the `after` one. */
export async function transactionsBetween(
  db: Queryable,
  accountId: string,
  page: { from: Date; to: Date; limit: number; after?: string | undefined },
): Promise<TransactionRow[]> {
  const { rows } = await db.query<TransactionRow>(
    `select ${COLUMNS} from ledger_transaction
     where account_id = $1 and created_at >= $2 and created_at < $3
       and ($5::text is null or position > (select position from ledger_transaction where id = $5))
     order by position limit $4`,
    [accountId, page.from, page.to, page.limit, page.after ?? null],
  )
  return rows
}

/** The spendable balance at a moment, in micro-USD. */
export async function balanceBefore(db: Queryable, accountId: string, at: Date): Promise<bigint> {
  const { rows } = await db.query<{ available_after: bigint }>(
    `select available_after from ledger_transaction where account_id = $1 and created_at < $2
     order by position desc limit 1`,
    [accountId, at],
  )
  return rows[0]?.available_after ?? 0n
}
