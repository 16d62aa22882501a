import { readFile, stat } from 'node:fs/promises'

const MINOR_LOW = 0xff
const MAJOR_LOW = 0xfff

/**
 * Whether the kernel shows that another process has the file locked by flock(2) for itself alone, without starting a
 * program or touching the lock. `false` says nothing: /proc/locks (proc_locks(5)) leaves out what belongs to other
 * containers, and some file systems have other numbers there.
 */
export async function isShownLocked(path: string): Promise<boolean> {
  const [file, locks] = await Promise.all([
    stat(path).catch(() => undefined),
    readFile('/proc/locks', 'utf8').catch(() => ''),
  ])
  if (!file) return false
  const where = `${deviceName(file.dev)}:${file.ino}`
  return locks.split('\n').some((line) => {
    // Such as "5: FLOCK  ADVISORY  WRITE 1234 fe:00:567 0 EOF"; one that waits has an arrow after its number.
    const [, kind, , access, , place] = line.split(/\s+/)
    return kind === 'FLOCK' && access === 'WRITE' && place === where
  })
}

/** As the kernel writes a device: the numbers of stat(2), in hexadecimal. */
function deviceName(device: number): string {
  const major = Math.floor(device / 2 ** 32) * (MAJOR_LOW + 1) + ((device >>> 8) & MAJOR_LOW)
  const minor = (device & MINOR_LOW) | ((device >>> 12) & ~MINOR_LOW)
  return [major, minor].map((number) => number.toString(16).padStart(2, '0')).join(':')
}
