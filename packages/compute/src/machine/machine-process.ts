import { open, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { AlreadyRunsError, startDetached, stopDetached } from '@coinrack/host/detached-process.ts'
import { DriverError } from '../ports/vps-driver.ts'
import type { Accelerator, GuestNetwork } from './command-line.ts'
import { guestArguments, QEMU } from './command-line.ts'
import {
  bootChangeOf,
  isFirstBootPending,
  isForeign,
  isSeedWaiting,
  lastWords,
  type Machine,
  type MachineRecord,
  runningPid,
} from './machine.ts'
import { withMonitor } from './monitor.ts'

/*
 * The QEMU process of a machine: how it starts, and how it ends.
 */

/** A guest can write to its serial port without end; this much of what it wrote is kept. */
const SERIAL_LOG_BYTES = 1024 ** 2
const LAUNCH_SCRIPT = join(import.meta.dirname, 'launch.sh')
const START_TIMEOUT_MS = 15_000
const POLL_MS = 100
/** The monitor is there some hundredths of a second after the start. */
const MONITOR_POLL_MS = 4
/** A guest that is still booting does not hear the power button: it is pressed again. */
const PRESS_AGAIN_MS = 10_000

export interface StartOptions {
  accelerator: Accelerator
  clockOptions: string[]
  network: GuestNetwork
  /** Programs that bring QEMU into the machine's network, before its command line. */
  within?: string[]
  /** Files of control groups that QEMU joins by them. */
  limits?: string[]
  user: RunAs | undefined
  /** The part of the host that it may see as that user. Without it, the same as any user. */
  jail?: string[] | undefined
  /** Starts a clone on this open memory of its template; it waits for the template's state, open as well. */
  template?: { memory: number; state: number } | undefined
}

/** How the program finds the files that it inherits. */
const INHERITED_MEMORY = '/proc/self/fd/4'
export const INHERITED_STATE = 'fd:5'

/** Starts QEMU for the machine unless it runs, and returns when its monitor answers. Throws `guest_failed`. */
export async function startMachine(
  machine: Machine,
  record: MachineRecord,
  options: StartOptions,
): Promise<void> {
  const { accelerator, clockOptions, network, within, limits, user, jail, template } = options
  const { vcpus, memoryMb, rescue } = record
  const isFirstBoot = rescue ? await isSeedWaiting(machine.rescueSeed) : await isFirstBootPending(machine)
  const isChangeWaiting = !rescue && (await bootChangeOf(machine)) === 'waiting'
  const args = guestArguments({
    id: machine.id,
    vcpus,
    memoryMb,
    accelerator,
    clockOptions,
    isFirstBoot,
    rescue,
    network,
    isChangeWaiting,
    hasCidata: await isForeign(machine),
    ...(template && { isClone: true, memoryFile: { path: INHERITED_MEMORY, share: false } }),
  })
  const inherit = template ? [template.memory, template.state] : []
  await launchMachine(machine, args, { within, limits, user, jail, inherit })
}

/**
 * Starts QEMU with these arguments unless it runs, and returns its process id when its monitor answers.
 * Throws `guest_failed`.
 */
export async function launchMachine(
  machine: Machine,
  args: string[],
  {
    within = [],
    limits = [],
    user,
    jail,
    inherit = [],
    isIdle = false,
  }: Pick<StartOptions, 'within' | 'limits' | 'user' | 'jail'> & {
    /** Open files that QEMU gets as descriptors 4, 5 and so on. */
    inherit?: number[]
    /** It does nothing until it is told to: it joins its groups while it starts, which takes as long. */
    isIdle?: boolean
  },
): Promise<number> {
  let pid: number | undefined
  const owner = user ? `${user.uid}:${user.gid}` : '-'
  try {
    await rm(machine.logFile, { force: true })
    await makeEmpty(machine.serialLog, user)
    pid = await startDetached({
      name: `QEMU of ${machine.id}`,
      command: QEMU,
      args,
      cwd: machine.folder,
      pidFile: machine.pidFile,
      logFile: machine.logFile,
      user,
      jail,
      within: ['sh', LAUNCH_SCRIPT, owner, ...(isIdle ? [] : limits), '--', ...within],
      inherit,
    })
  } catch (error) {
    if (!(error instanceof AlreadyRunsError))
      throw new DriverError('guest_failed', (error as Error).message, { cause: error })
  }
  if (isIdle && pid !== undefined) await joinGroups(machine, pid, limits)
  for (let waited = 0; waited < START_TIMEOUT_MS; waited += MONITOR_POLL_MS) {
    const answered = await withMonitor(machine.monitor, ({ execute }) => execute('query-status')).catch(
      () => undefined,
    )
    if (answered) pid ??= await runningPid(machine)
    if (answered && pid !== undefined) return pid
    if (waited % POLL_MS === POLL_MS - MONITOR_POLL_MS && !(await runningPid(machine))) break
    await sleep(MONITOR_POLL_MS)
  }
  const reason = (await lastWords(machine)) ?? 'its monitor does not answer'
  throw new DriverError('guest_failed', `QEMU of ${machine.id} did not start: ${reason}`)
}

async function joinGroups({ id }: Machine, pid: number, files: string[]): Promise<void> {
  try {
    for (const file of files) await writeFile(file, String(pid))
  } catch (error) {
    throw new DriverError('guest_failed', `QEMU of ${id} could not be limited`, { cause: error })
  }
}

/** Presses the power button, waits up to `graceMs` for the guest to end, then cuts the power. */
export async function stopMachine(machine: Machine, graceMs: number): Promise<void> {
  for (let waited = 0; waited < graceMs && (await runningPid(machine)); waited += POLL_MS) {
    if (waited % PRESS_AGAIN_MS === 0)
      await withMonitor(machine.monitor, ({ execute }) => execute('system_powerdown')).catch(() => {})
    await sleep(POLL_MS)
  }
  await cutPower(machine)
}

/** Ends QEMU at once; what the guest had written to its disk is written out. */
export const cutPower = (machine: Machine) => stopDetached(machine.pidFile)

/** Boots the guest anew, with an empty serial log. */
export async function resetMachine(machine: Machine): Promise<void> {
  await truncate(machine.serialLog)
  await withMonitor(machine.monitor, ({ execute }) => execute('system_reset'))
}

/** Forgets what the guest wrote to its serial port, when that is too much to keep. */
export async function limitSerialLog({ serialLog }: Machine): Promise<void> {
  const { size } = await stat(serialLog)
  if (size > SERIAL_LOG_BYTES) await truncate(serialLog)
}

async function makeEmpty(file: string, owner: RunAs | undefined): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  if (owner) await handle.chown(owner.uid, owner.gid)
  await handle.close()
}
