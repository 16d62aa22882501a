import { readFile } from 'node:fs/promises'
import type { VpsMetrics } from '../ports/vps-driver.ts'
import { allocatedBytes } from './disk.ts'
import { withMonitor } from './monitor.ts'

/** The kernel counts processor time and process starts in hundredths of a second. */
const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

interface BlockStats {
  device: string
  stats: { rd_bytes: number; wr_bytes: number }
}

/** The host kernel's figures for a guest's process: seconds since its start, processor seconds, memory held. */
export async function measureProcess(pid: number) {
  const [stat, uptime] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile('/proc/uptime', 'utf8'),
  ])
  return parseProcess(stat, uptime)
}

/** From the text of /proc/PID/stat and /proc/uptime (proc(5)). */
export function parseProcess(stat: string, uptime: string) {
  // The second field, the program's name, may hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const field = (number: number) => Number(fields[number - 3])
  return {
    uptimeSeconds: Number.parseInt(uptime, 10) - Math.floor(field(22) / TICKS_PER_SECOND),
    cpuSeconds: (field(14) + field(15)) / TICKS_PER_SECOND,
    memoryBytes: field(24) * PAGE_BYTES,
  }
}

/** Bytes that the guest's root disk moved since the start, and what its overlay takes of the host's disk. */
export async function measureDisk(
  monitor: string,
  disk: string,
): Promise<Omit<VpsMetrics, 'cpuSeconds' | 'memoryBytes'>> {
  const blocks = await withMonitor(monitor, ({ execute }) => execute<BlockStats[]>('query-blockstats'), {
    timeoutMs: 1_000,
  })
  const root = blocks.find(({ device }) => device === 'root')?.stats
  return {
    diskReadBytes: root?.rd_bytes ?? 0,
    diskWrittenBytes: root?.wr_bytes ?? 0,
    diskUsedBytes: await allocatedBytes(disk),
  }
}
