/** The notices that an account had, and its present figures. */
export interface Outlook {
  /** The shortest threshold that it was told for, in hours. */
  told: number | undefined
  /** Whether it may be told of a threshold again: money came since, or a day went by. */
  rearmed: boolean
  /** The first charge that the balance does not cover. */
  runsOutAt: Date | undefined
}

export type LowBalanceStep =
  | { do: 'nothing' }
  /** It runs out within so many hours, and was not told so. */
  | { do: 'tell'; hours: number }
  /** It lasts longer than it was told: the thresholds below count again. */
  | { do: 'rearm'; hours: number | undefined }

const HOUR_MS = 3_600_000

/** The shortest of the thresholds, in hours, that a balance does not last for; undefined when it lasts for all. */
export const thresholdOf = (
  runsOutAt: Date | undefined,
  thresholds: readonly number[],
  now: Date,
): number | undefined => {
  if (!runsOutAt) return undefined
  const left = runsOutAt.getTime() - now.getTime()
  return thresholds.filter((hours) => left <= hours * HOUR_MS).toSorted((a, b) => a - b)[0]
}

/** The notices that a balance calls for, once for each crossing of a threshold. Pure. */
export function planLowBalance(
  { told, rearmed, runsOutAt }: Outlook,
  thresholds: readonly number[],
  now: Date,
): LowBalanceStep {
  const hours = thresholdOf(runsOutAt, thresholds, now)
  if (hours !== undefined && (told === undefined || hours < told)) return { do: 'tell', hours }
  if (told === undefined || hours === told || !rearmed) return { do: 'nothing' }
  return { do: 'rearm', hours }
}
