/** The share of its host that a machine takes. */
export interface Share {
  memory_mb: number
  disk_gb: number
}

/** A host that may get a machine, with what nothing has taken of it. */
export interface Candidate extends Share {
  id: string
  region: string
}

/**
 * The host for a machine: of two that have room, taken at random, the one with more memory left. That spreads machines almost as
 * evenly as a look at all of them would, and orders of the same moment rarely meet at one host. Undefined when none has room.
 * Source: M. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (2001).
 * @param excluded hosts that turned out to be no use
 * @param pick a whole number from 0 up to, but not, its argument
 */
export function chooseHost<C extends Candidate>(
  candidates: readonly C[],
  wanted: Share,
  excluded: ReadonlySet<string>,
  pick: (below: number) => number,
): C | undefined {
  const fitting = candidates.filter((host) => !excluded.has(host.id) && fits(wanted, host))
  if (fitting.length < 2) return fitting[0]
  const one = pick(fitting.length)
  const other = (one + 1 + pick(fitting.length - 1)) % fitting.length
  return [fitting[one]!, fitting[other]!].reduce((best, next) =>
    next.memory_mb > best.memory_mb ? next : best,
  )
}

export const fits = (wanted: Share, free: Share): boolean =>
  wanted.memory_mb <= free.memory_mb && wanted.disk_gb <= free.disk_gb
