import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { adoptDetached, startDetached, stopDetached } from '@coinrack/host/detached-process.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import type { ServiceUser } from '@coinrack/host/service-user.ts'
import { dataLayout } from '../data-folder/data-layout.ts'
import { keptSecret } from '../data-folder/kept-secret.ts'
import { ensureLedgerRole } from './migrate.ts'
import { oneConnection } from './pool.ts'
import { postgresBinaries } from './postgres-binaries.ts'

export interface EmbeddedPostgresOptions {
  /** The data folder as `prepareDataFolder` leaves it. */
  dataFolder: string
  cacheFolder: string
  /** The user that PostgreSQL runs as; it refuses root. */
  user: ServiceUser | undefined
  /** Receives progress messages when the start takes longer than a moment. */
  onProgress?: (line: string) => void
  /** False only for disposable clusters of tests: committed data may then be lost in a power cut. */
  durable?: boolean
}

export interface EmbeddedPostgres {
  /** Connects as the role `coinrack`, which owns the database `coinrack` and may create others. */
  url: string
  stop(): Promise<void>
}

const PORT = 5432
const UNFINISHED = 'unfinished-'
/** The longest path in bytes that the kernel accepts for a socket. */
const LONGEST_SOCKET_PATH = 107
/** After a crash PostgreSQL replays committed data, which can take a while. */
const READY_SECONDS = 120

const SETTINGS = {
  max_connections: '200',
  shared_buffers: '256MB',
  // Only the owner of the folder can even connect.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  // Clients are told of their failed statements; in the log these would only be noise that contains customers' data.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  idle_in_transaction_session_timeout: '60s',
  timezone: 'UTC',
  jit: 'off',
}
const THROW_AWAY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * Starts the PostgreSQL of a data folder, or adopts it when it is running: it outlives the service that started it.
 * It listens only on a socket in a private folder, and requires a password there.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { dataFolder, onProgress = () => {} } = options
  const { postgres: folder, postgresPidFile, postgresPassword } = dataLayout(dataFolder)
  const password = await keptSecret(postgresPassword)
  demandShortPath(folder)

  const urlOf = (role: string, database: string) =>
    `postgresql://${role}:${password}@localhost:${PORT}/${database}?host=${encodeURIComponent(folder)}`
  const isReady = () => becomesReady(urlOf('postgres', 'postgres'), postgresPidFile, onProgress)

  if (!(await isReady())) {
    await launch({ ...options, password, onProgress })
    if (!(await isReady()))
      throw new Error(`PostgreSQL ended at once:\n${await tail(join(folder, 'postgres.log'))}`)
  }
  await makeLedgerRole(urlOf('postgres', 'postgres'))
  return { url: urlOf('coinrack', 'coinrack'), stop: () => stopEmbeddedPostgres(dataFolder) }
}

/** Creates the ledger role as the superuser, who alone may create roles. A cluster of an earlier version lacks it. */
async function makeLedgerRole(url: string): Promise<void> {
  const client = oneConnection(url)
  await client.connect()
  await ensureLedgerRole(client, 'coinrack').finally(() => client.end())
}

/** Ends the PostgreSQL of a data folder, whichever process started it: connections are cut, committed data stays. */
export async function stopEmbeddedPostgres(dataFolder: string): Promise<void> {
  await stopDetached(dataLayout(dataFolder).postgresPidFile, { signal: 'SIGINT', timeoutMs: 30_000 })
}

function demandShortPath(folder: string): void {
  const socket = join(folder, `.s.PGSQL.${PORT}`)
  if (Buffer.byteLength(socket) <= LONGEST_SOCKET_PATH) return
  throw new Error(
    `The path of the data folder is too long for a socket (${socket}): set COINRACK_DATA to a shorter one, or DATABASE_URL`,
  )
}

type LaunchOptions = EmbeddedPostgresOptions & { password: string; onProgress: (line: string) => void }

