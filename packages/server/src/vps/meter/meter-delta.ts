import type { GuestUsage } from '@coinrack/compute/ports/guest-channel.ts'
import type { VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'

/** Counters of a machine since it was started; null where the driver does not count. */
export interface Counters {
  /** Unix milliseconds of the reading, and how long the machine ran then. */
  at: number
  uptimeMs: number
  cpuMs: number
  diskRead: number
  diskWritten: number
  rx: number | null
  tx: number | null
  /** The counts of the machine's own kernel; absent where nothing inside reports them. */
  guest?: GuestUsage['cpu']
}

/** The usage between two readings. */
export interface Used {
  /** The time that `cpuMs` is of; both are null when nothing is known of it. */
  coveredMs: number | null
  cpuMs: number | null
  diskRead: number
  diskWritten: number
  rx: number | null
  tx: number | null
}

/** The counters in an observation; undefined when nothing runs, or could be asked. */
export function countersOf(
  { state, metrics, uptimeSeconds }: VpsObservation,
  at: number,
  guest?: GuestUsage,
): Counters | undefined {
  if (state !== 'running' || !metrics || uptimeSeconds === undefined) return undefined
  return {
    at,
    uptimeMs: uptimeSeconds * 1000,
    cpuMs: Math.round(metrics.cpuSeconds * 1000),
    diskRead: metrics.diskReadBytes,
    diskWritten: metrics.diskWrittenBytes,
    rx: metrics.rxBytes ?? null,
    tx: metrics.txBytes ?? null,
    ...(guest ? { guest: guest.cpu } : {}),
  }
}

/**
 * The usage of a machine since the previous reading. Counters begin anew with each start of the machine: then all that
 * they show was used since that start.
 * @param machine how many processors it has, and within what time before now a start counts as a recent one
 * @returns undefined without a reading to compare with, unless the machine was started recently
 */
export function usedSince(
  before: Counters | undefined,
  now: Counters,
  { vcpus, recentMs }: { vcpus: number; recentMs: number },
): Used | undefined {
  const isNew = before ? startedBetween(before, now) : now.uptimeMs <= recentMs
  if (!before && !isNew) return undefined
  const since = (name: 'cpuMs' | 'diskRead' | 'diskWritten' | 'rx' | 'tx') => {
    const value = now[name]
    const base = isNew ? 0 : before![name]
    return value === null || base === null ? null : value - base
  }
  return {
    ...cpuOf(before, now, {
      coveredMs: before ? now.at - before.at : Math.max(now.uptimeMs, 1),
      vcpus,
      hostMs: since('cpuMs')!,
    }),
    diskRead: since('diskRead')!,
    diskWritten: since('diskWritten')!,
    rx: since('rx'),
    tx: since('tx'),
  }
}

/**
 * The machine's own view where it has one: the share of its processors' time in which they worked, so never more than
 * all of them. What a clone inherits from its template is no work of its own: of the first such reading nothing is known.
 * Else what the host spent on it, emulation included, as far as its processors could have used that.
 */
function cpuOf(
  before: Counters | undefined,
  now: Counters,
  { coveredMs, vcpus, hostMs }: { coveredMs: number; vcpus: number; hostMs: number },
): Pick<Used, 'coveredMs' | 'cpuMs'> {
  const most = coveredMs * vcpus
  if (!now.guest) return { coveredMs, cpuMs: Math.min(hostMs, most) }
  if (!before?.guest) return { coveredMs: null, cpuMs: null }
  // A kernel that was started since then counts anew.
  const base = now.guest.totalMs < before.guest.totalMs ? { busyMs: 0, totalMs: 0 } : before.guest
  const total = now.guest.totalMs - base.totalMs
  if (total === 0) return { coveredMs: null, cpuMs: null }
  const share = (now.guest.busyMs - base.busyMs) / total
  return { coveredMs, cpuMs: Math.round(most * Math.min(Math.max(share, 0), 1)) }
}

/** By what the machine itself counts: clocks of hosts jump. */
function startedBetween(before: Counters, now: Counters): boolean {
  if (now.uptimeMs < before.uptimeMs) return true
  const names = ['cpuMs', 'diskRead', 'diskWritten', 'rx', 'tx'] as const
  return names.some((name) => (now[name] ?? 0) < (before[name] ?? 0))
}
