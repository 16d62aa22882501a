import { statfs } from 'node:fs/promises'
import { withMonitor } from './monitor.ts'

/*
 * When the host's disk is full, QEMU stops a machine that writes, before it hears of an error (QEMU's `werror=enospc`,
 * https://www.qemu.org/docs/master/system/invocation.html). It goes on where it stood, once it is told to.
 */

const MIB = 1024 ** 2
/** With less, a machine that is let go on would stop again at once. */
const ROOM_BYTES = 64 * MIB
const TIMEOUT_MS = 1_000

/** `stands`: it was stopped by a full disk, which still is. `goes on`: it was, until now. */
export type AtFullDisk = 'never stopped' | 'stands' | 'goes on'

/**
 * Lets a machine go on that a full disk has stopped, when there is room again.
 * @param monitor of its QEMU, which may be gone
 * @param folder on the disk that its disk is on
 */
export async function goOnWithRoom(monitor: string, folder: string): Promise<AtFullDisk> {
  const use = withMonitor<AtFullDisk>(
    monitor,
    async ({ execute }) => {
      const { status } = await execute<{ status: string }>('query-status')
      if (status !== 'io-error') return 'never stopped'
      const { bavail, bsize } = await statfs(folder)
      if (bavail * bsize < ROOM_BYTES) return 'stands'
      await execute('cont')
      return 'goes on'
    },
    { timeoutMs: TIMEOUT_MS },
  )
  return use.catch(() => 'never stopped')
}
