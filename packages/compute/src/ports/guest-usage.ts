import { GuestError, type GuestUsage } from './guest-channel.ts'

/** The unit in which /proc/stat counts, `USER_HZ`: 100 on every architecture of Linux that we run. */
const TICK_MS = 10

/**
 * Reads a kernel's counters. The owner of the machine can write these texts at will.
 * https://docs.kernel.org/filesystems/proc.html
 * @param stat of /proc/stat, at least its first line
 * @param meminfo of /proc/meminfo
 * @throws GuestError `guest_failed` when they do not say what Linux says
 */
export function readUsage(stat: string, meminfo: string): GuestUsage {
  const ticks = /^cpu +((?:\d{1,15} +){7}\d{1,15})/.exec(stat)?.[1]?.split(/ +/).map(Number)
  const kilobytes = (name: string) => Number(new RegExp(`^${name}: +(\\d{1,12}) kB$`, 'm').exec(meminfo)?.[1])
  const memoryUsedBytes = (kilobytes('MemTotal') - kilobytes('MemAvailable')) * 1024
  if (!ticks || !(memoryUsedBytes >= 0))
    throw new GuestError('guest_failed', 'The guest does not count as Linux')
  // The use of guests of the guest is in `user` and `nice` already.
  const [user, nice, system, idle, iowait, irq, softirq, steal] = ticks as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const busy = user + nice + system + irq + softirq
  return {
    memoryUsedBytes,
    cpu: { busyMs: busy * TICK_MS, totalMs: (busy + idle + iowait + steal) * TICK_MS },
  }
}
