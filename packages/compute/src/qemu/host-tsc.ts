import { readFile } from 'node:fs/promises'
import { runCommand } from '@coinrack/host/run-command.ts'

/** Frequency of this host's time stamp counter in kHz, or undefined where the host does not tell. */
export async function hostTscKhz(): Promise<number | undefined> {
  const kernelLog = await runCommand('dmesg').then(
    ({ stdout }) => stdout,
    () => '',
  )
  const cpuinfo = await readFile('/proc/cpuinfo', 'utf8')
  return pickTscKhz(kernelLog, cpuinfo)
}

/**
 * From what the kernel measured at boot; a log that is closed to us or has rolled over leaves the processor's nominal
 * frequency, which a virtual host shows in /proc/cpuinfo (a physical one shows the momentary one there).
 */
export function pickTscKhz(kernelLog: string, cpuinfo: string): number | undefined {
  const measured = [
    ...kernelLog.matchAll(/tsc: (?:Refined TSC clocksource calibration: |Detected )([\d.]+) MHz/g),
  ].at(-1)?.[1]
  const isConstantGuest =
    /^flags\s*:.*\bconstant_tsc\b/m.test(cpuinfo) && /^flags\s*:.*\bhypervisor\b/m.test(cpuinfo)
  const nominal = isConstantGuest ? /^cpu MHz\s*: ([\d.]+)/m.exec(cpuinfo)?.[1] : undefined
  const mhz = Number(measured ?? nominal)
  return mhz > 0 ? Math.round(mhz * 1000) : undefined
}
