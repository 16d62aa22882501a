/*
 * The limits of one machine on this host, as lines for the files of Linux control groups. Pure.
 * https://docs.kernel.org/admin-guide/cgroup-v1/ and https://docs.kernel.org/admin-guide/cgroup-v2.html
 */

export type Controller = 'cpu' | 'memory' | 'pids' | 'blkio'

/** The limits that an operator sets for each machine on the host's disk. */
export interface DiskLimits {
  /** Megabytes a second, for reading and for writing each. */
  megabytes: number
  /** Operations a second, for reading and for writing each. */
  operations: number
}

export const defaultDiskLimits: DiskLimits = { megabytes: 200, operations: 10_000 }

export interface MachineSize {
  vcpus: number
  memoryMb: number
  /** The share of processor time when the host is busy, in processors. Default: all of `vcpus`. */
  share?: number
  /**
   * Its memory is a template's at first. A page that it writes and the template never had is charged to it twice: its own,
   * and one of zeros in the template's file, which stays there for the next clone.
   */
  isClone?: boolean
}

export interface Limits {
  /** Processor time in each period, in microseconds. */
  cpuQuota: number
  /** Against those of other machines, in processors. */
  cpuShare: number
  memoryBytes: number
  processes: number
  /** Where the host's disk can be limited. */
  disk?: { device: string; bytes: number; operations: number }
}

/** One line to be written. */
export interface GroupFile {
  controller: Controller
  file: string
  text: string
}

const MIB = 1024 ** 2
const PERIOD = 100_000
/** The weight that a group has by default, which is given for one processor: in version 1, and in version 2. */
const SHARES = 1024
const WEIGHT = 100
/**
 * The memory that QEMU holds beside the guest's: translated code, the screen, tables of the disk. Pages of files count
 * as well and are given back under pressure, so this covers what cannot be given back.
 */
const OVERHEAD_MB = 512
/** Its threads: up to 64 for the disk, a few of its own, one for each processor. It can start no process. */
const THREADS = 128

/** @param device of the host's disk, `8:0` for one; undefined where it cannot be limited */
export function limitsOf(
  { vcpus, memoryMb, share = vcpus, isClone = false }: MachineSize,
  { megabytes, operations }: DiskLimits,
  device: string | undefined,
): Limits {
  return {
    cpuQuota: vcpus * PERIOD,
    cpuShare: share,
    memoryBytes: ((isClone ? 2 : 1) * memoryMb + OVERHEAD_MB) * MIB,
    processes: THREADS + vcpus,
    ...(device && { disk: { device, bytes: megabytes * MIB, operations } }),
  }
}

/** For a group in each hierarchy of version 1. Its limits of writing hold for what goes past the host's page cache. */
export function filesV1({ cpuQuota, cpuShare, memoryBytes, processes, disk }: Limits): GroupFile[] {
  const throttle = (file: string, value: number) => ({
    controller: 'blkio' as const,
    file: `blkio.throttle.${file}_device`,
    text: `${disk!.device} ${value}`,
  })
  return [
    { controller: 'cpu', file: 'cpu.cfs_period_us', text: String(PERIOD) },
    { controller: 'cpu', file: 'cpu.cfs_quota_us', text: String(cpuQuota) },
    { controller: 'cpu', file: 'cpu.shares', text: String(Math.round(cpuShare * SHARES)) },
    { controller: 'memory', file: 'memory.limit_in_bytes', text: String(memoryBytes) },
    { controller: 'pids', file: 'pids.max', text: String(processes) },
    ...(disk
      ? [
          throttle('read_bps', disk.bytes),
          throttle('write_bps', disk.bytes),
          throttle('read_iops', disk.operations),
          throttle('write_iops', disk.operations),
        ]
      : []),
  ]
}

/** For a group of the one hierarchy of version 2. */
export function filesV2({ cpuQuota, cpuShare, memoryBytes, processes, disk }: Limits): GroupFile[] {
  const each = disk && ['rbps', 'wbps'].map((name) => `${name}=${disk.bytes}`)
  const operations = disk && ['riops', 'wiops'].map((name) => `${name}=${disk.operations}`)
  return [
    { controller: 'cpu', file: 'cpu.max', text: `${cpuQuota} ${PERIOD}` },
    { controller: 'cpu', file: 'cpu.weight', text: String(Math.max(Math.round(cpuShare * WEIGHT), 1)) },
    { controller: 'memory', file: 'memory.max', text: String(memoryBytes) },
    { controller: 'pids', file: 'pids.max', text: String(processes) },
    ...(disk
      ? [
          {
            controller: 'blkio' as const,
            file: 'io.max',
            text: [disk.device, ...each!, ...operations!].join(' '),
          },
        ]
      : []),
  ]
}
