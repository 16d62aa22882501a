import type { Queryable, Transaction } from '../../database/transaction.ts'

/** The settled state of a sandbox that runs, or is about to. */
export interface MeterRow {
  id: string
  account_id: string
  host_id: string
  counted_for: string[]
  price_hourly: bigint
  ran_ms: bigint
  /** The part of it before the sandbox came to this host. */
  ran_before_ms: bigint
  /** The longest that it can have run at `seen_at`. */
  run_limit_ms: bigint
  seen_at: Date
  charged: bigint
  waived: bigint
  held: bigint
  /** What is left of the amount that a person approved for its running. */
  approved: bigint
  ends_at: Date | null
  ends_for: EndsFor | null
}

export type EndsFor = 'balance' | 'budget' | 'owed'

/** The fields of a meter that a settlement changes. */
export type MeterChange = Pick<
  MeterRow,
  'id' | 'ran_ms' | 'run_limit_ms' | 'charged' | 'waived' | 'held' | 'approved' | 'ends_at' | 'ends_for'
>

/** All that these accounts have running. Their balances have to be locked. */
export async function metersOf(tx: Transaction, accountIds: readonly string[]): Promise<MeterRow[]> {
  const { rows } = await tx.query<MeterRow>({
    name: 'sandbox_meters',
    text: `select id, account_id, host_id, counted_for, price_hourly, ran_ms, ran_before_ms, run_limit_ms, seen_at, charged, waived, held, approved, ends_at,
        ends_for
      from sandbox
      where account_id = any($1) and (state in ('starting', 'running') or wanted = 'running')
      order by id`,
    values: [accountIds],
  })
  return rows
}

/** Writes many at once, seen at this moment. */
export async function writeMeters(tx: Transaction, changes: readonly MeterChange[], at: Date): Promise<void> {
  if (changes.length === 0) return
  await tx.query({
    name: 'sandbox_write_meters',
    text: `update sandbox set ran_ms = change.ran_ms, charged = change.charged, waived = change.waived,
        held = change.held, approved = change.approved, ends_at = change.ends_at, ends_for = change.ends_for, seen_at = $8, run_limit_ms = change.run_limit_ms
      from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::text[],
        $9::bigint[], $10::bigint[]) as change (id, ran_ms, charged, waived, held, ends_at, ends_for, run_limit_ms, approved)
      where sandbox.id = change.id`,
    values: [
      changes.map(({ id }) => id),
      changes.map(({ ran_ms }) => ran_ms),
      changes.map(({ charged }) => charged),
      changes.map(({ waived }) => waived),
      changes.map(({ held }) => held),
      changes.map(({ ends_at }) => ends_at),
      changes.map(({ ends_for }) => ends_for),
      at,
      changes.map(({ run_limit_ms }) => run_limit_ms),
      changes.map(({ approved }) => approved),
    ],
  })
}

/** Every account that has something running. */
export async function meteredAccounts(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>(
    `select distinct account_id from sandbox where state in ('starting', 'running') or wanted = 'running'`,
  )
  return rows.map(({ account_id }) => account_id)
}

/** Accounts whose money for what runs is about to end, or that owe. */
export async function shortAccounts(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ account_id: string }>({
    name: 'sandbox_short_accounts',
    text: `select account_id from sandbox where ends_at is not null
      union
      select account_id from customer_balance balance where owed < 0 and exists (
        select from sandbox where sandbox.account_id = balance.account_id
          and (state in ('starting', 'running') or wanted = 'running'))`,
  })
  return rows.map(({ account_id }) => account_id)
}
