import type { Queryable } from '../database/transaction.ts'

/** Wrong passwords or codes for `subject` since `since`. Those after `now`, before a clock was set back, do not count. */
export async function countFailures(db: Queryable, subject: string, since: Date, now: Date): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    'select count(*) from failed_login where subject = $1 and at > $2 and at <= $3',
    [subject, since, now],
  )
  return Number(rows[0]!.count)
}

/** @param subjects for which it counts: one, or several in one statement */
export async function recordFailure(db: Queryable, subjects: string | string[], at: Date): Promise<void> {
  await db.query('insert into failed_login (subject, at) select unnest($1::text[]), $2', [
    [subjects].flat(),
    at,
  ])
}

/** Takes no input; what is older than a day no longer counts. */
export async function forgetOldFailures(db: Queryable, now: Date): Promise<void> {
  await db.query(`delete from failed_login where at < $1::timestamptz - interval '24 hours'`, [now])
}
