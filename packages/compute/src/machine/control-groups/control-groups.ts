import { mkdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DriverError } from '../../ports/vps-driver.ts'
import { blockDeviceOf } from './block-device.ts'
import { findHierarchies, type Hierarchies } from './hierarchies.ts'
import { type DiskLimits, filesV1, filesV2, type GroupFile, limitsOf, type MachineSize } from './limits.ts'

/** A control group for each machine, which limits what its QEMU takes of the host. Needs root. */
export interface ControlGroups {
  /** Whether this host lets us. Asked once. */
  isPossible(): Promise<boolean>
  /**
   * Makes the machine's group as its size says, while nothing runs in it.
   * @returns files that a process joins by: its number goes into each, before it allocates anything
   */
  make(id: string, size: MachineSize): Promise<string[]>
  /** The same files of a group that is there; none of one that is not. */
  files(id: string): Promise<string[]>
  /** Nothing of it is left. An unknown machine is fine. */
  remove(id: string): Promise<void>
}

/** The group of all machines, unless it is said otherwise. */
export const DEFAULT_PARENT = '/coinrack'

export interface ControlGroupsOptions {
  /** The group that holds all machines' groups, as a path within each hierarchy. */
  parent: string
  disk: DiskLimits
  /** On the disk that is limited. */
  dataFolder: string
  log: { info(fields: object, message: string): void }
}

/** Beside the groups of all machines. */
const PROBE = 'probe'
let probes = 0
const PROBE_SIZE = { vcpus: 1, memoryMb: 256 }
const TRIES = 5
/** A process that was killed leaves its group a moment later. */
const LEAVE_MS = 3_000
const POLL_MS = 20

export function createControlGroups({ parent, disk, dataFolder, log }: ControlGroupsOptions): ControlGroups {
  let possible: Promise<boolean> | undefined
  let device: Promise<string | undefined> | undefined

  const make = async (id: string, size: MachineSize) => {
    const hierarchies = (await hierarchiesHere())!
    device ??= blockDeviceOf(dataFolder)
    const limits = limitsOf(size, disk, await device)
    await removeGroup(parent, id)
    const groups = await makeFolders(hierarchies, parent, id)
    const files = hierarchies.version === 1 ? filesV1(limits) : filesV2(limits)
    for (const { controller, file, text } of files) {
      const group = groups.get(controller)
      if (group) await writeFile(join(group, file), text)
    }
    return [...new Set(groups.values())].map(joinedBy)
  }

  const tryOut = async (): Promise<boolean> => {
    if (process.getuid?.() !== 0) return false
    try {
      if (!(await hierarchiesHere())) throw new Error('No control groups are mounted that limit memory')
      const probe = `${PROBE}-${process.pid}-${++probes}`
      await make(probe, PROBE_SIZE).catch(async (error) => {
        if (!(await device)) throw error
        log.info({ err: error }, "What machines do with the host's disk is not limited")
        device = Promise.resolve(undefined)
        await make(probe, PROBE_SIZE)
      })
      await removeGroup(parent, probe)
      return true
    } catch (error) {
      log.info({ err: error }, 'What machines take of the host is not limited by control groups')
      return false
    }
  }

  return {
    isPossible() {
      possible ??= tryOut()
      return possible
    },
    make: (id, size) =>
      make(id, size).catch((error: Error) => {
        throw new DriverError('guest_failed', `Could not limit ${id}: ${error.message}`, { cause: error })
      }),
    async files(id) {
      const folders = await groupFolders(parent, id)
      const isThere = await Promise.all(folders.map((folder) => stat(folder).catch(() => undefined)))
      return folders.filter((_, index) => isThere[index]).map(joinedBy)
    },
    remove: (id) => removeGroup(parent, id),
  }
}

/** Removes a machine's group, in which nothing runs any more, and with the last one the group of all. Needs root. */
export async function removeGroup(parent: string, id: string): Promise<void> {
  for (const folder of await groupFolders(parent, id)) {
    await removeFolder(folder)
    await rmdir(dirname(folder)).catch(() => {})
  }
}

const joinedBy = (folder: string) => join(folder, 'cgroup.procs')

/** Where the machine's group is, or would be, in each hierarchy. */
export async function groupFolders(parent: string, id: string): Promise<string[]> {
  const hierarchies = await hierarchiesHere()
  if (!hierarchies) return []
  const mounts = hierarchies.version === 1 ? Object.values(hierarchies.mounts) : [hierarchies.mount]
  return [...new Set(mounts)].map((mount) => join(mount, parent, id))
}

async function hierarchiesHere(): Promise<Hierarchies | undefined> {
  const mounts = await readFile('/proc/self/mounts', 'utf8')
  return findHierarchies(mounts, (mount) =>
    readFile(join(mount, 'cgroup.controllers'), 'utf8').catch(() => ''),
  )
}

/** The machine's folder for each controller. */
async function makeFolders(
  hierarchies: Hierarchies,
  parent: string,
  id: string,
): Promise<Map<GroupFile['controller'], string>> {
  if (hierarchies.version === 1) {
    const found = Object.entries(hierarchies.mounts) as [GroupFile['controller'], string][]
    for (const [, mount] of found) await makeFolder(join(mount, parent, id))
    return new Map(found.map(([controller, mount]) => [controller, join(mount, parent, id)]))
  }
  const { mount } = hierarchies
  const folder = join(mount, parent, id)
  // A controller works in a group when all groups above have handed it down.
  await makeFolder(join(mount, parent))
  const names = parent.split('/').filter((name) => name !== '')
  for (let depth = 0; depth <= names.length; depth++)
    await writeFile(join(mount, ...names.slice(0, depth), 'cgroup.subtree_control'), '+cpu +memory +pids +io')
  await makeFolder(folder)
  return new Map((['cpu', 'memory', 'pids', 'blkio'] as const).map((controller) => [controller, folder]))
}

/** The removal of another machine's group may remove the parent in between. */
async function makeFolder(folder: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await mkdir(folder, { recursive: true, mode: 0o755 })
      if (await stat(folder).catch(() => undefined)) return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === TRIES) throw error
    }
  }
}

async function removeFolder(folder: string): Promise<void> {
  for (let waited = 0; ; waited += POLL_MS) {
    try {
      return await rmdir(folder)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return
      if (code !== 'EBUSY' || waited >= LEAVE_MS) throw error
      await sleep(POLL_MS)
    }
  }
}
