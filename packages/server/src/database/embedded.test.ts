import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { prepareDataFolder } from '../data-folder/data-folder.ts'
import { dataLayout } from '../data-folder/data-layout.ts'
import { startEmbeddedPostgres, stopEmbeddedPostgres } from './embedded.ts'

const user = await serviceUser()
const isRoot = user !== undefined

let parent: string
let cacheFolder: string
let dataFolder: string

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'pg-'))
  await chmod(parent, 0o711)
  cacheFolder = join(parent, 'cache')
})

afterAll(() => rm(parent, { recursive: true }))

beforeEach(async () => {
  dataFolder = await mkdtemp(join(parent, 'data-'))
  await prepareDataFolder(dataFolder, user)
})

afterEach(() => stopEmbeddedPostgres(dataFolder))

const start = () => startEmbeddedPostgres({ dataFolder, cacheFolder, user })
const postgresPid = async () => Number(await readFile(dataLayout(dataFolder).postgresPidFile, 'utf8'))

async function query(url: string, ...statements: string[]) {
  const client = new pg.Client({ connectionString: url })
  // The server may be killed while the client is connected.
  client.on('error', () => {})
  await client.connect()
  try {
    let rows: Record<string, unknown>[] = []
    for (const statement of statements) rows = (await client.query(statement)).rows
    return rows
  } finally {
    await client.end().catch(() => {})
  }
}

test('default: a real PostgreSQL that writes through, with a role that is no superuser', async () => {
  const { url } = await start()
  const [row] = await query(
    url,
    `select current_setting('server_version_num')::int >= 180000 as version,
            current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
            current_setting('data_checksums') as checksums, current_setting('server_encoding') as encoding,
            (select rolsuper from pg_roles where rolname = current_user) as super`,
  )
  expect(row).toEqual({
    version: true,
    fsync: 'on',
    commit: 'on',
    checksums: 'on',
    encoding: 'UTF8',
    super: false,
  })
})

test('behavior: tests can clone databases from a template', async () => {
  const { url } = await start()
  await query(url, 'create table t (n int)', 'insert into t values (7)')
  await query(url.replace('/coinrack?', '/postgres?'), 'create database copy template coinrack')
  expect(await query(url.replace('/coinrack?', '/copy?'), 'select n from t')).toEqual([{ n: 7 }])
})

test('behavior: state survives a stop, and the password stays', async () => {
  const first = await start()
  await query(first.url, 'create table t (n int)', 'insert into t values (7)')
  await first.stop()
  const second = await start()
  expect(second.url).toBe(first.url)
  expect(await query(second.url, 'select n from t')).toEqual([{ n: 7 }])
})

test('behavior: one that runs is adopted', async () => {
  const first = await start()
  const pid = await postgresPid()
  const second = await start()
  expect(second.url).toBe(first.url)
  expect(await postgresPid()).toBe(pid)
})

test('behavior: what was committed survives SIGKILL of the server', async () => {
  const { url } = await start()
  await query(url, 'create table t (n int)', 'insert into t values (7)')
  process.kill(await postgresPid(), 'SIGKILL')
  const again = await start()
  expect(await query(again.url, 'select n from t')).toEqual([{ n: 7 }])
})

test('behavior: a stale lock that names a live process of the same user does not block', async () => {
  const { stop } = await start()
  await stop()
  const sleeper = spawn('sleep', ['60'], user && { uid: user.uid, gid: user.gid })
  const lock = join(dataLayout(dataFolder).postgres, 'cluster', 'postmaster.pid')
  await writeFile(lock, `${sleeper.pid}\n${join(dataLayout(dataFolder).postgres, 'cluster')}\n0\n5432\n\n\n`)
  const { url } = await start()
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  sleeper.kill()
})

test('behavior: the starter may be killed at any moment', async () => {
  const module = (name: string) => JSON.stringify(join(import.meta.dirname, name))
  const script = `const { startEmbeddedPostgres } = await import(${module('embedded.ts')})
    await startEmbeddedPostgres(${JSON.stringify({ dataFolder, cacheFolder, user })})
    setInterval(() => {}, 1000)`
  for (const milliseconds of [300, 600, 900, 1200, 1500, 1800]) {
    const starter = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' })
    await sleep(milliseconds)
    expect(starter.exitCode).toBeNull()
    starter.kill('SIGKILL')
    await once(starter, 'exit')
  }
  const { url } = await start()
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  expect((await readdir(dataLayout(dataFolder).postgres)).toSorted()).toEqual([
    '.s.PGSQL.5432',
    '.s.PGSQL.5432.lock',
    'cluster',
    'postgres.log',
  ])
})

test('behavior: others on the machine get in neither by file nor without the password', async () => {
  const { url } = await start()
  const { postgres, postgresPassword } = dataLayout(dataFolder)
  expect(((await stat(postgres)).mode & 0o777).toString(8)).toBe('700')
  expect(((await stat(postgresPassword)).mode & 0o777).toString(8)).toBe('600')
  const withWrongPassword = url.replace(/:[0-9a-f]{64}@/, ':wrong@')
  await expect(query(withWrongPassword, 'select 1')).rejects.toMatchObject({ code: '28P01' })
  const [{ tcp } = {}] = await query(url, `select current_setting('listen_addresses') as tcp`)
  expect(tcp).toBe('')
})

test.runIf(isRoot)('behavior: as root, runs as the service user', async () => {
  await start()
  const { stdout } = await runCommand('ps', ['-o', 'uid=', '-p', String(await postgresPid())])
  expect(Number(stdout)).toBe(user?.uid)
})

test('error: a data folder whose path is too long for a socket', async () => {
  const long = join(dataFolder, 'x'.repeat(100))
  await expect(startEmbeddedPostgres({ dataFolder: long, cacheFolder, user })).rejects.toThrow(
    /too long.*COINRACK_DATA/,
  )
})
