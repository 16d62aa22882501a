import type { Queryable } from '../database/transaction.ts'

/** A line of the statement: a transaction of the ledger, or what a sandbox cost on one day. Amounts in micro-USD. */
export interface LineRow {
  id: string
  position: bigint
  kind: string
  /** Null for usage. */
  description: string | null
  reference: string | null
  /** Change of the spendable balance. */
  amount: bigint
  held_change: bigint
  /** The spendable balance after it and all lines before it. */
  balance: bigint
  created_at: Date
  /** The tariff of usage. */
  tariff: string | null
  ran_ms: bigint | null
}

const TRANSACTIONS = `
  select id, position, kind, description, reference, available_change as amount, held_change, created_at,
    null::text as tariff, null::bigint as ran_ms
  from ledger_transaction where account_id = $1 and kind <> 'usage'`

/** The holds of a sandbox count to its newest day, so that all lines together are the balance. */
const DAYS = `
  select day.id, day.position, 'usage' as kind, null::text as description, day.sandbox_id as reference,
    -cost.charged - cost.held as amount, cost.held as held_change, day.begun_at as created_at, sandbox.tariff,
    coalesce(next.ran_before, sandbox.ran_ms) - day.ran_before as ran_ms
  from sandbox_day day
  join sandbox on sandbox.id = day.sandbox_id
  left join lateral (
    select charged_before, ran_before from sandbox_day later
    where later.sandbox_id = day.sandbox_id and later.day > day.day order by later.day limit 1
  ) next on true
  cross join lateral (
    select coalesce(next.charged_before, sandbox.charged) - day.charged_before as charged,
      case when next.charged_before is null then sandbox.held else 0 end as held
  ) cost
  where day.account_id = $1 and cost.charged + cost.held <> 0`

interface Range {
  order: 'newest first' | 'oldest first'
  limit: number
  /** The line before the first; in the order of the range. */
  after?: string | undefined
  /** The range of moments at which lines begin: the first, and the first that is excluded. */
  from?: Date
  to?: Date
}

/**
 * Lines of the statement, each with the balance after it. A line never changes its place, so that pages neither miss
 * nor repeat one while sandboxes run.
 */
export async function linesOf(db: Queryable, accountId: string, range: Range): Promise<LineRow[]> {
  const [direction, beyond] = range.order === 'newest first' ? ['desc', '<'] : ['asc', '>']
  const page = (lines: string) => `(
    select * from (${lines}) line
    where ($3::text is null or (position, id) ${beyond} ((
        select position from ledger_transaction where id = $3
        union all select position from sandbox_day where id = $3), $3))
      and ($4::timestamptz is null or created_at >= $4) and ($5::timestamptz is null or created_at < $5)
    order by position ${direction}, id ${direction} limit $2)`
  const newer = (lines: string) =>
    `coalesce((select sum(amount) from (${lines}) line where (position, id) > (newest.position, newest.id)), 0)`
  const { rows } = await db.query<LineRow>(
    `with page as (
       select * from (${page(TRANSACTIONS)} union all ${page(DAYS)}) lines
       order by position ${direction}, id ${direction} limit $2
     )
     select page.*, (available - newer.amount
       - sum(page.amount) over (order by page.position desc, page.id desc) + page.amount)::bigint as balance
     from page
     cross join (select position, id from page order by position desc, id desc limit 1) newest
     cross join lateral (select ${newer(TRANSACTIONS)} + ${newer(DAYS)} as amount) newer
     join customer_balance on account_id = $1
     order by page.position ${direction}, page.id ${direction}`,
    [accountId, range.limit, range.after ?? null, range.from ?? null, range.to ?? null],
  )
  return rows
}

/** The spendable balance after all lines that begin before a moment, in micro-USD. */
export async function balanceBefore(db: Queryable, accountId: string, at: Date): Promise<bigint> {
  const since = (lines: string) =>
    `coalesce((select sum(amount) from (${lines}) line where created_at >= $2), 0)`
  const { rows } = await db.query<{ balance: bigint }>(
    `select (available - ${since(TRANSACTIONS)} - ${since(DAYS)})::bigint as balance
     from customer_balance where account_id = $1`,
    [accountId, at],
  )
  return rows[0]!.balance
}

/** The purpose that a line states. */
export function describeLine({ description, reference, tariff, ran_ms }: LineRow): string {
  return description ?? `Sandbox ${reference} (${tariff}), ${duration(Number(ran_ms))}`
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}
