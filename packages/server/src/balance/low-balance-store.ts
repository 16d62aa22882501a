import type { Queryable, Transaction } from '../database/transaction.ts'

export interface LowBalanceRow {
  account_id: string
  told_hours: number
  told_at: Date
  told_position: bigint
  runs_out_at: Date | null
  /** Whether money came since. */
  credited: boolean
}

const TOLD = `
  select low.*, exists (
    select from ledger_transaction credit where credit.account_id = low.account_id and position > told_position
      and kind in ('deposit', 'adjustment', 'refund') and available_change > 0
  ) as credited
  from low_balance low`

/** All accounts that were told. */
export async function allTold(db: Queryable): Promise<LowBalanceRow[]> {
  return (await db.query<LowBalanceRow>(TOLD)).rows
}

export async function toldOf(db: Queryable, accountId: string): Promise<LowBalanceRow | undefined> {
  return (await db.query<LowBalanceRow>(`${TOLD} where low.account_id = $1`, [accountId])).rows[0]
}

/** The amounts that can be spent and that are owed by each of these accounts, in micro-USD. */
export async function balancesOf(db: Queryable, accountIds: string[]) {
  const { rows } = await db.query<{ account_id: string; available: bigint; owed: bigint }>(
    'select account_id, available, -owed as owed from customer_balance where account_id = any($1)',
    [accountIds],
  )
  return rows
}

/** Writes down that an account was told. Its balance is locked. */
export async function insertTold(
  tx: Transaction,
  row: Pick<LowBalanceRow, 'account_id' | 'told_hours' | 'told_at' | 'runs_out_at'>,
): Promise<void> {
  await tx.query(
    `insert into low_balance (account_id, told_hours, told_at, runs_out_at, told_position)
     values ($1, $2, $3, $4, (select coalesce(max(position), 0) from ledger_transaction where account_id = $1))
     on conflict (account_id) do update set
       (told_hours, told_at, runs_out_at, told_position)
         = (excluded.told_hours, excluded.told_at, excluded.runs_out_at, excluded.told_position)`,
    [row.account_id, row.told_hours, row.told_at, row.runs_out_at],
  )
}

export async function updateTold(
  tx: Transaction,
  accountId: string,
  { told_hours, runs_out_at }: Pick<LowBalanceRow, 'told_hours' | 'runs_out_at'>,
): Promise<void> {
  await tx.query('update low_balance set told_hours = $2, runs_out_at = $3 where account_id = $1', [
    accountId,
    told_hours,
    runs_out_at,
  ])
}

export async function forgetTold(tx: Transaction, accountId: string): Promise<void> {
  await tx.query('delete from low_balance where account_id = $1', [accountId])
}
