import { rename, rm } from 'node:fs/promises'
import { goOnWithRoom } from '../machine/full-disk.ts'
import { refuseWhenFull } from '../machine/host-capacity.ts'
import type { Guest } from '../machine/machine.ts'
import type { MachineUsers } from '../machine/machine-users.ts'
import { withMonitor } from '../machine/monitor.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import type { Links } from './agent-sessions.ts'
import { asSandboxError } from './failures.ts'
import type { SandboxWorld } from './host-resources.ts'
import { identityOf, type Machine, type Records } from './records.ts'
import { renew } from './renew.ts'
import { beginFromState, copySparsely } from './sandbox-machine.ts'
import { saveMachine, sumOf } from './saved-state.ts'

export interface KeeperOptions {
  dataFolder: string
  world: SandboxWorld
  users: MachineUsers
  links: Links
  records: Records
  clock: { now(): Date }
}

/** Keeps what machines are, memory and all, on the host's disk, and lets them go on from there. */
export function createKeeper({ dataFolder, world, users, links, records, clock }: KeeperOptions) {
  /** Lets one go on that stands still, with the time of now. */
  const letGoOn = async (machine: Machine) => {
    await withMonitor(machine.guest.monitor, ({ execute }) => execute('cont'))
    await records.goOn(machine)
    await renew(await links.get(machine.guest), clock.now())
  }

  /** Writes what the machine is now to files, and lets it go on if it ran. */
  const save = async (machine: Machine, files: { state: string; disk: string }) => {
    const { guest, record } = machine
    if (record.state === 'paused') {
      await checkSaved(machine)
      await copySparsely(guest.state, files.state)
      await copySparsely(guest.disk, files.disk)
      return record.saved!
    }
    const { memoryMb } = record.sandbox!
    const user = await users.of(guest.id, guest.folder)
    try {
      await records.standStill(machine)
      const saved = await saveMachine({ ...guest, memoryMb, user }, files.state)
      await copySparsely(guest.disk, files.disk)
      return { ...saved, diskSha256: (await sumOf(files.disk))! }
    } finally {
      await letGoOn(machine)
    }
  }

  const checkSaved = async ({ guest, record }: Machine) => {
    // A resume that was cut short may have let something run on the disk.
    await world.stop(guest)
    await rename(keptDisk(guest), guest.disk).catch(ignoreMissing)
    const [state, disk] = await Promise.all([sumOf(guest.state), sumOf(guest.disk)])
    if (state !== record.saved?.sha256 || disk !== record.saved?.diskSha256)
      throw new SandboxError('state_damaged', `What was kept of ${record.sandbox!.id} is not what was saved`)
  }

  return {
    save,

    /** Takes over one of a service that ended: while it paused or forked it, it left it standing still. */
    async takeOver(machine: Machine): Promise<void> {
      const { guest, record } = machine
      if (record.state !== 'running') return world.stop(guest)
      const stood = await withMonitor(guest.monitor, async ({ execute }) => {
        const { status } = await execute<{ status: string }>('query-status')
        return status !== 'running'
      }).catch(() => undefined)
      // One that is gone is met by whoever observes.
      if (stood) await letGoOn(machine).catch(() => {})
      else if (stood === false) await records.goOn(machine, records.seenAt())
    },

    /** Of one that a full disk has stopped: it is not counted until there is room, and then goes on. */
    async goOnWithRoom(machine: Machine): Promise<void> {
      if (machine.record.state !== 'running') return
      const atFullDisk = await goOnWithRoom(machine.guest.monitor, machine.guest.folder)
      // On a full disk it cannot be written down, but is known.
      if (atFullDisk === 'stands' && machine.record.stillSince === undefined)
        await records.standStill(machine).catch(() => {})
      if (atFullDisk !== 'goes on') return
      await records.goOn(machine)
      await renew(await links.get(machine.guest), clock.now())
    },

    /** Of one that is not ended; paused already, nothing is done. */
    async pause(machine: Machine): Promise<void> {
      const { guest, record } = machine
      if (record.state === 'paused') return
      try {
        await refuseWhenFull(dataFolder)
        // Of a resume that was killed when it was as good as over: no longer what belongs to a state.
        await rm(keptDisk(guest), { force: true })
        const user = await users.of(guest.id, guest.folder)
        const { memoryMb } = record.sandbox!
        await records.standStill(machine)
        const saved = await saveMachine({ ...guest, memoryMb, user }, guest.state)
        const diskSha256 = (await sumOf(guest.disk))!
        machine.record = { ...machine.record, saved: { ...saved, diskSha256 } }
        await records.close(machine, 'paused', clock.now().getTime())
      } catch (error) {
        await rm(guest.state, { force: true })
        await letGoOn(machine).catch(() => {})
        throw asSandboxError(error)
      }
      await links.drop(guest.id)
      await world.stop(guest)
    },

    /** Of one that is not ended; where it runs already, nothing is done. */
    async resume(machine: Machine): Promise<void> {
      const { guest, record } = machine
      if (record.state === 'running') return
      await checkSaved(machine)
      const spec = record.sandbox!
      const { saved: _, ...rest } = record
      try {
        await copySparsely(guest.disk, `${keptDisk(guest)}.part`)
        await rename(`${keptDisk(guest)}.part`, keptDisk(guest))
        const around = await world.surround(guest, spec, spec.network)
        const { pid, link } = await beginFromState(guest, spec, guest.state, around)
        links.put(guest, link)
        await renew(link, clock.now())
        const process = await identityOf(pid)
        machine.record = { ...rest, state: 'running', startedAt: clock.now().getTime(), process: process! }
        await records.write(machine)
      } catch (error) {
        machine.record = record
        await links.drop(guest.id)
        await world.stop(guest)
        await rename(keptDisk(guest), guest.disk).catch(ignoreMissing)
        throw asSandboxError(error)
      }
      await rm(guest.state, { force: true })
      await rm(keptDisk(guest), { force: true })
    },
  }
}

/** The disk that belongs to what was saved, while a resume is not sure to succeed. */
const keptDisk = ({ disk }: Guest) => `${disk}.kept`

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
