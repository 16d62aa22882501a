/**
 * The end of a monthly period: the same day and time of a later month, in UTC, or that month's last day.
 * Anchored at the first period's start, so that 31 January, 28 February, 31 March follow each other.
 * @param months whole months after the anchor
 */
export function monthsAfter(anchor: Date, months: number): Date {
  const year = anchor.getUTCFullYear()
  const month = anchor.getUTCMonth() + months
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const end = new Date(anchor)
  end.setUTCFullYear(year, month, Math.min(anchor.getUTCDate(), lastDay))
  return end
}
