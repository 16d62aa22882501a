import { chown, link, open, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunAs } from '@coinrack/host/as-user.ts'
import {
  AlreadyRunsError,
  adoptDetached,
  startDetached,
  stopDetached,
} from '@coinrack/host/detached-process.ts'
import { type NetworkPolicy, openPolicy } from '../ports/network-policy.ts'
import type { OwnAddresses } from '../ports/vps-driver.ts'
import { DriverError, type SshAddress } from '../ports/vps-driver.ts'
import type { Accelerator, GuestNetwork } from './command-line.ts'
import { guestArguments, guestFiles, QEMU } from './command-line.ts'
import { withMonitor } from './monitor.ts'
import { isWiped } from './wiped-seed.ts'

/** What the next start of a machine needs. No secret: those are in the seed alone, until the guest has wiped it. */
export interface GuestRecord {
  vcpus: number
  memoryMb: number
  sshAddress: SshAddress
  addresses?: OwnAddresses
  /** What the disk has grown to, its partition included. */
  diskGb?: number
  /** It runs its rescue system. */
  rescue?: boolean | undefined
}

/** One machine on this host: a folder, and a QEMU process while it runs. */
export interface Guest {
  id: string
  folder: string
  pidFile: string
  logFile: string
  recordFile: string
  /** What its owner wants of its network. */
  networkFile: string
  /** The number of its last boot, where it was given one. */
  bootFile: string
  disk: string
  seed: string
  changeSeed: string
  /** Of a machine from an image of somebody else: see `cidata.ts`. */
  cidata: string
  rescueDisk: string
  rescueSeed: string
  monitor: string
  console: string
  screen: string
  agent: string
  /** Held by the process that makes the machine. */
  makingLock: string
  /** There from the begin of a clone until it is personalised. */
  cloneMark: string
  /** What a clone takes its state from. */
  state: string
  serialLog: string
  /** What is known of its snapshots beside the disk that holds them. */
  snapshots: string
}

/** A guest can write to its serial port for ever; of what it wrote, this much is kept. */
const SERIAL_LOG_BYTES = 1024 ** 2
/** Socket paths of the kernel hold 107 bytes; ours end in `/machines/vps_.../run/monitor.sock`. */
const DATA_FOLDER_BYTES = 107 - '/machines/'.length - 30 - '/run/monitor.sock'.length
const LAUNCH_SCRIPT = join(import.meta.dirname, 'launch.sh')
const START_TIMEOUT_MS = 15_000
const POLL_MS = 100
/** The monitor is there some hundredths of a second after the start. */
const MONITOR_POLL_MS = 4
/** A guest that is still booting does not hear the power button: it is pressed again. */
const PRESS_AGAIN_MS = 10_000

/** Throws when sockets of machines would get paths that are too long. */
export function checkDataFolder(folder: string): void {
  if (Buffer.byteLength(folder) > DATA_FOLDER_BYTES)
    throw new Error(`The data folder's path must not be longer than ${DATA_FOLDER_BYTES} bytes: ${folder}`)
}

export function guestAt(machines: string, id: string): Guest {
  const folder = join(machines, id)
  const file = (name: string) => join(folder, name)
  return {
    id,
    folder,
    pidFile: file('qemu.pid'),
    logFile: file('qemu.log'),
    recordFile: file('machine.json'),
    networkFile: file('network.json'),
    bootFile: file('boot'),
    disk: file(guestFiles.disk),
    seed: file(guestFiles.seed),
    changeSeed: file(guestFiles.changeSeed),
    cidata: file(guestFiles.cidata),
    rescueDisk: file(guestFiles.rescueDisk),
    rescueSeed: file(guestFiles.rescueSeed),
    monitor: file(guestFiles.monitor),
    console: file(guestFiles.console),
    screen: file(guestFiles.screen),
    agent: file(guestFiles.agent),
    makingLock: file('making.pid'),
    cloneMark: file('clone-pending'),
    state: file('state'),
    serialLog: file(guestFiles.serialLog),
    snapshots: file('snapshots'),
  }
}

/** The files that QEMU reads and writes as the machine's user. */
export const filesOfUser = (guest: Guest) => [
  ...[guest.disk, guest.cidata, guest.seed, guest.changeSeed, guest.rescueDisk, guest.rescueSeed],
  guest.serialLog,
]

/** The process id while it runs. */
export const runningPid = (guest: Guest) => adoptDetached(guest.pidFile)

