import { appendFile, chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startDetached, stopDetached } from '@coinrack/host/detached-process.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { oneConnection } from '@coinrack/server/database/pool.ts'
import { postgresBinaries } from '@coinrack/server/database/postgres-binaries.ts'

const READY_MS = 30_000
const SETTINGS = {
  max_connections: '100',
  shared_buffers: '64MB',
  unix_socket_directories: '',
  hot_standby: 'on',
  wal_keep_size: '256MB',
  log_min_messages: 'log',
}

/** A primary of PostgreSQL with a standby that has every commit before it is acknowledged. */
export interface PostgresPair {
  /** Names both servers, and reaches the one that takes writes. */
  url: string
  /** Ends the primary with all its processes by SIGKILL. */
  killPrimary(): Promise<void>
  /** Lets the standby take writes. @returns once it does */
  promote(): Promise<void>
  /** Starts the server that was killed as what it was, so that there are two that take writes. */
  revive(): Promise<void>
  /** Makes the server that was killed a standby of the new primary, from a copy of that. */
  rejoin(): Promise<void>
  stop(): Promise<void>
}

interface Server {
  name: string
  port: number
  cluster: string
  pid: number
}

/** Starts both on loopback, each in a cluster of its own, from the binaries that the service brings along. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = await mkdtemp('/tmp/coinrack-pair-')
  await chmod(folder, 0o711)
  const user = await serviceUser()
  const binaries = await postgresBinaries(join(folder, 'cache'), () => {})
  const home = join(folder, 'clusters')
  await mkdir(home)
  if (user) await chown(home, user.uid, user.gid)
  const as = user ? { user } : {}
  const env = { LC_ALL: 'C' }

  const server = async (name: string): Promise<Server> => ({
    name,
    port: await freePort(),
    cluster: join(home, name),
    pid: 0,
  })
  let [primary, standby] = [await server('one'), await server('two')]
  const urlOf = ({ port }: Server, database = 'coinrack') =>
    `postgres://postgres@127.0.0.1:${port}/${database}`

  const run = async (which: Server, more: Record<string, string> = {}) => {
    which.pid = await startDetached({
      name: 'PostgreSQL',
      command: join(binaries, 'bin', 'postgres'),
      args: [
        ...['-D', which.cluster, '-h', '127.0.0.1', '-p', String(which.port)],
        ...Object.entries({ ...SETTINGS, ...more }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      env,
      pidFile: join(folder, `${which.name}.pid`),
      logFile: join(folder, `${which.name}.log`),
      ...as,
    })
  }
  const ask = async <R extends Record<string, unknown>>(which: Server, ...statements: string[]) => {
    const client = oneConnection(urlOf(which, 'postgres'))
    await client.connect()
    try {
      let rows: R[] = []
      for (const statement of statements) rows = (await client.query<R>(statement)).rows
      return rows
    } finally {
      await client.end().catch(() => {})
    }
  }
  const until = async (which: Server, statement: string) => {
    const end = performance.now() + READY_MS
    for (;;) {
      const rows = await ask<{ ok: boolean }>(which, statement).catch(() => [])
      if (rows[0]?.ok) return
      if (performance.now() > end) throw new Error(await readFile(join(folder, `${which.name}.log`), 'utf8'))
      await sleep(20)
    }
  }
  const follow = async () => {
    await writeFile(join(standby.cluster, 'standby.signal'), '')
    await run(standby, {
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres application_name=standby`,
    })
    await until(primary, `select count(*) = 1 as ok from pg_stat_replication where state = 'streaming'`)
    await ask(primary, `alter system set synchronous_standby_names = 'standby'`, 'select pg_reload_conf()')
    await until(primary, `select bool_and(sync_state = 'sync') as ok from pg_stat_replication`)
  }
  const copy = () => runCommand('cp', ['--archive', primary.cluster, standby.cluster])

  const initdb = ['--pgdata', primary.cluster, '--username', 'postgres', '--auth=trust', '--encoding=UTF8']
  await runCommand(join(binaries, 'bin', 'initdb'), [...initdb, '--locale=C'], { env, cwd: home, ...as })
  await run(primary)
  await until(primary, 'select true as ok')
  await ask(primary, 'create database coinrack')
  await stopDetached(join(folder, 'one.pid'), { signal: 'SIGINT' })
  await copy()
  await run(primary)
  await until(primary, 'select true as ok')
  await follow()

  return {
    url: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/coinrack`,
    async killPrimary() {
      const children = await readFile(`/proc/${primary.pid}/task/${primary.pid}/children`, 'utf8')
      for (const pid of [primary.pid, ...children.trim().split(' ').map(Number)]) kill(pid)
      await stopDetached(join(folder, `${primary.name}.pid`), { signal: 'SIGKILL' })
    },
    async promote() {
      // It was copied with the settings of the primary, which waits for a standby.
      await ask(standby, 'select pg_promote()')
      await ask(standby, 'alter system reset synchronous_standby_names', 'select pg_reload_conf()')
      ;[primary, standby] = [standby, primary]
    },
    async revive() {
      await run(standby)
      await until(standby, 'select not pg_is_in_recovery() as ok')
    },
    async rejoin() {
      await rm(standby.cluster, { recursive: true })
      const client = oneConnection(urlOf(primary, 'postgres'))
      await client.connect()
      await client.query(`select pg_backup_start('rejoin', true)`)
      // Files that come and go while they are copied are brought up to date by the log.
      await copy().catch(() => {})
      const { rows } = await client.query<{ labelfile: string }>(
        'select labelfile from pg_backup_stop(false)',
      )
      await client.end()
      await rm(join(standby.cluster, 'postmaster.pid'), { force: true })
      await appendFile(join(standby.cluster, 'backup_label'), rows[0]!.labelfile)
      if (user) await chown(join(standby.cluster, 'backup_label'), user.uid, user.gid)
      await follow()
    },
    async stop() {
      for (const { name } of [standby, primary])
        await stopDetached(join(folder, `${name}.pid`), { signal: 'SIGQUIT' })
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended with the one before it.
  }
}
