import { chown, link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunAs } from '@coinrack/host/as-user.ts'
import { adoptDetached } from '@coinrack/host/detached-process.ts'
import { isWiped } from '../personality/wiped-seed.ts'
import { type NetworkPolicy, openPolicy } from '../ports/network-policy.ts'
import type { OwnAddresses, SshAddress } from '../ports/vps-driver.ts'
import { guestFiles } from './command-line.ts'

/**
 * The facts that the next start of a machine needs. No secret: those are in the seed alone, until the guest has wiped
 * it.
 */
export interface MachineRecord {
  vcpus: number
  memoryMb: number
  sshAddress: SshAddress
  addresses?: OwnAddresses
  /** The size that the disk has grown to, its partition included. */
  diskGb?: number
  /** It runs its rescue system. */
  rescue?: boolean | undefined
}

/** One machine on this host: a folder, and a QEMU process while it runs. */
export interface Machine {
  id: string
  folder: string
  pidFile: string
  logFile: string
  recordFile: string
  /** The network policy that its owner wants. */
  networkFile: string
  /** The number of its last boot, where it was given one. */
  bootFile: string
  disk: string
  seed: string
  changeSeed: string
  /** The volume for cloud-init, of a machine from a foreign image: see `cidata.ts`. */
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
  /** The file that a clone takes its state from. */
  state: string
  serialLog: string
  /** The facts about its snapshots that lie beside the disk that holds them. */
  snapshots: string
}

/** Socket paths of the kernel hold 107 bytes; ours end in `/machines/vps_.../run/monitor.sock`. */
const DATA_FOLDER_BYTES = 107 - '/machines/'.length - 30 - '/run/monitor.sock'.length

/** Throws when sockets of machines would get paths that are too long. */
export function checkDataFolder(folder: string): void {
  if (Buffer.byteLength(folder) > DATA_FOLDER_BYTES)
    throw new Error(`The data folder's path must not be longer than ${DATA_FOLDER_BYTES} bytes: ${folder}`)
}

export function machineAt(machines: string, id: string): Machine {
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
export const filesOfUser = (machine: Machine) => [
  ...[machine.disk, machine.cidata, machine.seed, machine.changeSeed, machine.rescueDisk, machine.rescueSeed],
  machine.serialLog,
]

/** The process id while it runs. */
export const runningPid = (machine: Machine) => adoptDetached(machine.pidFile)

export async function readRecord(machine: Machine): Promise<MachineRecord | undefined> {
  const text = await readFile(machine.recordFile, 'utf8').catch(ignoreMissing)
  return text === undefined ? undefined : (JSON.parse(text) as MachineRecord)
}

export async function writeRecord(machine: Machine, record: MachineRecord): Promise<void> {
  await replaceFile(machine.recordFile, JSON.stringify(record))
}

export async function readNetworkPolicy(machine: Machine): Promise<NetworkPolicy> {
  const text = await readFile(machine.networkFile, 'utf8').catch(ignoreMissing)
  return text === undefined ? openPolicy : (JSON.parse(text) as NetworkPolicy)
}

export async function writeNetworkPolicy(machine: Machine, policy: NetworkPolicy): Promise<void> {
  await replaceFile(machine.networkFile, JSON.stringify(policy))
}

export async function readBoot(machine: Machine): Promise<number | undefined> {
  const text = await readFile(machine.bootFile, 'utf8').catch(ignoreMissing)
  return text === undefined ? undefined : Number(text)
}

export async function writeBoot(machine: Machine, boot: number | undefined): Promise<void> {
  if (boot !== undefined) await replaceFile(machine.bootFile, String(boot))
}

async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.part`, text)
  await rename(`${file}.part`, file)
}

/** Whether the machine grew from a foreign image. */
export const isForeign = async (machine: Machine): Promise<boolean> =>
  (await stat(machine.cidata).catch(ignoreMissing)) !== undefined

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
export async function writeChangeSeed(
  machine: Machine,
  seed: Buffer,
  owner: RunAs | undefined,
): Promise<void> {
  const part = `${machine.changeSeed}.part`
  await writeFile(part, seed, { mode: 0o600, flush: true })
  if (owner) await chown(part, owner.uid, owner.gid)
  // A guest that runs keeps the file that it was started with.
  await rename(part, machine.changeSeed)
}

/** Whether the guest has taken over the last change; undefined when there was none. */
export async function bootChangeOf(machine: Machine): Promise<'waiting' | 'taken' | undefined> {
  const seed = await readFile(machine.changeSeed).catch(ignoreMissing)
  return seed && (isWiped(seed) ? 'taken' : 'waiting')
}

/** Whether a clone was begun and is not personalised: it must not be delivered. */
export const isClonePending = async (machine: Machine): Promise<boolean> =>
  (await stat(machine.cloneMark).catch(ignoreMissing)) !== undefined

export async function isFirstBootPending(machine: Machine): Promise<boolean> {
  if (await isClonePending(machine)) return true
  return isSeedWaiting(machine.seed)
}

export async function isSeedWaiting(file: string): Promise<boolean> {
  const seed = await readFile(file).catch(ignoreMissing)
  return seed !== undefined && !isWiped(seed)
}

/** When the guest last wrote to its serial port. */
export async function lastSign(machine: Machine): Promise<Date | undefined> {
  return (await stat(machine.serialLog).catch(ignoreMissing))?.mtime
}

/** QEMU's last words about its end, other than that it was told to. */
export async function lastWords(machine: Machine): Promise<string | undefined> {
  const text = (await readFile(machine.logFile, 'utf8').catch(ignoreMissing)) ?? ''
  const lines = text.split('\n').filter((line) => line !== '' && !line.includes('terminating on signal'))
  return lines.at(-1)
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}
