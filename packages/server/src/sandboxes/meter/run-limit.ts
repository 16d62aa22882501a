/** The part of a sandbox's row that says how long it can have run. */
export interface RunLimited {
  ran_ms: bigint
  /** The part of it before the sandbox came to the host that it is on. */
  ran_before_ms: bigint
  run_limit_ms: bigint
  seen_at: Date
}

/**
 * The longest that a sandbox which is wanted running can have run, in milliseconds, by the clock of the service. It
 * grows from the moment the sandbox is wanted, and not while it is paused.
 */
export function runLimit(row: RunLimited, now: Date): number {
  return knownLimit(row) + Math.max(0, now.getTime() - row.seen_at.getTime())
}

/** The same, where the time since it was written down does not count: its host could not be reached. */
export const knownLimit = ({ ran_ms, run_limit_ms }: RunLimited): number =>
  Math.max(Number(run_limit_ms), Number(ran_ms))

/**
 * How long a sandbox has run, in whole milliseconds, as far as its host is believed: never less than is written down,
 * and never more than it can have run.
 * @param reportedMs the run time on its host that this one reports; undefined when it reports none
 */
export function believedRunTime(row: RunLimited, reportedMs: number | undefined, now: Date): number {
  const ran = reportedMs === undefined ? 0 : reportedMs + Number(row.ran_before_ms)
  return Math.max(Number(row.ran_ms), Math.floor(Math.min(ran, runLimit(row, now))))
}
