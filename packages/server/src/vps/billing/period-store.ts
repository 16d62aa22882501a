import type { PaidPeriod, Period } from '@coinrack/money/index.ts'
import type { Queryable, Transaction } from '../../database/transaction.ts'

/** Writes down periods that were paid, each at the same price. */
export async function insertPeriods(
  tx: Transaction,
  vpsId: string,
  periods: readonly Period[],
  price: bigint,
): Promise<void> {
  await tx.query(
    `insert into vps_period (vps_id, starts_at, ends_at, paid, rated_from)
     select $1, starts_at, ends_at, $4, starts_at
     from unnest($2::timestamptz[], $3::timestamptz[]) as period (starts_at, ends_at)`,
    [vpsId, periods.map(({ from }) => from), periods.map(({ until }) => until), price],
  )
}

/** The period of a moment and those that are paid beyond it, in order. */
export async function periodsFrom(db: Queryable, vpsId: string, at: Date): Promise<PaidPeriod[]> {
  const { rows } = await db.query<PaidPeriod & { rated_from: Date }>(
    `select starts_at as "from", ends_at as until, paid, used, rated_from as "ratedFrom"
     from vps_period where vps_id = $1 and ends_at > $2 order by starts_at`,
    [vpsId, at],
  )
  return rows
}

/** Ends what is paid at this moment: what lies beyond was credited. */
export async function cutPeriods(tx: Transaction, vpsId: string, at: Date): Promise<void> {
  await tx.query('delete from vps_period where vps_id = $1 and starts_at >= $2', [vpsId, at])
  await tx.query('update vps_period set ends_at = $2 where vps_id = $1 and ends_at > $2', [vpsId, at])
}

/** After a change of plan: what a period cost by now, and what of that was used. */
export async function ratePeriod(tx: Transaction, vpsId: string, period: PaidPeriod): Promise<void> {
  await tx.query(
    'update vps_period set paid = $3, used = $4, rated_from = $5 where vps_id = $1 and starts_at = $2',
    [vpsId, period.from, period.paid, period.used, period.ratedFrom],
  )
}
