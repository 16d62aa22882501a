import type { Period } from './billing.ts'

const HOUR_MS = 3_600_000

/** A period with what was paid for it, in micro-USD. */
export interface PaidPeriod extends Period {
  /** In all, changes of the plan included. */
  paid: bigint
  /** The part of that which was used up before `ratedFrom`, at the price of that time. */
  used: bigint
  /** The start, or the last change of the plan. */
  ratedFrom: Date
}

/** The refund of an immediate cancellation: periods ahead whole, and the unused part of the current one. */
export const refundOfPeriods = (periods: readonly PaidPeriod[], priceHourly: bigint, at: Date): bigint =>
  periods.reduce((sum, { from, until, paid, used, ratedFrom }) => {
    if (until <= at) return sum
    if (from > at) return sum + paid
    const usedMs = at.getTime() - ratedFrom.getTime()
    return sum + refundOnCancel({ price: paid - used, priceHourly, usedMs })
  }, 0n)

/**
 * The refund for paid time that was not served from this moment on: periods ahead whole, and of the current one what was paid for
 * the rest of it, rounded up to a micro-USD. `(paid - used) * rest / (until - ratedFrom)`
 */
export const refundOfLostTime = (periods: readonly PaidPeriod[], from: Date): bigint =>
  periods.reduce((sum, { until, paid, used, ratedFrom }) => {
    const rated = BigInt(until.getTime() - ratedFrom.getTime())
    const rest = BigInt(until.getTime() - Math.max(from.getTime(), ratedFrom.getTime()))
    if (rest <= 0n) return sum
    return sum + ((paid - used) * rest + rated - 1n) / rated
  }, 0n)

/**
 * The part of a period's price that an immediate cancellation gives back, in micro-USD.
 * Policy: used time is charged at the hourly price for each started hour, at most the price of the period.
 */
export function refundOnCancel(period: {
  price: bigint
  priceHourly: bigint
  /** milliseconds since the period began, at least 0 */
  usedMs: number
}): bigint {
  const hours = BigInt(Math.max(1, Math.ceil(period.usedMs / HOUR_MS)))
  const used = hours * period.priceHourly
  return used >= period.price ? 0n : period.price - used
}

/**
 * The cost of a change to a dearer plan: the difference of the prices for the rest of the paid period, rounded up to
 * a micro-USD; nothing when the price falls or the period is over. `(new - old) * rest / period`
 */
export function upgradeCharge(change: {
  /** of the whole period, micro-USD */
  oldPrice: bigint
  newPrice: bigint
  periodFrom: Date
  paidUntil: Date
  at: Date
}): bigint {
  const period = BigInt(change.paidUntil.getTime() - change.periodFrom.getTime())
  const left = BigInt(change.paidUntil.getTime() - change.at.getTime())
  const rest = left > period ? period : left
  const difference = change.newPrice - change.oldPrice
  if (difference <= 0n || rest <= 0n || period <= 0n) return 0n
  return (difference * rest + period - 1n) / period
}

/**
 * The cost of a time at an hourly price, to the millisecond, rounded up to a micro-USD and at most `limit`.
 * @param usedMs milliseconds, at least 0
 */
export function usedCost(priceHourly: bigint, usedMs: number, limit: bigint): bigint {
  const hour = BigInt(HOUR_MS)
  const cost = (BigInt(usedMs) * priceHourly + hour - 1n) / hour
  return cost < limit ? cost : limit
}
