import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FileLock, lockFile } from '@coinrack/host/file-lock.ts'
import { CommandError, runCommand } from '@coinrack/host/run-command.ts'
import type { ServiceUser } from '@coinrack/host/service-user.ts'
import { dataLayout } from './data-layout.ts'
import { keptSecret, readOptional, writeAtomically } from './kept-secret.ts'

export interface DataFolder {
  path: string
  /** Tells this folder, and what it is restored to, from every other one. */
  id: string
  /** A secret of this folder, for when the operator set none; see `keptSecret`. */
  secret(name: 'server' | 'deposit' | 'receipt' | 'x402'): Promise<string>
  /** Lets the next service start, when what runs beneath them is there. */
  started(): Promise<void>
  /** Lets another service have this one's place. */
  close(): Promise<void>
}

const WAIT_MS = 200

/** The data folder cannot be used as it is. */
export class DataFolderError extends Error {
  override name = 'DataFolderError'
  readonly code: 'data_folder_in_use' | 'data_folder_of_other_profile' | 'data_folder_unreachable'
  readonly fix: string

  constructor(code: DataFolderError['code'], message: string, fix: string) {
    super(`${message}\n  ${fix}`)
    this.code = code
    this.fix = fix
  }
}

/**
 * Opens the data folder for a service: makes what is missing, sets its modes, takes its locks. Services on the same
 * folder have different ports, and start one after the other, so that each finds what the one before it made.
 * The locks are the kernel's, so a killed service leaves nothing behind that blocks.
 * @param onWait told when another service is starting
 * @throws DataFolderError
 */
export async function openDataFolder(options: {
  path: string
  profile: string
  port: number
  user: ServiceUser | undefined
  onWait?: (line: string) => void
}): Promise<DataFolder> {
  const { path, profile, port, user } = options
  const layout = dataLayout(path)
  await prepareDataFolder(path, user)

  const { lock, ...held } = await lockFile(layout.servicePidFile(port))
  if (!lock) {
    const holder = 'heldBy' in held && held.heldBy ? `process ${held.heldBy}` : 'a process'
    throw new DataFolderError(
      'data_folder_in_use',
      `Another service (${holder}) runs on the data folder ${path} with port ${port}`,
      'End it with Ctrl-C or npm run stop, or set COINRACK_DATA to another folder. A further service on the same data needs a COINRACK_PORT of its own.',
    )
  }
  const starting = await waitForLock(layout.startingPidFile, options.onWait)
  try {
    await claimForProfile(layout.profile, profile)
    const id = await keptSecret(layout.id)
    return {
      path,
      id,
      secret: (name) => keptSecret(join(layout.secrets, name)),
      started: () => starting.release(),
      close: async () => {
        await starting.release()
        await lock.release()
      },
    }
  } catch (error) {
    await starting.release()
    await lock.release()
    throw error
  }
}

async function waitForLock(pidFile: string, onWait: (line: string) => void = () => {}): Promise<FileLock> {
  for (let first = true; ; first = false) {
    const taken = await lockFile(pidFile)
    if (taken.lock) return taken.lock
    if (first) onWait(`Another service (process ${taken.heldBy}) is starting on this data folder; waiting`)
    await sleep(WAIT_MS)
  }
}

/**
 * Makes the data folder and its private folders, with their modes.
 * @throws DataFolderError when the service user could not get there
 */
export async function prepareDataFolder(path: string, user: ServiceUser | undefined): Promise<void> {
  const { secrets, mail, run } = dataLayout(path)
  await mkdir(path, { recursive: true })
  await chmod(path, user ? 0o711 : 0o700)
  for (const folder of [secrets, mail]) await mkdir(folder, { recursive: true, mode: 0o700 })
  await mkdir(run, { recursive: true, mode: 0o755 })
  if (user) await demandReachable(path, user)
}

/** A folder under someone's private home looks fine to root, and cannot be entered by the service user. */
async function demandReachable(path: string, user: ServiceUser): Promise<void> {
  try {
    await runCommand('test', ['-x', path], { user })
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== 1) throw error
    throw new DataFolderError(
      'data_folder_unreachable',
      `The system user ${user.name}, which PostgreSQL and the machines run as, cannot enter ${path}`,
      'Set COINRACK_DATA to a folder outside of private home folders, such as /var/lib/coinrack.',
    )
  }
}

/** Test money and real money never share a ledger: a data folder keeps the profile that it was made with. */
async function claimForProfile(file: string, profile: string): Promise<void> {
  const owner = (await readOptional(file))?.trim() ?? profile
  if (owner !== profile)
    throw new DataFolderError(
      'data_folder_of_other_profile',
      `This data folder was made by the ${owner} profile, and the profile is now ${profile}`,
      'Set COINRACK_DATA to a new folder: balances of the demo are not money.',
    )
  await writeAtomically(file, `${profile}\n`, 0o644)
}
