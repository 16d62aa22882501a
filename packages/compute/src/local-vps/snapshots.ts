import { mkdir, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { withoutTemplate } from '../machine/command-line.ts'
import { type Machine, readRecord, runningPid } from '../machine/machine.ts'
import { cutPower } from '../machine/machine-process.ts'
import type { SnapshotTaken, VpsSnapshots } from '../ports/snapshot.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { freezeFileSystems, setGuestTime, thawFileSystems } from './file-systems.ts'
import { changeSnapshot, isSound, runSnapshotJob, settleJobs, tagsIn, withPatience } from './snapshot-disk.ts'

/** The facts about a snapshot that lie beside its disk. They are written last and removed first. */
interface Kept extends SnapshotTaken {
  /** QEMU's arguments, when the memory was kept: it fits only into the machine that it came from. */
  args?: string[]
}

/** The state before a restore, until the restore has succeeded. */
const GUARD = 'guard'
/** Says that file systems were told to hold still, and by whom they have to be released. */
const FROZEN = 'frozen'
const ID = /^[a-z0-9_]{1,64}$/
const MIB = 1024 ** 2
const GIB = 1024 ** 3

export interface QemuSnapshotsOptions {
  /** The user who runs the machine, and works on its disk. */
  userOf(machine: Machine): Promise<RunAs | undefined>
  clock: { now(): Date }
  /** The machine, or `machine_unknown`. */
  known(id: string): Promise<Machine>
  start(machine: Machine): Promise<void>
  /** Starts QEMU with just these arguments. */
  launch(machine: Machine, args: string[]): Promise<void>
  /** Nothing else is done with the machine meanwhile. */
  alone<T>(id: string, task: () => Promise<T>): Promise<T>
  /** The machine is no longer the one whose SSH server has answered. */
  changed(id: string): void
}

/** Snapshots inside the machine's own disk file: no chain of files grows, and all goes with the machine. */
export function createQemuSnapshots(options: QemuSnapshotsOptions): VpsSnapshots {
  const { userOf, clock, known, start, launch, alone, changed } = options
  const change = async (machine: Machine, action: 'create' | 'apply' | 'delete', tag: string) =>
    changeSnapshot(machine.disk, action, tag, await userOf(machine))
  const tags = async (machine: Machine) => tagsIn(machine.disk, await userOf(machine))
  const sound = async (machine: Machine) => isSound(machine.disk, await userOf(machine))

  async function takeAlone(machine: Machine, id: string, memory: boolean): Promise<Kept> {
    const pid = await runningPid(machine)
    if (pid === undefined) {
      if (memory)
        throw new DriverError('guest_failed', `${machine.id} does not run: there is no memory to keep`)
      await change(machine, 'create', id)
      return keep(machine, id, { consistency: 'off' })
    }
    if (memory) {
      await withPatience(machine.monitor, (monitor) => runSnapshotJob(monitor, 'snapshot-save', id))
      return keep(machine, id, { consistency: 'memory', args: await argumentsOf(pid) })
    }
    const isQuiet = await whileFrozen(machine, () =>
      withPatience(machine.monitor, ({ execute }) =>
        execute('blockdev-snapshot-internal-sync', { device: 'root', name: id }),
      ),
    )
    return keep(machine, id, { consistency: isQuiet ? 'guest' : 'crash' })
  }

  async function apply(machine: Machine, id: string, { args }: Kept, runs: boolean): Promise<void> {
    changed(machine.id)
    if (!args) {
      await cutPower(machine)
      await change(machine, 'apply', id)
      if (runs) await start(machine)
      return
    }
    const pid = await runningPid(machine)
    if (pid === undefined || !isDeepStrictEqual(await argumentsOf(pid), args)) {
      await cutPower(machine)
      await launch(machine, args)
    }
    await withPatience(machine.monitor, async (monitor) => {
      await monitor.execute('stop')
      await runSnapshotJob(monitor, 'snapshot-load', id)
      await monitor.execute('cont')
    })
    await setGuestTime(machine.agent, clock.now())
  }

  /** Makes sure that the snapshot can be read, and keeps what there is until the restore has succeeded. */
  async function guard(machine: Machine, id: string): Promise<Kept> {
    const pid = await runningPid(machine)
    // A machine that stands still has nothing left unwritten, so that its disk can be checked.
    if (pid) await withPatience(machine.monitor, ({ execute }) => execute('stop'))
    try {
      const isThere = (await tags(machine).catch((): string[] => [])).includes(id)
      if (!isThere || !(await sound(machine)))
        throw new DriverError('snapshot_damaged', `The snapshot ${id} of ${machine.id} cannot be read`)
      return await takeAlone(machine, GUARD, pid !== undefined)
    } catch (error) {
      if (pid) await withPatience(machine.monitor, ({ execute }) => execute('cont'))
      throw error
    }
  }

  async function removeAlone(machine: Machine, id: string): Promise<void> {
    await rm(recordFile(machine, id), { force: true })
    // QEMU gives a disk up whose tables it finds broken: better to lose some space.
    if (await holdStill(machine, () => sound(machine))) await deleteTag(machine, id)
  }

  async function deleteTag(machine: Machine, id: string): Promise<void> {
    if (!(await tags(machine)).includes(id)) return
    if ((await runningPid(machine)) === undefined) return change(machine, 'delete', id)
    await withPatience(machine.monitor, ({ execute }) =>
      execute('blockdev-snapshot-delete-internal-sync', { device: 'root', name: id }),
    )
  }

  /** Brings to an end what a kill left half done. */
  async function settle(machine: Machine): Promise<void> {
    await mkdir(machine.snapshots, { recursive: true, mode: 0o700 })
    if ((await runningPid(machine)) === undefined) return rm(recordPath(machine, FROZEN), { force: true })
    await withPatience(machine.monitor, async (monitor) => {
      await settleJobs(monitor)
      const { status } = await monitor.execute<{ status: string }>('query-status')
      // Stopped for a restore that had given nothing up yet.
      if (status === 'paused' && !(await readKept(machine, GUARD))) await monitor.execute('cont')
    })
    if (await exists(recordPath(machine, FROZEN))) await thaw(machine)
  }

  async function inTurn<T>(
    id: string,
    snapshotId: string,
    task: (machine: Machine) => Promise<T>,
  ): Promise<T> {
    if (!ID.test(snapshotId) || snapshotId === GUARD)
      throw new DriverError('snapshot_unknown', `${snapshotId} cannot be a snapshot`)
    const machine = await known(id)
    return alone(id, async () => {
      await settle(machine)
      return task(machine)
    })
  }

  return {
    take: (id, snapshotId, { memory }) =>
      inTurn(id, snapshotId, async (machine) => {
        const kept = await readKept(machine, snapshotId)
        if (kept) return { consistency: kept.consistency }
        await refuseWhenFull(machine, memory)
        await deleteTag(machine, snapshotId)
        const { consistency } = await takeAlone(machine, snapshotId, memory)
        return { consistency }
      }),

    restore: (id, snapshotId) =>
      inTurn(id, snapshotId, async (machine) => {
        const kept = await readKept(machine, snapshotId)
        if (!kept) throw new DriverError('snapshot_unknown', `${id} has no snapshot ${snapshotId}`)
        let before = await readKept(machine, GUARD)
        if (!before) {
          await deleteTag(machine, GUARD)
          await refuseWhenFull(machine, true)
          before = await guard(machine, snapshotId)
        }
        const ran = before.args !== undefined
        try {
          await apply(machine, snapshotId, kept, ran)
        } catch (error) {
          await apply(machine, GUARD, before, ran)
          await removeAlone(machine, GUARD)
          throw new DriverError('snapshot_damaged', `The snapshot ${snapshotId} of ${id} does not load`, {
            cause: error,
          })
        }
        await removeAlone(machine, GUARD)
      }),

    remove: (id, snapshotId) => inTurn(id, snapshotId, (machine) => removeAlone(machine, snapshotId)),

    async list(id) {
      const names = await readdir((await known(id)).snapshots).catch(() => [])
      return names
        .filter((name) => name.endsWith('.json'))
        .map((name) => name.slice(0, -'.json'.length))
        .filter((name) => name !== GUARD)
    },
  }
}

async function holdStill<T>(machine: Machine, task: () => Promise<T>): Promise<T> {
  if ((await runningPid(machine)) === undefined) return task()
  await withPatience(machine.monitor, ({ execute }) => execute('stop'))
  try {
    return await task()
  } finally {
    await withPatience(machine.monitor, ({ execute }) => execute('cont'))
  }
}

/** @returns whether the guest had its file systems hold still during the task */
async function whileFrozen(machine: Machine, task: () => Promise<unknown>): Promise<boolean> {
  await writeFile(recordPath(machine, FROZEN), '')
  const isFrozen = await freezeFileSystems(machine.agent)
  try {
    await task()
  } finally {
    if (isFrozen) await thaw(machine)
    else await rm(recordPath(machine, FROZEN), { force: true })
  }
  return isFrozen
}

async function thaw(machine: Machine): Promise<void> {
  await thawFileSystems(machine.agent)
  await rm(recordPath(machine, FROZEN), { force: true })
}

const recordPath = (machine: Machine, name: string) => join(machine.snapshots, name)
const recordFile = (machine: Machine, id: string) => recordPath(machine, `${id}.json`)

async function keep(machine: Machine, id: string, kept: Kept): Promise<Kept> {
  const file = recordFile(machine, id)
  await writeFile(`${file}.part`, JSON.stringify(kept), { flush: true })
  await rename(`${file}.part`, file)
  return kept
}

async function readKept(machine: Machine, id: string): Promise<Kept | undefined> {
  const file = recordFile(machine, id)
  return (await exists(file)) ? (JSON.parse(await readFile(file, 'utf8')) as Kept) : undefined
}

/** The arguments of the running QEMU, as it is started without a template. */
async function argumentsOf(pid: number): Promise<string[]> {
  return withoutTemplate((await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(1, -1))
}

/** A full host would stop every machine on it in the middle of a write. */
async function refuseWhenFull(machine: Machine, memory: boolean): Promise<void> {
  const { bavail, bsize } = await statfs(machine.folder)
  const { memoryMb } = (await readRecord(machine))!
  const needed = GIB + (memory ? memoryMb * MIB : 0)
  if (bavail * bsize < needed)
    throw new DriverError('no_space', `Less than ${needed} bytes are free for a snapshot of ${machine.id}`)
}

const exists = (path: string) =>
  readFile(path).then(
    () => true,
    () => false,
  )
