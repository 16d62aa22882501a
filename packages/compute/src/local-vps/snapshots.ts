import { mkdir, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { withoutTemplate } from '../machine/command-line.ts'
import { cutPower, type Guest, readRecord, runningPid } from '../machine/machine.ts'
import type { SnapshotTaken, VpsSnapshots } from '../ports/snapshot.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { freezeFileSystems, setGuestTime, thawFileSystems } from './file-systems.ts'
import { changeSnapshot, isSound, runSnapshotJob, settleJobs, tagsIn, withPatience } from './snapshot-disk.ts'

/** What is known of a snapshot beside the disk that holds it. It is written last and removed first. */
interface Kept extends SnapshotTaken {
  /** Of QEMU, when the memory was kept: it fits only into the machine that it came from. */
  args?: string[]
}

/** Of a restore: what there was before, until the restore has succeeded. */
const GUARD = 'guard'
/** Says that file systems were told to hold still, and by whom they have to be released. */
const FROZEN = 'frozen'
const ID = /^[a-z0-9_]{1,64}$/
const MIB = 1024 ** 2
const GIB = 1024 ** 3

export interface QemuSnapshotsOptions {
  /** Who runs the machine, and works on its disk. */
  userOf(guest: Guest): Promise<RunAs | undefined>
  clock: { now(): Date }
  /** The machine, or `machine_unknown`. */
  known(id: string): Promise<Guest>
  start(guest: Guest): Promise<void>
  /** Starts QEMU with just these arguments. */
  launch(guest: Guest, args: string[]): Promise<void>
  /** Nothing else is done with the machine meanwhile. */
  alone<T>(id: string, task: () => Promise<T>): Promise<T>
  /** The machine is no longer the one whose SSH server has answered. */
  changed(id: string): void
}

/** Snapshots inside the machine's own disk file: no chain of files grows, and all goes with the machine. */
export function createQemuSnapshots(options: QemuSnapshotsOptions): VpsSnapshots {
  const { userOf, clock, known, start, launch, alone, changed } = options
  const change = async (guest: Guest, action: 'create' | 'apply' | 'delete', tag: string) =>
    changeSnapshot(guest.disk, action, tag, await userOf(guest))
  const tags = async (guest: Guest) => tagsIn(guest.disk, await userOf(guest))
  const sound = async (guest: Guest) => isSound(guest.disk, await userOf(guest))

  async function takeAlone(guest: Guest, id: string, memory: boolean): Promise<Kept> {
    const pid = await runningPid(guest)
    if (pid === undefined) {
      if (memory)
        throw new DriverError('guest_failed', `${guest.id} does not run: there is no memory to keep`)
      await change(guest, 'create', id)
      return keep(guest, id, { consistency: 'off' })
    }
    if (memory) {
      await withPatience(guest.monitor, (monitor) => runSnapshotJob(monitor, 'snapshot-save', id))
      return keep(guest, id, { consistency: 'memory', args: await argumentsOf(pid) })
    }
    const isQuiet = await whileFrozen(guest, () =>
      withPatience(guest.monitor, ({ execute }) =>
        execute('blockdev-snapshot-internal-sync', { device: 'root', name: id }),
      ),
    )
    return keep(guest, id, { consistency: isQuiet ? 'guest' : 'crash' })
  }

  async function apply(guest: Guest, id: string, { args }: Kept, runs: boolean): Promise<void> {
    changed(guest.id)
    if (!args) {
      await cutPower(guest)
      await change(guest, 'apply', id)
      if (runs) await start(guest)
      return
    }
    const pid = await runningPid(guest)
    if (pid === undefined || !isDeepStrictEqual(await argumentsOf(pid), args)) {
      await cutPower(guest)
      await launch(guest, args)
    }
    await withPatience(guest.monitor, async (monitor) => {
      await monitor.execute('stop')
      await runSnapshotJob(monitor, 'snapshot-load', id)
      await monitor.execute('cont')
    })
    await setGuestTime(guest.agent, clock.now())
  }

  /** Makes sure that the snapshot can be read, and keeps what there is until the restore has succeeded. */
  async function guard(guest: Guest, id: string): Promise<Kept> {
    const pid = await runningPid(guest)
    // A machine that stands still has nothing left unwritten, so that its disk can be checked.
    if (pid) await withPatience(guest.monitor, ({ execute }) => execute('stop'))
    try {
      const isThere = (await tags(guest).catch((): string[] => [])).includes(id)
      if (!isThere || !(await sound(guest)))
        throw new DriverError('snapshot_damaged', `The snapshot ${id} of ${guest.id} cannot be read`)
      return await takeAlone(guest, GUARD, pid !== undefined)
    } catch (error) {
      if (pid) await withPatience(guest.monitor, ({ execute }) => execute('cont'))
      throw error
    }
  }

  async function removeAlone(guest: Guest, id: string): Promise<void> {
    await rm(recordFile(guest, id), { force: true })
    // QEMU gives a disk up whose tables it finds broken: better to lose some space.
    if (await holdStill(guest, () => sound(guest))) await deleteTag(guest, id)
  }

  async function deleteTag(guest: Guest, id: string): Promise<void> {
    if (!(await tags(guest)).includes(id)) return
    if ((await runningPid(guest)) === undefined) return change(guest, 'delete', id)
    await withPatience(guest.monitor, ({ execute }) =>
      execute('blockdev-snapshot-delete-internal-sync', { device: 'root', name: id }),
    )
  }

  /** Brings to an end what a kill left half done. */
  async function settle(guest: Guest): Promise<void> {
    await mkdir(guest.snapshots, { recursive: true, mode: 0o700 })
    if ((await runningPid(guest)) === undefined) return rm(recordPath(guest, FROZEN), { force: true })
    await withPatience(guest.monitor, async (monitor) => {
      await settleJobs(monitor)
      const { status } = await monitor.execute<{ status: string }>('query-status')
      // Stopped for a restore that had given nothing up yet.
      if (status === 'paused' && !(await readKept(guest, GUARD))) await monitor.execute('cont')
    })
    if (await exists(recordPath(guest, FROZEN))) await thaw(guest)
  }

  async function inTurn<T>(id: string, snapshotId: string, task: (guest: Guest) => Promise<T>): Promise<T> {
    if (!ID.test(snapshotId) || snapshotId === GUARD)
      throw new DriverError('snapshot_unknown', `${snapshotId} cannot be a snapshot`)
    const guest = await known(id)
    return alone(id, async () => {
      await settle(guest)
      return task(guest)
    })
  }

  return {
    take: (id, snapshotId, { memory }) =>
      inTurn(id, snapshotId, async (guest) => {
        const kept = await readKept(guest, snapshotId)
        if (kept) return { consistency: kept.consistency }
        await refuseWhenFull(guest, memory)
        await deleteTag(guest, snapshotId)
        const { consistency } = await takeAlone(guest, snapshotId, memory)
        return { consistency }
      }),

    restore: (id, snapshotId) =>
      inTurn(id, snapshotId, async (guest) => {
        const kept = await readKept(guest, snapshotId)
        if (!kept) throw new DriverError('snapshot_unknown', `${id} has no snapshot ${snapshotId}`)
        let before = await readKept(guest, GUARD)
        if (!before) {
          await deleteTag(guest, GUARD)
          await refuseWhenFull(guest, true)
          before = await guard(guest, snapshotId)
        }
        const ran = before.args !== undefined
        try {
          await apply(guest, snapshotId, kept, ran)
        } catch (error) {
          await apply(guest, GUARD, before, ran)
          await removeAlone(guest, GUARD)
          throw new DriverError('snapshot_damaged', `The snapshot ${snapshotId} of ${id} does not load`, {
            cause: error,
          })
        }
        await removeAlone(guest, GUARD)
      }),

    remove: (id, snapshotId) => inTurn(id, snapshotId, (guest) => removeAlone(guest, snapshotId)),

    async list(id) {
      const names = await readdir((await known(id)).snapshots).catch(() => [])
      return names
        .filter((name) => name.endsWith('.json'))
        .map((name) => name.slice(0, -'.json'.length))
        .filter((name) => name !== GUARD)
    },
  }
}

async function holdStill<T>(guest: Guest, task: () => Promise<T>): Promise<T> {
  if ((await runningPid(guest)) === undefined) return task()
  await withPatience(guest.monitor, ({ execute }) => execute('stop'))
  try {
    return await task()
  } finally {
    await withPatience(guest.monitor, ({ execute }) => execute('cont'))
  }
}

/** @returns whether the guest had its file systems hold still during the task */
async function whileFrozen(guest: Guest, task: () => Promise<unknown>): Promise<boolean> {
  await writeFile(recordPath(guest, FROZEN), '')
  const isFrozen = await freezeFileSystems(guest.agent)
  try {
    await task()
  } finally {
    if (isFrozen) await thaw(guest)
    else await rm(recordPath(guest, FROZEN), { force: true })
  }
  return isFrozen
}

async function thaw(guest: Guest): Promise<void> {
  await thawFileSystems(guest.agent)
  await rm(recordPath(guest, FROZEN), { force: true })
}

const recordPath = (guest: Guest, name: string) => join(guest.snapshots, name)
const recordFile = (guest: Guest, id: string) => recordPath(guest, `${id}.json`)

async function keep(guest: Guest, id: string, kept: Kept): Promise<Kept> {
  const file = recordFile(guest, id)
  await writeFile(`${file}.part`, JSON.stringify(kept), { flush: true })
  await rename(`${file}.part`, file)
  return kept
}

async function readKept(guest: Guest, id: string): Promise<Kept | undefined> {
  const file = recordFile(guest, id)
  return (await exists(file)) ? (JSON.parse(await readFile(file, 'utf8')) as Kept) : undefined
}

/** Of the running QEMU, as it is started without anything of a template. */
async function argumentsOf(pid: number): Promise<string[]> {
  return withoutTemplate((await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').slice(1, -1))
}

/** A full host would stop every machine on it in the middle of a write. */
async function refuseWhenFull(guest: Guest, memory: boolean): Promise<void> {
  const { bavail, bsize } = await statfs(guest.folder)
  const { memoryMb } = (await readRecord(guest))!
  const needed = GIB + (memory ? memoryMb * MIB : 0)
  if (bavail * bsize < needed)
    throw new DriverError('no_space', `Less than ${needed} bytes are free for a snapshot of ${guest.id}`)
}

const exists = (path: string) =>
  readFile(path).then(
    () => true,
    () => false,
  )
