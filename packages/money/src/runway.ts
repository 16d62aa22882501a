import { type Cycle, monthsBetween } from './billing.ts'
import { monthsAfter } from './period.ts'

/** Something that is charged again and again. */
export interface Recurring {
  cycle: Cycle
  /** The price of one period, micro-USD. */
  price: bigint
  /** The day and time at which monthly ones are charged. */
  anchor: Date
  /** When it is charged next. */
  next: Date
}

/** Something that is paid by the time it runs. */
export interface Running {
  /** micro-USD an hour */
  priceHourly: bigint
  /** Until when it is settled. */
  since: Date
  /** Reserved for it since then, and no part of the balance. */
  held: bigint
}

const HOUR_MS = 3_600_000
/** Hours of an average month: what a monthly price is spread over. */
const MONTH_HOURS = 730n
const LONGEST_YEARS = 100

/** The amount that is charged in an average hour, in micro-USD, rounded up. */
export function burnPerHour(charges: readonly Recurring[], running: readonly Running[] = []): bigint {
  const sumOf = (wanted: Cycle) =>
    charges.reduce((sum, { cycle, price }) => (cycle === wanted ? sum + price : sum), 0n)
  const perHour = running.reduce((sum, { priceHourly }) => sum + priceHourly, 0n)
  return perHour + sumOf('hourly') + (sumOf('monthly') + MONTH_HOURS - 1n) / MONTH_HOURS
}

/**
 * The moment of the first charge that the balance will not cover, exactly.
 * @param running the services that are paid by time, and go on all the while
 * @returns undefined when there is none in a hundred years
 */
export function runsOutAt(
  balance: bigint,
  charges: readonly Recurring[],
  now: Date,
  running: readonly Running[] = [],
): Date | undefined {
  const dueBy = (at: number) =>
    charges.reduce((sum, charge) => sum + charge.price * BigInt(countBy(charge, at)), 0n) +
    positive(running.reduce((sum, each) => sum + ranCost(each, at) - each.held, 0n))
  let covered = now.getTime()
  if (dueBy(covered) > balance) return now
  let beyond = monthsAfter(now, 12 * LONGEST_YEARS).getTime()
  if (dueBy(beyond) <= balance) return undefined
  while (beyond - covered > 1) {
    const middle = Math.floor((covered + beyond) / 2)
    if (dueBy(middle) > balance) beyond = middle
    else covered = middle
  }
  return new Date(beyond)
}

/** How often it is charged up to a moment, that one included. */
function countBy({ cycle, anchor, next }: Recurring, at: number): number {
  if (at < next.getTime()) return 0
  if (cycle === 'hourly') return Math.floor((at - next.getTime()) / HOUR_MS) + 1
  const months = monthsBetween(anchor, new Date(at))
  const isOver = monthsAfter(anchor, months).getTime() <= at
  return months - monthsBetween(anchor, next) + (isOver ? 1 : 0)
}

const positive = (amount: bigint) => (amount > 0n ? amount : 0n)

const ranCost = ({ priceHourly, since }: Running, at: number) =>
  (priceHourly * BigInt(Math.max(0, at - since.getTime()))) / BigInt(HOUR_MS)
