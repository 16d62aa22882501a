import { chmod, link, mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import {
  type Machine,
  type MachineRecord,
  machineAt,
  readRecord,
  runningPid,
  writeRecord,
} from '../machine/machine.ts'
import { isMachineId } from '../machine/machine-id.ts'
import { cutPower } from '../machine/machine-process.ts'
import { giveFolder, makeFolder, takeFolderBack } from '../machine/machine-users.ts'
import type { RetainedDisks } from '../ports/retained-disks.ts'
import type { SnapshotTaken } from '../ports/snapshot.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { freezeFileSystems } from './file-systems.ts'
import { changeSnapshot, isSound, tagsIn } from './snapshot-disk.ts'

/** A retained disk of a foreign image comes with the volume that its cloud-init looks for at every boot. */
type Files = Record<'folder' | 'disk' | 'cidata' | 'record', string>

/** The facts that lie beside a retained disk. */
interface Kept extends SnapshotTaken {
  record: MachineRecord
}

const ID = /^[a-z0-9_]{1,64}$/
const DISK = '.qcow2'

export interface QemuRetainedDisksOptions {
  dataFolder: string
  machines: string
  userOf(machine: Machine): Promise<RunAs | undefined>
  /** Nothing else is done with the machine meanwhile. */
  alone<T>(id: string, task: () => Promise<T>): Promise<T>
}

/** Keeps the disk files themselves: nothing is copied, so neither time nor room is needed to keep one. */
export function createQemuRetainedDisks(options: QemuRetainedDisksOptions): RetainedDisks {
  const { dataFolder, machines, userOf, alone } = options
  // As deep as a machine's folder from the images: a disk names what it grew from by a relative path.
  const retainedDisks = join(dataFolder, 'kept-disks')
  const filesOf = (id: string, keptId: string): Files => {
    if (!isMachineId(id) || !ID.test(keptId))
      throw new DriverError('snapshot_unknown', `${id} cannot have a disk ${keptId} kept`)
    const folder = join(retainedDisks, id)
    const file = (suffix: string) => join(folder, keptId + suffix)
    return { folder, disk: file(DISK), cidata: file('.iso'), record: file('.json') }
  }

  /**
   * A disk that its owner wrote is read as the machine's user, who can reach it for that long alone: once the machine
   * is gone, another one may have its user.
   */
  const asOwner = async <T>(id: string, disk: string, task: (owner: RunAs | undefined) => Promise<T>) => {
    const owner = await userOf(machineAt(machines, id))
    await chmod(retainedDisks, 0o711)
    await giveFolder(dirname(disk), owner, [disk])
    return task(owner).finally(() => takeFolderBack(dirname(disk), owner))
  }

  return {
    async setAside(id, keptId) {
      const kept = filesOf(id, keptId)
      return alone(id, async () => {
        if (await exists(kept.disk)) return { consistency: (await readKept(kept.record)).consistency }
        const machine = machineAt(machines, id)
        const record = await readRecord(machine)
        if (!record || !(await exists(machine.disk)))
          throw new DriverError('machine_unknown', `There is no machine ${id} with a disk`)
        const consistency = await end(machine)
        await writeKept(kept, { consistency, record }).catch(refuseFull)
        await link(machine.cidata, kept.cidata).catch(ignore('ENOENT', 'EEXIST'))
        // From here on it is kept.
        await rename(machine.disk, kept.disk)
        return { consistency }
      })
    },

    async isSound(id, keptId) {
      const { disk } = filesOf(id, keptId)
      return alone(id, async () => {
        if (!(await exists(disk))) return false
        return asOwner(id, disk, (owner) => isSound(disk, owner))
      })
    },

    async putBack(id, keptId) {
      const kept = filesOf(id, keptId)
      await alone(id, async () => {
        const machine = machineAt(machines, id)
        const hasDisk = await exists(machine.disk)
        if (!(await exists(kept.disk))) {
          if (!hasDisk) throw new DriverError('snapshot_unknown', `${id} has no retained disk ${keptId}`)
          // It is the one: an earlier call was cut short.
          return forget(kept)
        }
        if (hasDisk) throw new DriverError('guest_failed', `${id} has a disk`)
        await asOwner(id, kept.disk, async (owner) => {
          for (const tag of await tagsIn(kept.disk, owner))
            await changeSnapshot(kept.disk, 'delete', tag, owner)
          await makeFolder(machine.folder, owner)
        })
        // As it runs by itself, whatever it ran when it ended.
        await writeRecord(machine, { ...(await readKept(kept.record)).record, rescue: undefined })
        await rename(kept.cidata, machine.cidata).catch(ignore('ENOENT'))
        await rename(kept.disk, machine.disk)
        await forget(kept)
      })
    },

    async remove(id, keptId) {
      const kept = filesOf(id, keptId)
      await alone(id, () => forget(kept))
    },

    async list(id) {
      const names = await readdir(filesOf(id, 'any').folder).catch((): string[] => [])
      return names.filter((name) => name.endsWith(DISK)).map((name) => name.slice(0, -DISK.length))
    },
  }
}

/** Ends the machine at once, with its file systems written out where its agent answers. */
async function end(machine: Machine): Promise<SnapshotTaken['consistency']> {
  if ((await runningPid(machine)) === undefined) return 'off'
  const isQuiet = await freezeFileSystems(machine.agent)
  await cutPower(machine)
  return isQuiet ? 'guest' : 'crash'
}

async function forget({ folder, disk, cidata, record }: Files): Promise<void> {
  for (const file of [disk, cidata, record]) await rm(file, { force: true })
  await rmdir(folder).catch(ignore('ENOTEMPTY', 'ENOENT'))
}

async function writeKept({ folder, record }: Files, kept: Kept): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(`${record}.part`, JSON.stringify(kept), { flush: true })
  await rename(`${record}.part`, record)
}

const ignore =
  (...codes: string[]) =>
  (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code!)) throw error
  }

function refuseFull(error: NodeJS.ErrnoException): never {
  if (error.code !== 'ENOSPC') throw error
  throw new DriverError('no_space', 'Not even a note of a retained disk can be written', { cause: error })
}

const readKept = async (file: string) => JSON.parse(await readFile(file, 'utf8')) as Kept

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )
