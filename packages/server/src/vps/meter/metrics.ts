import type { VpsObservation } from '@coinrack/compute/ports/vps-driver.ts'
import type { Metrics } from '../../dispatch/read-models.ts'
import type { NewestUsage } from './sample-machines.ts'

type Newest = NewestUsage extends Map<string, infer Usage> ? Usage : never

/** A reading of a counter, to which the next one is compared. */
export interface Sample {
  /** Unix milliseconds */
  at: number
  cpuSeconds: number
}

const MIB = 1024 ** 2
const GIB = 1024 ** 3

/** How long the usage that a machine reported is shown. */
const NEWEST_MS = 60_000

/**
 * The part of an observation that a machine's owner is shown: what the machine last said of itself, and without that
 * what the host sees.
 * @param before an earlier sample of the same machine; without it there is no percentage yet
 */
export function metricsOf(
  seen: VpsObservation,
  at: number,
  { before, vcpus, newest }: { before: Sample | undefined; vcpus: number; newest: Newest | undefined },
): Metrics {
  const { metrics } = seen
  const ago = newest ? at - newest.at : Number.POSITIVE_INFINITY
  const said = ago <= Math.min(NEWEST_MS, (seen.uptimeSeconds ?? 0) * 1000) ? newest : undefined
  const hostPercent = metrics && before ? cpuPercent(before, { at, cpuSeconds: metrics.cpuSeconds }) : null
  return {
    cpu_percent: said ? said.cpuPercent : hostPercent === null ? null : Math.min(hostPercent, 100 * vcpus),
    memory_used_mb: said ? said.memoryMb : metrics ? Math.round(metrics.memoryBytes / MIB) : null,
    disk_used_gb: metrics ? Math.round((metrics.diskUsedBytes / GIB) * 100) / 100 : null,
    rx_bytes: metrics?.rxBytes ?? null,
    tx_bytes: metrics?.txBytes ?? null,
    uptime_s: seen.uptimeSeconds === undefined ? null : Math.floor(seen.uptimeSeconds),
  }
}

/** In percent of one processor that is busy all the time. Null after a restart, when the counter began anew. */
function cpuPercent(before: Sample, now: Sample): number | null {
  const seconds = (now.at - before.at) / 1000
  const used = now.cpuSeconds - before.cpuSeconds
  return seconds <= 0 || used < 0 ? null : Math.round((used / seconds) * 1000) / 10
}
