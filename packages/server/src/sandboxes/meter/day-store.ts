import type { Transaction } from '../../database/transaction.ts'

/**
 * Begins the day of sandboxes in the statement, with what they have cost until now; a day that was begun goes on. After
 * the posting behind which its line stands. The balances of their accounts have to be locked.
 * @param days the sandboxes, each with the identifier of its line
 */
export async function beginDays(
  tx: Transaction,
  days: readonly { sandboxId: string; lineId: string }[],
  at: Date,
): Promise<void> {
  if (days.length === 0) return
  await tx.query(
    `insert into sandbox_day (id, account_id, sandbox_id, day, position, begun_at, charged_before, ran_before)
     select given.line_id, sandbox.account_id, sandbox.id, ($3::timestamptz at time zone 'UTC')::date,
       (select max(position) from ledger_transaction where ledger_transaction.account_id = sandbox.account_id),
       $3, sandbox.charged, sandbox.ran_ms
     from unnest($1::text[], $2::text[]) as given (sandbox_id, line_id) join sandbox on sandbox.id = given.sandbox_id
     on conflict (sandbox_id, day) do nothing`,
    [days.map(({ sandboxId }) => sandboxId), days.map(({ lineId }) => lineId), at],
  )
}
