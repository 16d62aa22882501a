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
  /** As `prepareDataFolder` leaves it. */
  dataFolder: string
  cacheFolder: string
  /** The user that PostgreSQL runs as; it refuses root. */
  user: ServiceUser | undefined
  /** Told what goes on when it takes longer than a moment. */
  onProgress?: (line: string) => void
  /** False for throw-away clusters of tests only: what was committed may be lost in a power cut. */
  durable?: boolean
}

export interface EmbeddedPostgres {
  /** Connects as the role `coinrack`, which owns the database `coinrack` and may create others. */
  url: string
  stop(): Promise<void>
}

const PORT = 5432
const UNFINISHED = 'unfinished-'
/** Longest path of a socket that the kernel takes is 107 bytes. */
const LONGEST_SOCKET_PATH = 107
/** After a crash PostgreSQL reads back what was committed; that can take a while. */
const READY_SECONDS = 120

const SETTINGS = {
  max_connections: '200',
  shared_buffers: '256MB',
  // Nobody but the owner of the folder can even ask.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  // Failed statements are told to who sent them; in the log they would only be noise, with customers' data in it.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  idle_in_transaction_session_timeout: '60s',
  timezone: 'UTC',
  jit: 'off',
}
const THROW_AWAY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/**
 * Brings up the PostgreSQL of a data folder, or adopts it when it runs: it outlives the service that started it.
 * It listens on a socket in a private folder only, and demands a password there.
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

/** Only the superuser may make roles. A cluster of an earlier version lacks this one. */
async function makeLedgerRole(url: string): Promise<void> {
  const client = oneConnection(url)
  await client.connect()
  await ensureLedgerRole(client, 'coinrack').finally(() => client.end())
}

/** Ends the PostgreSQL of a data folder, whoever started it: connections are cut, what was committed stays. */
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

/** Starts the server, on a new cluster when there is none. */
async function launch(options: LaunchOptions): Promise<void> {
  const { dataFolder, cacheFolder, user, onProgress, durable = true } = options
  const { postgres: folder, postgresPidFile } = dataLayout(dataFolder)
  // Children of a killed server may still be leaving.
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
 * Makes the cluster beside its place and moves it there, so that a cluster that is there is whole. The place beside is
 * a new one each time: the `initdb` of a killed starter may still be at work in its own.
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

/** The service does not work as the superuser. One-user mode needs no server, so it is done before the move. */
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
 * A killed server leaves files that name its process id, and would refuse to start when that id belongs to another
 * process by now. Our own lock was free a moment ago: no server of this folder runs.
 */
async function removeLeftovers(folder: string): Promise<void> {
  const unfinished = (await readdir(folder)).filter((name) => name.startsWith(UNFINISHED))
  const stale = [join('cluster', 'postmaster.pid'), `.s.PGSQL.${PORT}.lock`, `.s.PGSQL.${PORT}`]
  for (const name of [...unfinished, ...stale]) {
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 10 })
  }
}

/** True as soon as the server takes connections, false when it does not run. */
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
    // Not listening yet, still reading back its log, or going down.
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
