import { coveredMs, HELD_MS, type Meter } from '@coinrack/money/index.ts'
import type { LeftToSpend } from '../../ledger/budget.ts'
import { heldUnapproved } from '../life/approved-cost.ts'
import type { EndsFor, MeterRow } from './meter-store.ts'

/** How long something can go on. */
export interface Limit {
  ms: number
  for: EndsFor
}

/** How a settlement uses what a person approved for a sandbox. Amounts in micro-USD. */
export interface UseOfApproval {
  /** What is left of it. */
  approved: bigint
  /** The part of the charge that is beyond it. */
  chargedBeyond: bigint
  /** The part of the previous hold that is beyond it, as it was counted for this day. */
  heldBefore: bigint
  /** What is counted as unapproved, more than before: charged, or held for the next minute. */
  unapproved: bigint
}

/** @param now the moment of the settlement, which counts for its day */
export function useOfApproval(
  row: Pick<MeterRow, 'approved' | 'held' | 'seen_at'>,
  { charged, held }: { charged: bigint; held: bigint },
  now: Date,
): UseOfApproval {
  const used = charged < row.approved ? charged : row.approved
  const approved = row.approved - used
  const chargedBeyond = charged - used
  const heldBefore = dayOf(row.seen_at) === dayOf(now) ? heldUnapproved(row.held, row.approved) : 0n
  const unapproved = chargedBeyond + heldUnapproved(held, approved) - heldBefore
  return { approved, chargedBeyond, heldBefore, unapproved }
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10)

/**
 * How long what is counted for each token with a budget can go on with what that leaves, and with what a person need not
 * approve.
 */
export function limitsOfBudgets(
  rows: readonly MeterRow[],
  meters: readonly Meter[],
  settled: readonly { charged: bigint }[],
  uses: readonly UseOfApproval[],
  left: ReadonlyMap<string, LeftToSpend>,
): Map<string, Limit> {
  const limits = new Map<string, Limit>()
  if (left.size === 0) return limits
  for (const tokenId of new Set(rows.flatMap(({ counted_for }) => counted_for))) {
    const token = left.get(tokenId)
    if (token === undefined) continue
    const own = rows.flatMap(({ counted_for }, index) => (counted_for.includes(tokenId) ? [index] : []))
    const running = own.map((index) => ({ meter: meters[index]!, approved: uses[index]!.approved }))
    const ms: number[] = []
    if (token.budget !== undefined) {
      const rest = token.budget - sum(own.map((index) => settled[index]!.charged))
      ms.push(
        lasting(
          running.map(({ meter }) => meter),
          rest,
        ),
      )
    }
    if (token.unapproved !== undefined) {
      // What is held for them is theirs to use.
      const more = sum(own.map((index) => uses[index]!.heldBefore - uses[index]!.chargedBeyond))
      ms.push(lastingBeyond(running, token.unapproved + more))
    }
    limits.set(tokenId, { ms: Math.min(...ms), for: 'budget' })
  }
  return limits
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const lasting = (meters: readonly Meter[], rest: bigint) => (rest > 0n ? coveredMs(meters, rest) : 0)

/**
 * How long meters that run together can go on, in milliseconds up to `HELD_MS`, when each first uses what was approved for
 * it, and all then use the same sum. Whatever time that is, those whose approved amount is used up by then are the first
 * ones by the time that it lasts; so it is the least of the times for each number of first ones.
 */
export function lastingBeyond(running: readonly { meter: Meter; approved: bigint }[], rest: bigint): number {
  const ends = running
    .filter(({ meter }) => meter.runs)
    .map((one) => ({ ...one, ms: one.approved > 0n ? coveredMs([one.meter], one.approved) : 0 }))
    .filter(({ ms }) => ms < HELD_MS)
    .sort((one, other) => one.ms - other.ms)
  let least = HELD_MS
  for (let count = 1; count <= ends.length; count++) {
    const first = ends.slice(0, count)
    const funds = rest + sum(first.map(({ approved }) => approved))
    least = Math.min(
      least,
      lasting(
        first.map(({ meter }) => meter),
        funds,
      ),
    )
  }
  return least
}
