/** The free share of a host, and the reasons to choose it. */
export interface SandboxCandidate {
  id: string
  vcpus: number
  memoryMb: number
  diskGb: number
  /** How many processes computed or waited to, for each processor. */
  load: number
  /** Whether what the sandbox is made from is there; else it has to be copied there first. */
  hasTemplate: boolean
}

/** The share of a host that a sandbox takes. */
export type SandboxShare = Pick<SandboxCandidate, 'vcpus' | 'memoryMb' | 'diskGb'>

/**
 * The host for a sandbox: of those with room, one that has the template if any has; of two of these, taken at random,
 * the one with more memory left, counted for less the more it computes. Undefined when none has room.
 * Source: M. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (2001).
 * @param excluded hosts that turned out to be no use
 * @param pick a whole number from 0 up to, but not, its argument
 */
export function chooseSandboxHost(
  candidates: readonly SandboxCandidate[],
  wanted: SandboxShare,
  excluded: ReadonlySet<string>,
  pick: (below: number) => number,
): SandboxCandidate | undefined {
  const fitting = candidates.filter((host) => !excluded.has(host.id) && hasRoom(host, wanted))
  const ready = fitting.filter(({ hasTemplate }) => hasTemplate)
  const among = ready.length > 0 ? ready : fitting
  if (among.length < 2) return among[0]
  const one = pick(among.length)
  const other = (one + 1 + pick(among.length - 1)) % among.length
  const [first, second] = [among[one]!, among[other]!]
  return worth(second) > worth(first) ? second : first
}

export const hasRoom = (free: SandboxShare, wanted: SandboxShare): boolean =>
  wanted.vcpus <= free.vcpus && wanted.memoryMb <= free.memoryMb && wanted.diskGb <= free.diskGb

const worth = ({ memoryMb, load }: SandboxCandidate) => memoryMb / (1 + load)
