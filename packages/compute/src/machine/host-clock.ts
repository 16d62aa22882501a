import { readFile } from 'node:fs/promises'
import { runCommand } from '@coinrack/host/run-command.ts'

/**
 * Kernel options that tell an emulated guest of this host's time stamp counter, which it reads directly.
 * On a busy host a guest that calibrates it against emulated timers can hang for ever; and one that distrusts it reads
 * an emulated timer instead, thousands of times a second.
 */
export async function hostClockOptions(): Promise<string[]> {
  const [kernelLog, cpuinfo, source] = await Promise.all([
    runCommand('dmesg').then(
      ({ stdout }) => stdout,
      () => '',
    ),
    readFile('/proc/cpuinfo', 'utf8'),
    readFile('/sys/devices/system/clocksource/clocksource0/current_clocksource', 'utf8').catch(() => ''),
  ])
  const khz = pickTscKhz(kernelLog, cpuinfo)
  return [
    ...(khz === undefined ? [] : [`tsc_early_khz=${khz}`]),
    // The clock source of the host itself is steady, and the same on all of its processors.
    ...(source.trim() === 'tsc' ? ['tsc=reliable'] : []),
  ]
}

/**
 * The counter's frequency as the host's kernel measured it. A log that is closed to us or has rolled over leaves the
 * nominal frequency, which a virtual host shows in /proc/cpuinfo (a physical one shows the momentary one there).
 */
export function pickTscKhz(kernelLog: string, cpuinfo: string): number | undefined {
  const measured = [
    ...kernelLog.matchAll(/tsc: (?:Refined TSC clocksource calibration: |Detected )([\d.]+) MHz/g),
  ].at(-1)?.[1]
  const has = (flag: string) => new RegExp(`^flags\\s*:.*\\b${flag}\\b`, 'm').test(cpuinfo)
  const nominal =
    has('constant_tsc') && has('hypervisor') ? /^cpu MHz\s*: ([\d.]+)/m.exec(cpuinfo)?.[1] : undefined
  const mhz = Number(measured ?? nominal)
  return mhz > 0 ? Math.round(mhz * 1000) : undefined
}
