import { rename, rm } from 'node:fs/promises'
import { goOnWithRoom } from '../machine/full-disk.ts'
import { refuseWhenFull } from '../machine/host-capacity.ts'
import type { Machine } from '../machine/machine.ts'
import type { MachineUsers } from '../machine/machine-users.ts'
import { withMonitor } from '../machine/monitor.ts'
import { sumOf } from '../machine/saving.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import type { AgentSessions } from './agent-sessions.ts'
import { asSandboxError } from './failures.ts'
import type { HostResources } from './host-resources.ts'
import { identityOf, type Records, type SandboxMachine } from './records.ts'
import { renew } from './renew.ts'
import { copySparsely, startFromState } from './sandbox-machine.ts'
import { saveMachine } from './saved-state.ts'

export interface CheckpointOptions {
  dataFolder: string
  resources: HostResources
  users: MachineUsers
  sessions: AgentSessions
  records: Records
  clock: { now(): Date }
}

/** Keeps what machines are, memory and all, on the host's disk, and lets them go on from there. */
export function createCheckpoints({
  dataFolder,
  resources,
  users,
  sessions,
  records,
  clock,
}: CheckpointOptions) {
  /** Lets a machine that stands still go on, with the current time. */
  const letGoOn = async (machine: SandboxMachine) => {
    await withMonitor(machine.qemu.monitor, ({ execute }) => execute('cont'))
    await records.goOn(machine)
    await renew(await sessions.get(machine.qemu), clock.now())
  }

  /** Writes what the machine is now to files, and lets it go on if it ran. */
  const save = async (machine: SandboxMachine, files: { state: string; disk: string }) => {
    const { qemu, record } = machine
    if (record.state === 'paused') {
      await checkSaved(machine)
      await copySparsely(qemu.state, files.state)
      await copySparsely(qemu.disk, files.disk)
      return record.saved!
    }
    const { memoryMb } = record.sandbox!
    const user = await users.of(qemu.id, qemu.folder)
    try {
      await records.standStill(machine)
      const saved = await saveMachine({ ...qemu, memoryMb, user }, files.state)
      await copySparsely(qemu.disk, files.disk)
      return { ...saved, diskSha256: (await sumOf(files.disk))! }
    } finally {
      await letGoOn(machine)
    }
  }

  const checkSaved = async ({ qemu, record }: SandboxMachine) => {
    // A resume that was cut short may have let something run on the disk.
    await resources.stop(qemu)
    await rename(keptDisk(qemu), qemu.disk).catch(ignoreMissing)
    const [state, disk] = await Promise.all([sumOf(qemu.state), sumOf(qemu.disk)])
    if (state !== record.saved?.sha256 || disk !== record.saved?.diskSha256)
      throw new SandboxError('state_damaged', `What was kept of ${record.sandbox!.id} is not what was saved`)
  }

  return {
    save,

    /** Takes over one of a service that ended: while it paused or forked it, it left it standing still. */
    async takeOver(machine: SandboxMachine): Promise<void> {
      const { qemu, record } = machine
      if (record.state !== 'running') return resources.stop(qemu)
      const stood = await withMonitor(qemu.monitor, async ({ execute }) => {
        const { status } = await execute<{ status: string }>('query-status')
        return status !== 'running'
      }).catch(() => undefined)
      // A machine that is gone is found by the next observation.
      if (stood) await letGoOn(machine).catch(() => {})
      else if (stood === false) await records.goOn(machine, records.seenAt())
    },

    /** Lets a machine go on that a full disk has stopped, once there is room; until then its run time is not counted. */
    async goOnWithRoom(machine: SandboxMachine): Promise<void> {
      if (machine.record.state !== 'running') return
      const atFullDisk = await goOnWithRoom(machine.qemu.monitor, machine.qemu.folder)
      // On a full disk it cannot be written down, but is known.
      if (atFullDisk === 'stands' && machine.record.stillSince === undefined)
        await records.standStill(machine).catch(() => {})
      if (atFullDisk !== 'goes on') return
      await records.goOn(machine)
      await renew(await sessions.get(machine.qemu), clock.now())
    },

    /** Pauses a machine that has not ended; does nothing if it is paused already. */
    async pause(machine: SandboxMachine): Promise<void> {
      const { qemu, record } = machine
      if (record.state === 'paused') return
      try {
        await refuseWhenFull(dataFolder)
        // Left by a resume that was killed shortly before its end: it belongs to no state any more.
        await rm(keptDisk(qemu), { force: true })
        const user = await users.of(qemu.id, qemu.folder)
        const { memoryMb } = record.sandbox!
        await records.standStill(machine)
        const saved = await saveMachine({ ...qemu, memoryMb, user }, qemu.state)
        const diskSha256 = (await sumOf(qemu.disk))!
        machine.record = { ...machine.record, saved: { ...saved, diskSha256 } }
        await records.close(machine, 'paused', clock.now().getTime())
      } catch (error) {
        await rm(qemu.state, { force: true })
        await letGoOn(machine).catch(() => {})
        throw asSandboxError(error)
      }
      await sessions.drop(qemu.id)
      await resources.stop(qemu)
    },

    /** Resumes a machine that has not ended; does nothing where it runs already. */
    async resume(machine: SandboxMachine): Promise<void> {
      const { qemu, record } = machine
      if (record.state === 'running') return
      await checkSaved(machine)
      const spec = record.sandbox!
      const { saved: _, ...rest } = record
      try {
        await copySparsely(qemu.disk, `${keptDisk(qemu)}.part`)
        await rename(`${keptDisk(qemu)}.part`, keptDisk(qemu))
        const around = await resources.surround(qemu, spec, spec.network)
        const { pid, session } = await startFromState(qemu, spec, qemu.state, around)
        sessions.put(qemu, session)
        await renew(session, clock.now())
        const process = await identityOf(pid)
        machine.record = { ...rest, state: 'running', startedAt: clock.now().getTime(), process: process! }
        await records.write(machine)
      } catch (error) {
        machine.record = record
        await sessions.drop(qemu.id)
        await resources.stop(qemu)
        await rename(keptDisk(qemu), qemu.disk).catch(ignoreMissing)
        throw asSandboxError(error)
      }
      await rm(qemu.state, { force: true })
      await rm(keptDisk(qemu), { force: true })
    },
  }
}

/** The disk that belongs to what was saved, while a resume is not sure to succeed. */
const keptDisk = ({ disk }: Machine) => `${disk}.kept`

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
