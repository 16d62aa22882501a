import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lastWords, type Machine } from '../machine/machine.ts'
import type { SandboxObservation, SandboxSpec } from '../ports/sandbox-runtime.ts'
import { sandboxMachineAt } from './sandbox-machine.ts'
import type { SavedState } from './saved-state.ts'

/** The record of a machine that lies in its folder beside the disk. */
export interface SandboxMachineRecord {
  /** The sandbox that the machine belongs to; undefined while it belongs to none. */
  sandbox?: SandboxSpec
  state: 'running' | 'paused' | 'ended'
  /** Milliseconds of the runs that are over. */
  ranMs: number
  /** The start of the current run, by the clock. */
  startedAt: number
  /** The process of the current run. */
  process?: ProcessIdentity
  /** When the current run stands still to be saved, by the clock: its run time does not count from then on. */
  stillSince?: number
  reason?: string
  /** The state that it was paused in. */
  saved?: SavedState & { diskSha256: string }
}

/** A process for ever: numbers are used again, but not within the same hundredth of a second. */
export interface ProcessIdentity {
  pid: number
  startTicks: number
}

export interface SandboxMachine {
  qemu: Machine
  record: SandboxMachineRecord
}

const SEEN_FILE = 'seen'
/** How much of a run may be forgotten when its end was not observed. */
const SEEN_EVERY_MS = 2_000

/** Every machine of this host, as its folder says and its process shows. */
export async function openRecords(folder: string, clock: { now(): Date }) {
  const machines = new Map<string, SandboxMachine>()
  await mkdir(folder, { recursive: true, mode: 0o711 })
  const seenFile = join(folder, SEEN_FILE)
  let seenAt = Number(await readFile(seenFile, 'utf8').catch(() => '0'))
  let seenWrittenAt = seenAt
  const unfinished: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const qemu = sandboxMachineAt(folder, entry.name)
    const text = await readFile(qemu.recordFile, 'utf8').catch(() => undefined)
    const record = text === undefined ? undefined : (JSON.parse(text) as SandboxMachineRecord)
    // Machines that were begun and never finished, and those without an owner, are removed by the service that opens
    // the folder.
    if (record?.sandbox) machines.set(entry.name, { qemu, record })
    else unfinished.push(entry.name)
  }

  const write = async ({ qemu, record }: SandboxMachine) => {
    await writeFile(`${qemu.recordFile}.part`, JSON.stringify(record), { mode: 0o600 })
    await rename(`${qemu.recordFile}.part`, qemu.recordFile)
  }

  const ranMs = ({ record }: SandboxMachine, until: number) => {
    if (record.state !== 'running') return record.ranMs
    const end = Math.min(until, record.stillSince ?? until)
    return record.ranMs + Math.max(end - record.startedAt, 0)
  }

  /** Ends the run in the books, at the time given. */
  const close = async (
    machine: SandboxMachine,
    state: 'paused' | 'ended',
    until: number,
    reason?: string,
  ) => {
    const { process: _, stillSince: __, ...rest } = machine.record
    machine.record = { ...rest, ranMs: ranMs(machine, until), state, ...(reason !== undefined && { reason }) }
    await write(machine)
  }

  return {
    machines,
    unfinished,
    write,
    close,

    /** From now on it is not counted, until it goes on; also for who opens after a kill. */
    async standStill(machine: SandboxMachine): Promise<void> {
      machine.record = { ...machine.record, stillSince: clock.now().getTime() }
      await write(machine)
    },

    /** @param at since when it goes on */
    async goOn(machine: SandboxMachine, at = clock.now().getTime()): Promise<void> {
      const { stillSince, ...record } = machine.record
      if (stillSince === undefined) return
      machine.record = { ...record, startedAt: record.startedAt + Math.max(at - stillSince, 0) }
      await write(machine)
    },

    /** When all that ran were last seen. */
    seenAt: () => seenAt,

    /** Whether its process runs; one that does not any more has ended, when it was last seen. */
    async settle(machine: SandboxMachine): Promise<SandboxMachineRecord> {
      const { record } = machine
      if (record.state === 'running' && !(await isAlive(record.process))) {
        const reason = (await lastWords(machine.qemu).catch(() => undefined)) ?? 'its machine ended'
        await close(machine, 'ended', seenAt, reason)
      }
      return machine.record
    },

    /** Notes that every machine seen alive now was alive until now. */
    async markSeen(): Promise<void> {
      seenAt = clock.now().getTime()
      if (seenAt - seenWrittenAt < SEEN_EVERY_MS) return
      seenWrittenAt = seenAt
      try {
        await writeFile(`${seenFile}.part`, String(seenAt))
        await rename(`${seenFile}.part`, seenFile)
      } catch (error) {
        // On a full disk the last moment that was written stays: less is counted after a restart, and all is observed.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },

    observationOf(machine: SandboxMachine): SandboxObservation {
      const { state, reason } = machine.record
      return {
        state,
        ranMs: ranMs(machine, clock.now().getTime()),
        ...(state === 'ended' && { reason: reason ?? 'its machine ended' }),
      }
    },
  }
}

export type Records = Awaited<ReturnType<typeof openRecords>>

/** The identity of a running process; undefined when it does not run. */
export async function identityOf(pid: number): Promise<ProcessIdentity | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (stat === undefined) return undefined
  // After the program's name, which may hold anything: state is the third field, the start time the 22nd (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : { pid, startTicks: Number(fields[19]) }
}

async function isAlive(known: ProcessIdentity | undefined): Promise<boolean> {
  return known !== undefined && (await identityOf(known.pid))?.startTicks === known.startTicks
}