export async function readRecord(guest: Guest): Promise<GuestRecord | undefined> {
  const text = await readFile(guest.recordFile, 'utf8').catch(ignoreMissing)
  return text === undefined ? undefined : (JSON.parse(text) as GuestRecord)
}

export async function writeRecord(guest: Guest, record: GuestRecord): Promise<void> {
  await replaceFile(guest.recordFile, JSON.stringify(record))
}

export async function readNetworkPolicy(guest: Guest): Promise<NetworkPolicy> {
  const text = await readFile(guest.networkFile, 'utf8').catch(ignoreMissing)
  return text === undefined ? openPolicy : (JSON.parse(text) as NetworkPolicy)
}

export async function writeNetworkPolicy(guest: Guest, policy: NetworkPolicy): Promise<void> {
  await replaceFile(guest.networkFile, JSON.stringify(policy))
}

export async function readBoot(guest: Guest): Promise<number | undefined> {
  const text = await readFile(guest.bootFile, 'utf8').catch(ignoreMissing)
  return text === undefined ? undefined : Number(text)
}

export async function writeBoot(guest: Guest, boot: number | undefined): Promise<void> {
  if (boot !== undefined) await replaceFile(guest.bootFile, String(boot))
}

async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.part`, text)
  await rename(`${file}.part`, file)
}

/** Whether the machine grew from an image of somebody else. */
export const isForeign = async (guest: Guest): Promise<boolean> =>
  (await stat(guest.cidata).catch(ignoreMissing)) !== undefined

/** Writes a seed unless it is there, or was: a wiped seed stays, as the mark of a complete first boot. */
export async function writeSeedOnce(file: string, seed: Buffer, owner: RunAs | undefined): Promise<void> {
  const part = `${file}.${process.pid}.part`
  await writeFile(part, seed, { mode: 0o600, flush: true })
  if (owner) await chown(part, owner.uid, owner.gid)
  await link(part, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(part)
}

/** Writes what the next boot takes over, in place of what no boot has taken yet. */
export async function writeChangeSeed(guest: Guest, seed: Buffer, owner: RunAs | undefined): Promise<void> {
  const part = `${guest.changeSeed}.part`
  await writeFile(part, seed, { mode: 0o600, flush: true })
  if (owner) await chown(part, owner.uid, owner.gid)
  // A guest that runs keeps the file that it was started with.
  await rename(part, guest.changeSeed)
}

/** Whether the guest has taken over the last change; undefined when there was none. */
export async function bootChangeOf(guest: Guest): Promise<'waiting' | 'taken' | undefined> {
  const seed = await readFile(guest.changeSeed).catch(ignoreMissing)
  return seed && (isWiped(seed) ? 'taken' : 'waiting')
}

/** A clone was begun and is not personalised: nobody may have it. */
export const isClonePending = async (guest: Guest): Promise<boolean> =>
  (await stat(guest.cloneMark).catch(ignoreMissing)) !== undefined

export async function isFirstBootPending(guest: Guest): Promise<boolean> {
  if (await isClonePending(guest)) return true
  return isSeedWaiting(guest.seed)
}

async function isSeedWaiting(file: string): Promise<boolean> {
  const seed = await readFile(file).catch(ignoreMissing)
  return seed !== undefined && !isWiped(seed)
}

/** When the guest last wrote to its serial port. */
export async function lastSign(guest: Guest): Promise<Date | undefined> {
  return (await stat(guest.serialLog).catch(ignoreMissing))?.mtime
}

/** What QEMU had to say about its end, other than that it was told to. */
export async function lastWords(guest: Guest): Promise<string | undefined> {
  const text = (await readFile(guest.logFile, 'utf8').catch(ignoreMissing)) ?? ''
  const lines = text.split('\n').filter((line) => line !== '' && !line.includes('terminating on signal'))
  return lines.at(-1)
}

export interface StartOptions {
  accelerator: Accelerator
  clockOptions: string[]
  network: GuestNetwork
  /** Programs that bring QEMU into the machine's network, before its command line. */
  within?: string[]
  /** Files of control groups that QEMU joins by them. */
  limits?: string[]
  user: RunAs | undefined
  /** What it may see of the host as that user. Without: what any user may. */
  jail?: string[] | undefined
  /** Starts a clone on this open memory of its template; it waits for the template's state, open as well. */
  template?: { memory: number; state: number } | undefined
}

/** How the program finds the files that it inherits. */
const INHERITED_MEMORY = '/proc/self/fd/4'
export const INHERITED_STATE = 'fd:5'

/** Starts QEMU for the machine unless it runs, and returns when its monitor answers. Throws `guest_failed`. */
export async function startGuest(guest: Guest, record: GuestRecord, options: StartOptions): Promise<void> {
  const { accelerator, clockOptions, network, within, limits, user, jail, template } = options
  const { vcpus, memoryMb, rescue } = record
  const isFirstBoot = rescue ? await isSeedWaiting(guest.rescueSeed) : await isFirstBootPending(guest)
  const isChangeWaiting = !rescue && (await bootChangeOf(guest)) === 'waiting'
  const args = guestArguments({
    id: guest.id,
    vcpus,
    memoryMb,
    accelerator,
    clockOptions,
    isFirstBoot,
    rescue,
    network,
    isChangeWaiting,
    hasCidata: await isForeign(guest),
    ...(template && { isClone: true, memoryFile: { path: INHERITED_MEMORY, share: false } }),
  })
  const inherit = template ? [template.memory, template.state] : []
  await launchGuest(guest, args, { within, limits, user, jail, inherit })
}

/**
 * Starts QEMU with these arguments unless it runs, and returns its process id when its monitor answers.
 * Throws `guest_failed`.
 */
export async function launchGuest(
  guest: Guest,
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
    await rm(guest.logFile, { force: true })
    await makeEmpty(guest.serialLog, user)
    pid = await startDetached({
      name: `QEMU of ${guest.id}`,
      command: QEMU,
      args,
      cwd: guest.folder,
      pidFile: guest.pidFile,
      logFile: guest.logFile,
      user,
      jail,
      within: ['sh', LAUNCH_SCRIPT, owner, ...(isIdle ? [] : limits), '--', ...within],
      inherit,
    })
  } catch (error) {
    if (!(error instanceof AlreadyRunsError))
      throw new DriverError('guest_failed', (error as Error).message, { cause: error })
  }
  if (isIdle && pid !== undefined) await joinGroups(guest, pid, limits)
  for (let waited = 0; waited < START_TIMEOUT_MS; waited += MONITOR_POLL_MS) {
    const answered = await withMonitor(guest.monitor, ({ execute }) => execute('query-status')).catch(
      () => undefined,
    )
    if (answered) pid ??= await runningPid(guest)
    if (answered && pid !== undefined) return pid
    if (waited % POLL_MS === POLL_MS - MONITOR_POLL_MS && !(await runningPid(guest))) break
    await sleep(MONITOR_POLL_MS)
  }
  const reason = (await lastWords(guest)) ?? 'its monitor does not answer'
  throw new DriverError('guest_failed', `QEMU of ${guest.id} did not start: ${reason}`)
}

async function joinGroups({ id }: Guest, pid: number, files: string[]): Promise<void> {
  try {
    for (const file of files) await writeFile(file, String(pid))
  } catch (error) {
    throw new DriverError('guest_failed', `QEMU of ${id} could not be limited`, { cause: error })
  }
}

/** Presses the power button, waits up to `graceMs` for the guest to end, then cuts the power. */
export async function stopGuest(guest: Guest, graceMs: number): Promise<void> {
  for (let waited = 0; waited < graceMs && (await runningPid(guest)); waited += POLL_MS) {
    if (waited % PRESS_AGAIN_MS === 0)
      await withMonitor(guest.monitor, ({ execute }) => execute('system_powerdown')).catch(() => {})
    await sleep(POLL_MS)
  }
  await cutPower(guest)
}

/** Ends QEMU at once; what the guest had written to its disk is written out. */
export const cutPower = (guest: Guest) => stopDetached(guest.pidFile)

/** Boots the guest anew, with an empty serial log. */
export async function resetGuest(guest: Guest): Promise<void> {
  await truncate(guest.serialLog)
  await withMonitor(guest.monitor, ({ execute }) => execute('system_reset'))
}

/** Forgets what the guest wrote to its serial port, when that is too much to keep. */
export async function limitSerialLog({ serialLog }: Guest): Promise<void> {
  const { size } = await stat(serialLog)
  if (size > SERIAL_LOG_BYTES) await truncate(serialLog)
}

async function makeEmpty(file: string, owner: RunAs | undefined): Promise<void> {
  const handle = await open(file, 'w', 0o600)
  if (owner) await handle.chown(owner.uid, owner.gid)
  await handle.close()
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}
