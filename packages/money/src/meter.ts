import type { Posting } from './posting.ts'

/*
 * A sandbox is charged for each started millisecond that it ran, and never twice: all sums come from the
 * cumulative time, so that nothing drifts by rounding, however often it is settled.
 */

const HOUR_MS = 3_600_000n

/** The time ahead that whatever runs keeps reserved. */
export const HELD_MS = 60_000

/** Something that is paid by the time it has run. */
export interface Meter {
  /** micro-USD an hour */
  priceHourly: bigint
  /** All the time that it has run, in milliseconds. */
  ranMs: number
  /** The part of its cost that is settled: charged, or waived. micro-USD */
  settled: bigint
  /** It goes on. */
  runs: boolean
}

/** The whole cost of a running time, in micro-USD: `floor(price * time)`, so never more than what ran. */
export const meteredCost = (priceHourly: bigint, ranMs: number): bigint =>
  (priceHourly * BigInt(Math.floor(ranMs))) / HOUR_MS

/** The amount that a meter has still to pay for the time up to now, in micro-USD. */
export const dueOf = ({ priceHourly, ranMs, settled }: Meter): bigint => {
  const due = meteredCost(priceHourly, ranMs) - settled
  return due > 0n ? due : 0n
}

/** The cost of the time ahead beyond the time up to now, in micro-USD. */
const aheadCost = ({ priceHourly, ranMs, runs }: Meter, ms: number) =>
  runs ? meteredCost(priceHourly, ranMs + ms) - meteredCost(priceHourly, ranMs) : 0n

const least = (one: bigint, other: bigint) => (one < other ? one : other)
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

/** How long meters that run together can go on with a sum, in milliseconds, up to `HELD_MS`. */
export function coveredMs(meters: readonly Meter[], funds: bigint): number {
  const isCovered = (ms: number) => sum(meters.map((meter) => aheadCost(meter, ms))) <= funds
  if (isCovered(HELD_MS)) return HELD_MS
  let [covered, beyond] = [0, HELD_MS]
  while (beyond - covered > 1) {
    const middle = Math.floor((covered + beyond) / 2)
    if (isCovered(middle)) covered = middle
    else beyond = middle
  }
  return covered
}

/** The effect of a settlement on each meter, in the order in which they came. */
export interface Settled {
  charged: bigint
  /** Ran, and no money was there for it: the customer is not charged for it later. */
  waived: bigint
  held: bigint
}

export interface Settlement {
  meters: Settled[]
  /** How long they can go on from now; `HELD_MS` when for that long or longer. */
  coveredMs: number
  /** Some ran beyond what there was to spend. */
  isSpent: boolean
  postings: Posting[]
}

/** An amount that some of the meters may cost together beyond what is settled, whatever there is to spend. */
export interface MeterBudget {
  /** micro-USD; less than nothing counts as nothing */
  left: bigint
  /** The places of the meters among those that are settled. */
  meters: ReadonlySet<number>
}

/**
 * Settles all running sandboxes of one customer: their run time is charged, and the next minute of each is reserved, or
 * as much of it as there is money for.
 * @param available the amount that can be spent now beside what is held, in micro-USD
 * @param held the amount that the meters hold together, in micro-USD
 * @param budgets what is over one of them is waived, as what is over the balance is
 */
export function settle(
  meters: readonly Meter[],
  available: bigint,
  held: bigint,
  budgets: readonly MeterBudget[] = [],
): Settlement {
  let funds = available + held
  let isSpent = false
  const lefts = budgets.map(({ left }) => (left > 0n ? left : 0n))
  const paid = meters.map((meter, index) => {
    const due = dueOf(meter)
    const allowed = lefts.filter((_, budget) => budgets[budget]!.meters.has(index)).reduce(least, due)
    const charged = least(allowed, funds)
    isSpent ||= charged < allowed
    funds -= charged
    for (const [budget, left] of lefts.entries())
      if (budgets[budget]!.meters.has(index)) lefts[budget] = left - charged
    return { charged, waived: due - charged }
  })
  const covered = coveredMs(meters, funds)
  const settled = paid.map((each, index) => ({ ...each, held: aheadCost(meters[index]!, covered) }))
  const charge = sum(paid.map(({ charged }) => charged))
  return {
    meters: settled,
    coveredMs: covered,
    isSpent,
    postings: postingsOf(charge, held, sum(settled.map((each) => each.held))),
  }
}

/** The postings that pay a charge out of the hold, as far as it goes, and turn the previous hold into the next. */
function postingsOf(charge: bigint, before: bigint, after: bigint): Posting[] {
  const fromHeld = least(charge, before)
  const left = before - fromHeld
  const postings: Posting[] = [
    { from: 'customer.held', to: 'revenue.sandbox', amount: fromHeld },
    { from: 'customer.available', to: 'revenue.sandbox', amount: charge - fromHeld },
    { from: 'customer.available', to: 'customer.held', amount: after - left },
    { from: 'customer.held', to: 'customer.available', amount: left - after },
  ]
  return postings.filter(({ amount }) => amount > 0n)
}
