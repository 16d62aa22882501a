const HOUR_MS = 3_600_000

/**
 * What an immediate cancellation gives back of a period's price, in micro-USD.
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
 * How long a balance covers a burn rate.
 * @param burnPerHour micro-USD per hour
 * @returns milliseconds, rounded down; undefined when nothing burns
 */
export function runway(balance: bigint, burnPerHour: bigint): number | undefined {
  if (burnPerHour <= 0n) return undefined
  return Number((balance * BigInt(HOUR_MS)) / burnPerHour)
}
