/** The part of a sandbox's row that says how long it can have run. */
export interface RunLimited {
  ran_ms: bigint
  run_limit_ms: bigint
  seen_at: Date
}

/**
 * The longest that a sandbox which is wanted running can have run, in milliseconds, by the clock of the service. It
 * grows from the moment the sandbox is wanted, and not while it is paused.
 */
export function runLimit({ ran_ms, run_limit_ms, seen_at }: RunLimited, now: Date): number {
  const known = Math.max(Number(run_limit_ms), Number(ran_ms))
  return known + Math.max(0, now.getTime() - seen_at.getTime())
}

/**
 * How long a sandbox has run, in whole milliseconds, as far as its host is believed: never less than is written down,
 * and never more than it can have run.
 * @param reportedMs the run time that the host reports; undefined when it reports none
 */
export function believedRunTime(row: RunLimited, reportedMs: number | undefined, now: Date): number {
  const reported = Math.floor(Math.min(reportedMs ?? 0, runLimit(row, now)))
  return Math.max(Number(row.ran_ms), reported)
}
