import type { VpsObservation } from '@coinrack/compute/vps-driver.ts'

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
}

/** What was used between two readings. */
export interface Used {
  coveredMs: number
  cpuMs: number
  diskRead: number
  diskWritten: number
  rx: number | null
  tx: number | null
}

/** The counters in an observation; undefined when nothing runs, or could be asked. */
export function countersOf(
  { state, metrics, uptimeSeconds }: VpsObservation,
  at: number,
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
  }
}

/**
 * What a machine used since the reading before. Counters begin anew with each start of the machine: then all that
 * they show was used since that start.
 * @returns undefined without a reading to compare with, unless the machine was started within `recentMs`
 */
export function usedSince(before: Counters | undefined, now: Counters, recentMs: number): Used | undefined {
  const isNew = before ? startedBetween(before, now) : now.uptimeMs <= recentMs
  if (!before && !isNew) return undefined
  const since = (name: 'cpuMs' | 'diskRead' | 'diskWritten' | 'rx' | 'tx') => {
    const value = now[name]
    const base = isNew ? 0 : before![name]
    return value === null || base === null ? null : value - base
  }
  return {
    coveredMs: before ? now.at - before.at : Math.max(now.uptimeMs, 1),
    cpuMs: since('cpuMs')!,
    diskRead: since('diskRead')!,
    diskWritten: since('diskWritten')!,
    rx: since('rx'),
    tx: since('tx'),
  }
}

/** By what the machine itself counts: clocks of hosts jump. */
function startedBetween(before: Counters, now: Counters): boolean {
  if (now.uptimeMs < before.uptimeMs) return true
  const names = ['cpuMs', 'diskRead', 'diskWritten', 'rx', 'tx'] as const
  return names.some((name) => (now[name] ?? 0) < (before[name] ?? 0))
}
