import type { Ordering } from '../seams.ts'

/** Hours in an average month: what a monthly price is spread over. */
const HOURS = 730n

export const summary: Ordering['summary'] = async (db, accountId) => {
  const { rows } = await db.query<{ live: bigint; monthly: bigint }>(
    `select count(*) as live, coalesce(sum(price) filter (where not cancel_at_period_end), 0)::bigint as monthly
     from vps where account_id = $1 and status not in ('failed', 'deleted')`,
    [accountId],
  )
  const { live, monthly } = rows[0]!
  return { live: Number(live), burnPerHour: (monthly + HOURS - 1n) / HOURS }
}

export const hasPaid: Ordering['hasPaid'] = async (db, accountId) => {
  const { rowCount } = await db.query(
    'select from vps where account_id = $1 and period_from is not null limit 1',
    [accountId],
  )
  return rowCount === 1
}
