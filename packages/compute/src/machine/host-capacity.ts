import { mkdir, readdir, statfs } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { CommandError } from '@coinrack/host/run-command.ts'
import { DriverError, type VpsCapacity } from '../ports/vps-driver.ts'
import { allocatedBytes } from './disk.ts'
import { machineAt } from './machine.ts'
import { isMachineId } from './machine-id.ts'

const GIB = 1024 ** 3
const MIB = 1024 ** 2
/** Shares of the host that machines may have; the rest is for the service, its database and QEMU itself. */
const MEMORY_SHARE = 0.75
const DISK_SHARE = 0.9
/** Guests rarely compute all at once. */
const VCPUS_PER_CORE = 8

/**
 * All that this host may give to machines together.
 * @param diskOvercommit how many times the room on the disk is promised, since few machines fill theirs
 */
export async function hostCapacity(
  dataFolder: string,
  machines: string,
  diskOvercommit = 1,
): Promise<VpsCapacity> {
  await mkdir(dataFolder, { recursive: true })
  const { bavail, bsize } = await statfs(dataFolder)
  const ids = await listMachines(machines)
  const used = await Promise.all(ids.map((id) => allocatedBytes(machineAt(machines, id).disk)))
  const diskBytes = bavail * bsize + used.reduce((sum, bytes) => sum + bytes, 0)
  return {
    vcpus: cpus().length * VCPUS_PER_CORE,
    memoryMb: Math.floor((totalmem() * MEMORY_SHARE) / MIB),
    diskGb: Math.floor((diskBytes * DISK_SHARE * diskOvercommit) / GIB),
  }
}

export async function listMachines(machines: string): Promise<string[]> {
  const names = await readdir(machines).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names.filter(isMachineId)
}

/** Work that writes to the host's disk: where that turns out to be full, `no_space` says so. */
export async function whileRoomLasts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isFull =
      (error as NodeJS.ErrnoException).code === 'ENOSPC' ||
      (error instanceof CommandError && error.stderr.includes('No space left'))
    if (!isFull) throw error
    throw new DriverError('no_space', "No space is left on the host's disk", { cause: error })
  }
}

/** Throws `no_space` before anything is begun that could not be ended. */
export async function refuseWhenFull(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < GIB) throw new DriverError('no_space', `Less than 1 GiB is free under ${folder}`)
}
