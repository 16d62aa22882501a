import { monthsAfter } from './period.ts'

/** How often a VPS is paid, each time in advance. */
export type Cycle = 'monthly' | 'hourly'

/** A time that is paid at once: from its start up to, and not including, its end. */
export interface Period {
  from: Date
  until: Date
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long a suspended VPS is kept before it and its disk are deleted. */
const GRACE_MS: Record<Cycle, number> = { monthly: 7 * DAY_MS, hourly: 3 * DAY_MS }

/** When a VPS that is suspended at a moment is deleted: of one with paid time ahead, after that. */
export const graceEnd = (cycle: Cycle, suspendedAt: Date, paidUntil: Date): Date =>
  new Date(Math.max(suspendedAt.getTime(), paidUntil.getTime()) + GRACE_MS[cycle])

/** Days before a monthly renewal at which its owner is told. */
export const NOTICE_DAYS = [7, 3, 1] as const

/**
 * The periods that follow a moment without a gap.
 * @param anchor start of the first period: months end at its day and time, or on a shorter month's last day
 * @param from the anchor, or the end of a period after it
 * @throws RangeError when no monthly period begins there
 */
export function periodsAfter(cycle: Cycle, anchor: Date, from: Date, count: number): Period[] {
  if (cycle === 'hourly') {
    const at = (hours: number) => new Date(from.getTime() + hours * HOUR_MS)
    return Array.from({ length: count }, (_, index) => ({ from: at(index), until: at(index + 1) }))
  }
  const months = monthsBetween(anchor, from)
  if (monthsAfter(anchor, months).getTime() !== from.getTime()) {
    throw new RangeError(`No month anchored at ${anchor.toISOString()} begins at ${from.toISOString()}`)
  }
  return Array.from({ length: count }, (_, index) => ({
    from: monthsAfter(anchor, months + index),
    until: monthsAfter(anchor, months + index + 1),
  }))
}

/** By the calendar: the day is not looked at. */
export const monthsBetween = (from: Date, until: Date) =>
  (until.getUTCFullYear() - from.getUTCFullYear()) * 12 + until.getUTCMonth() - from.getUTCMonth()

/** The fields of a VPS that say how it goes on with its paid time. */
export interface Billed {
  cycle: Cycle
  anchor: Date
  paidUntil: Date
  autoRenew: boolean
  /** Cancelled to the end of the paid time. */
  endsThen: boolean
  /** When it is deleted, of one that is suspended. */
  deleteAt: Date | null
  /** The last notice that was given of this renewal. */
  noticedDays: number | null
  /** Since when the account owes; null when it does not. */
  owesSince: Date | null
}

/** So long after money is owed nothing runs on it any more. */
export const DEBT_MS = DAY_MS

export type BillingStep =
  | { do: 'nothing' }
  | { do: 'notice'; days: number }
  /** The next period is charged. */
  | { do: 'renew'; period: Period }
  /** A suspended VPS is charged from now on, and goes on. */
  | { do: 'resume'; period: Period }
  /** A VPS that was suspended for a debt goes on in the time that is paid. */
  | { do: 'release' }
  | { do: 'suspend'; deleteAt: Date }
  | { do: 'delete' }

/**
 * The next thing to do about the paid time of a VPS. Pure; asked again after each step.
 * @param covers whether the balance covers one more period
 */
export function planBilling(vps: Billed, covers: boolean, now: Date): BillingStep {
  const isPaid = now < vps.paidUntil
  if (vps.endsThen && !isPaid) return { do: 'delete' }
  if (vps.deleteAt) {
    if (isPaid) return vps.owesSince ? { do: 'nothing' } : { do: 'release' }
    if (vps.autoRenew && covers) return { do: 'resume', period: periodsAfter(vps.cycle, now, now, 1)[0]! }
    return now >= vps.deleteAt ? { do: 'delete' } : { do: 'nothing' }
  }
  const suspend = { do: 'suspend', deleteAt: graceEnd(vps.cycle, now, vps.paidUntil) } as const
  if (vps.owesSince && now.getTime() - vps.owesSince.getTime() >= DEBT_MS) return suspend
  if (isPaid) return planNotice(vps, now)
  // From the end of the last period, however late this is asked: the machine ran on.
  if (vps.autoRenew && covers) {
    return { do: 'renew', period: periodsAfter(vps.cycle, vps.anchor, vps.paidUntil, 1)[0]! }
  }
  return suspend
}

/** One for each of the days; of several that were missed only the last. */
function planNotice({ cycle, paidUntil, noticedDays }: Billed, now: Date): BillingStep {
  if (cycle === 'hourly') return { do: 'nothing' }
  const left = paidUntil.getTime() - now.getTime()
  const days = NOTICE_DAYS.findLast((most) => left <= most * DAY_MS)
  return days === undefined || (noticedDays !== null && noticedDays <= days)
    ? { do: 'nothing' }
    : { do: 'notice', days }
}
