import { HELD_MS, type Meter, type MeterBudget, settle } from '@coinrack/money/index.ts'
import type { Transaction } from '../../database/transaction.ts'
import { type CustomerBalance, lockBalances } from '../../ledger/balance.ts'
import { countSpending, type LeftToSpend, leftOfBudgets, type Spent } from '../../ledger/budget.ts'
import { postAll } from '../../ledger/post.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { beginDays } from './day-store.ts'
import { type Limit, limitsOfBudgets, useOfApproval } from './limits-of-budgets.ts'
import { type MeterChange, type MeterRow, metersOf, writeMeters } from './meter-store.ts'
import { believedRunTime, knownLimit, runLimit } from './run-limit.ts'

type Metering = Pick<Services, 'clock' | 'newId' | 'sandboxes'>

/** How long each sandbox has run on its host, as that says: by the id of the host and of the sandbox. */
export type Seen = ReadonlyMap<string, ReadonlyMap<string, { ranMs: number }>>

const LEAST_MS = 1_000
const DAY_MS = 86_400_000

const dayOf = (at: Date) => Math.floor(at.getTime() / DAY_MS)

interface Plan {
  changes: (MeterChange & { account_id: string; spent: Spent; counted_for: string[] })[]
  posting: Parameters<typeof postAll>[1][number] | undefined
}

/**
 * Settles the running sandboxes of these accounts: charges what ran, and holds the next minute, for all of them in a
 * handful of statements. It locks their balances, under which alone meters and states of sandboxes are changed; so a
 * call that is repeated, or made twice at once, finds nothing more to charge.
 * @param seen what hosts saw just now; a sandbox that its own host does not say anything of has run no longer than is
 *   known, and none longer than it can have by the service's own clock. While a host cannot be reached no time passes
 *   for its sandboxes, for nobody could reach them either
 * @param over sandboxes that are no longer running from this transaction on: they get their hold back
 */
export async function settleAccounts(
  tx: Transaction,
  services: Metering,
  accountIds: readonly string[],
  seen: Seen,
  over: ReadonlySet<string> = new Set(),
): Promise<void> {
  const now = services.clock.now()
  const balances = await lockBalances(tx, accountIds)
  const rows = await metersOf(tx, accountIds)
  const left = await leftOfBudgets(tx, [...new Set(rows.flatMap(({ counted_for }) => counted_for))], now)

  const plans = [...Map.groupBy(rows, ({ account_id }) => account_id)].map(([accountId, own]) =>
    planAccount(services, balances.get(accountId)!, own, { seen, over, left, now }),
  )
  await postAll(
    tx,
    plans.flatMap(({ posting }) => posting ?? []),
    now,
  )
  const newDays = rows.filter(({ seen_at }) => dayOf(seen_at) < dayOf(now))
  await beginDays(
    tx,
    newDays.map(({ id }) => ({ sandboxId: id, lineId: services.newId('transaction') })),
    now,
  )
  const changes = plans.flatMap((plan) => plan.changes)
  await writeMeters(tx, changes, now)
  const spent = spentByToken(changes)
  if (spent.size > 0) await countSpending(tx, spent, now)
}

/** The sums that are counted for each token; those for which nothing changes are omitted. */
function spentByToken(changes: Plan['changes']): Map<string, Spent> {
  const sums = new Map<string, Spent>()
  for (const { counted_for, spent } of changes) {
    if (spent.amount === 0n && spent.unapproved === 0n) continue
    for (const tokenId of counted_for) {
      const sum = sums.get(tokenId) ?? { amount: 0n, unapproved: 0n }
      sums.set(tokenId, { amount: sum.amount + spent.amount, unapproved: sum.unapproved + spent.unapproved })
    }
  }
  return sums
}

interface Facts {
  seen: Seen
  over: ReadonlySet<string>
  /** The amounts that budgets leave, by token. */
  left: ReadonlyMap<string, LeftToSpend>
  now: Date
}

function planAccount(
  { newId, sandboxes }: Metering,
  balance: CustomerBalance,
  rows: readonly MeterRow[],
  { seen, over, left, now }: Facts,
): Plan {
  const meters = rows.map((row): Meter => {
    return {
      priceHourly: row.price_hourly,
      ranMs: believedRunTime(row, seen.get(row.host_id)?.get(row.id)?.ranMs, now),
      settled: row.charged + row.waived,
      runs: !over.has(row.id),
    }
  })
  const isAway = ({ host_id }: MeterRow) => host_id !== LOCAL_HOST && !sandboxes.has(host_id)
  const held = rows.reduce((sum, row) => sum + row.held, 0n)
  const settlement = settle(meters, balance.available, held, budgetsOf(rows, left))
  // Sandboxes that ran beyond the money have run long enough.
  const byMoney: Limit = { ms: settlement.isSpent ? 0 : settlement.coveredMs, for: 'balance' }
  const limit = balance.owed > 0n ? { ms: 0, for: 'owed' as const } : byMoney
  const uses = rows.map((row, index) => useOfApproval(row, settlement.meters[index]!, now))
  const budgets = limitsOfBudgets(rows, meters, settlement.meters, uses, left)

  const changes = rows.map((row, index) => {
    const { charged, waived, held: ahead } = settlement.meters[index]!
    const ends = [limit, ...row.counted_for.flatMap((tokenId) => budgets.get(tokenId) ?? [])].reduce(
      (first, each) => (each.ms < first.ms ? each : first),
    )
    const isEnding = ends.ms < HELD_MS && !over.has(row.id)
    // Its end was reached, and no money came: what is left is not enough for a second.
    const isOver = row.ends_at !== null && row.ends_at <= now && ends.ms < LEAST_MS
    return {
      id: row.id,
      account_id: row.account_id,
      counted_for: row.counted_for,
      spent: { amount: charged, unapproved: uses[index]!.unapproved },
      ran_ms: BigInt(meters[index]!.ranMs),
      run_limit_ms: BigInt(isAway(row) ? knownLimit(row) : runLimit(row, now)),
      charged: row.charged + charged,
      waived: row.waived + waived,
      held: ahead,
      approved: uses[index]!.approved,
      ends_at: isEnding ? (isOver ? row.ends_at : new Date(now.getTime() + ends.ms)) : null,
      ends_for: isEnding ? ends.for : null,
    }
  })
  return {
    changes,
    posting:
      settlement.postings.length === 0
        ? undefined
        : {
            id: newId('transaction'),
            kind: 'usage',
            accountId: rows[0]!.account_id,
            description: describe(rows),
            postings: settlement.postings,
          },
  }
}

/** The budgets that these count for, with what each leaves. */
const budgetsOf = (rows: readonly MeterRow[], left: Facts['left']): MeterBudget[] =>
  [...new Set(rows.flatMap(({ counted_for }) => counted_for))].flatMap((tokenId) => {
    const amount = left.get(tokenId)?.budget
    if (amount === undefined) return []
    const own = rows.flatMap(({ counted_for }, index) => (counted_for.includes(tokenId) ? [index] : []))
    return [{ left: amount, meters: new Set(own) }]
  })

const describe = (rows: readonly MeterRow[]) =>
  rows.length === 1 ? `Sandbox ${rows[0]!.id}` : `${rows.length} sandboxes`