/** Starts the server, after creating a cluster when there is none. */
async function launch(options: LaunchOptions): Promise<void> {
  const { dataFolder, cacheFolder, user, onProgress, durable = true } = options
  const { postgres: folder, postgresPidFile } = dataLayout(dataFolder)
  // Child processes of a killed server may still be exiting.
  await stopDetached(postgresPidFile)
  const binaries = await postgresBinaries(cacheFolder, onProgress)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  if (user) await chown(folder, user.uid, user.gid)
  await initOnce(folder, binaries, options)
  await removeLeftovers(folder)
  const settings = durable ? SETTINGS : { ...SETTINGS, ...THROW_AWAY }
  await startDetached({
    name: 'PostgreSQL',
    command: join(binaries, 'bin', 'postgres'),
    args: [
      ...['-D', join(folder, 'cluster'), '-k', folder, '-p', String(PORT)],
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    env: { LC_ALL: 'C' },
    pidFile: postgresPidFile,
    logFile: join(folder, 'postgres.log'),
    user,
  })
}

/**
 * Creates the cluster in a temporary folder and moves it into place, so that a cluster in place is complete. The
 * temporary folder is a new one each time, because the `initdb` of a killed starter may still be writing to its own.
 */
async function initOnce(folder: string, binaries: string, options: LaunchOptions): Promise<void> {
  const { user, password, onProgress, durable = true } = options
  const names = await readdir(folder)
  if (names.includes('cluster')) return

  onProgress('Making the database')
  const workshop = await mkdtemp(join(folder, UNFINISHED))
  const cluster = join(workshop, 'cluster')
  const passwordFile = join(workshop, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (user) for (const path of [workshop, passwordFile]) await chown(path, user.uid, user.gid)
  const args = ['--pgdata', cluster, '--username', 'postgres', '--pwfile', passwordFile]
  const access = ['--auth-local=scram-sha-256', '--auth-host=reject']
  const language = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const sync = durable ? [] : ['--no-sync']
  await runCommand(join(binaries, 'bin', 'initdb'), [...args, ...access, ...language, ...sync], {
    env: { LC_ALL: 'C' },
    cwd: folder,
    user,
  })
  await createRole(cluster, binaries, options)
  await rename(cluster, join(folder, 'cluster'))
}

/** Creates the role of the service, which is no superuser. Single-user mode needs no server, so this precedes the move. */
async function createRole(cluster: string, binaries: string, options: LaunchOptions): Promise<void> {
  const { password, user } = options
  await runCommand(join(binaries, 'bin', 'postgres'), ['--single', '-D', cluster, 'postgres'], {
    input: `create role coinrack login createdb password '${password}'\ncreate database coinrack owner coinrack\n`,
    env: { LC_ALL: 'C' },
    cwd: cluster,
    user,
  })
}

/**
 * Removes the files in which a killed server left its process id: a new one would refuse to start when that id now
 * belongs to another process. Our own lock was free a moment ago, so no server of this folder is running.
 */
async function removeLeftovers(folder: string): Promise<void> {
  const unfinished = (await readdir(folder)).filter((name) => name.startsWith(UNFINISHED))
  const stale = [join('cluster', 'postmaster.pid'), `.s.PGSQL.${PORT}.lock`, `.s.PGSQL.${PORT}`]
  for (const name of [...unfinished, ...stale]) {
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 10 })
  }
}

/** Returns true as soon as the server accepts connections, and false when it is not running. */
async function becomesReady(
  url: string,
  pidFile: string,
  onProgress: (line: string) => void,
): Promise<boolean> {
  const started = performance.now()
  let told = 0
  while (await adoptDetached(pidFile)) {
    const error = await connectionError(url)
    if (error === undefined) return true
    // The server is not listening yet, still replaying its log, or shutting down.
    if (!['ENOENT', 'ECONNREFUSED', 'ECONNRESET', '57P03'].includes(error.code ?? '')) throw error
    const seconds = Math.floor((performance.now() - started) / 1000)
    if (seconds > READY_SECONDS) throw new Error(`PostgreSQL takes no connections: ${error.message}`)
    if (seconds > told) {
      told = seconds
      onProgress(`Waiting for PostgreSQL (${seconds} s)`)
    }
    await sleep(20)
  }
  return false
}

const tail = (file: string) =>
  readFile(file, 'utf8').then(
    (text) => text.slice(-2_000),
    () => '',
  )

async function connectionError(url: string): Promise<(Error & { code?: string }) | undefined> {
  const client = oneConnection(url)
  try {
    await client.connect()
    await client.query('select 1')
    return undefined
  } catch (error) {
    return error as Error
  } finally {
    await client.end().catch(() => {})
  }
}
