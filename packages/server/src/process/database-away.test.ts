import { chmod, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basePath } from '@coinrack/contract/index.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { prepareDataFolder } from '../data-folder/data-folder.ts'
import { dataLayout } from '../data-folder/data-layout.ts'
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../database/embedded.ts'
import { keepEmbeddedPostgres } from '../database/keep-embedded.ts'
import { migrate } from '../database/migrate.ts'
import { openPool } from '../database/pool.ts'
import { inTransaction } from '../database/transaction.ts'
import { queueMail } from '../platform/queue-mail.ts'
import { createApp } from './app.ts'
import { createMetrics } from './metrics.ts'
import { createReadiness } from './readiness.ts'
import { runReconcilers } from './reconcilers.ts'
import { createTestWorld, type TestWorld } from './testing-world.ts'

/* The database of a real data folder: it is killed, and its disk is filled, under a service that takes requests. */

const user = await serviceUser()
const isRoot = user !== undefined
const DISK_MB = 256

let parent: string
let dataFolder: string
let cacheFolder: string
let world: TestWorld
let app: FastifyInstance
let token: string
let endReconcilers: () => Promise<void>

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'away-'))
  await chmod(parent, 0o711)
  cacheFolder = join(parent, 'cache')
  dataFolder = join(parent, 'data')
  await prepareDataFolder(dataFolder, user)
  // A small disk of its own, which only root can make.
  if (isRoot) {
    await runCommand('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=711`, 'tmpfs', dataFolder])
    await prepareDataFolder(dataFolder, user)
  }
  const { url } = await start()
  const clock = { now: () => new Date() }
  const db = openPool(url, { size: 1, onError: () => {} })
  await migrate(db)
  await db.end()
  world = await createTestWorld(
    { databaseUrl: url, clock },
    { env: { COINRACK_DATA: dataFolder, COINRACK_RATE_LOGIN: '10000/min' } },
  )
  const { services } = world
  app = createApp(services, createReadiness(services), createMetrics())
  endReconcilers = runReconcilers(services)
  // A machine that is busy may take longer for a connection than a request waits.
  token = await vi.waitFor(async () => {
    const reply = await ask('POST', '/auth/register', { email: 'first@rackmail.net' })
    expect(reply.statusCode).toBe(200)
    return reply.json().token
  }, 60_000)
}, 120_000)

afterAll(async () => {
  await endReconcilers()
  await app.close()
  await world.close()
  await stopEmbeddedPostgres(dataFolder)
  if (isRoot) await runCommand('umount', [dataFolder])
  await rm(parent, { recursive: true })
})

const start = () => startEmbeddedPostgres({ dataFolder, cacheFolder, user })
const ask = (method: 'GET' | 'POST', path: string, payload?: object) =>
  app.inject({
    method,
    url: path.startsWith('/') && !path.startsWith('/~') ? basePath + path : path.slice(2),
    headers: token ? { authorization: `Bearer ${token}` } : {},
    ...(payload ? { payload } : {}),
  })
const tool = (name: string, input: object = {}) =>
  app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-06-18',
      authorization: `Bearer ${token}`,
    },
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
  })
const postmaster = async () => Number(await readFile(dataLayout(dataFolder).postgresPidFile, 'utf8'))
const notReady = async () =>
  (await createReadiness(world.services)()).filter(({ ready }) => !ready).map(({ name }) => name)

test('error: while the database is away every surface says 503 and when to come again; then it is started, and all goes on', async () => {
  const { services } = world
  const woken = services.changes.wait('nothing that changes', 60_000)
  process.kill(await postmaster(), 'SIGKILL')
  await vi.waitFor(async () => expect((await ask('GET', '/balance')).statusCode).toBe(503), 10_000)

  const surfaces = await Promise.all([
    ask('GET', '/balance'),
    ask('GET', '/products'),
    ask('POST', '/orders', { product: 'nano', os_id: 1 }),
    ask('POST', '/auth/register', { email: 'other@rackmail.net' }),
    ask('POST', '/auth/login', { email: 'other@rackmail.net', password: 'a password' }),
    ask('POST', '/auth/otp/request', { email: 'other@rackmail.net' }),
    ask('GET', '/services/vps_01kabcdefghjkmnpqrstvwxyz0'),
    ask('GET', '/sandboxes/list'),
    ask('GET', '/events?after=0'),
    app.inject({ url: '/checkout/some-secret-or-other' }),
    app.inject({ url: '/checkout/some-secret-or-other.json' }),
  ])
  for (const reply of surfaces) {
    if (reply.statusCode === 404) continue
    expect(reply.statusCode).toBe(503)
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
    expect(reply.json()).toMatchObject({ code: 'unavailable', fix: expect.stringContaining('retry_after') })
  }
  expect(surfaces.filter(({ statusCode }) => statusCode === 404)).toEqual([])
  const called = await tool('get_balance')
  expect(called.body).toContain('unavailable')
  expect(called.body).toContain('cannot be reached at the moment')
  expect((await app.inject({ url: '/readyz' })).statusCode).toBe(503)
  expect(await notReady()).toContain('database')
  expect((await app.inject({ url: '/healthz' })).statusCode).toBe(200)

  const told: string[] = []
  onTestFinished(keepEmbeddedPostgres(dataFolder, start, (message) => told.push(message)))
  await vi.waitFor(async () => expect((await ask('GET', '/balance')).statusCode).toBe(200), 60_000)
  // A second time, now that it is watched.
  const killed = await postmaster()
  process.kill(killed, 'SIGKILL')
  await vi.waitFor(async () => expect(await postmaster()).not.toBe(killed), 60_000)
  await vi.waitFor(async () => expect((await ask('GET', '/balance')).statusCode).toBe(200), 60_000)
  expect(told.filter((line) => line === 'PostgreSQL has ended, and is started again')).toHaveLength(2)

  // A caller that waits for changes looks again, and hears of new ones; the work in the background goes on.
  expect(await woken).toBe(true)
  await vi.waitFor(async () => expect(await notReady()).toEqual([]), 20_000)
  await inTransaction(services.db, (tx) =>
    queueMail(tx, services, { to: 'first@rackmail.net', subject: 'Back', text: 'again' }),
  )
  await vi.waitFor(() => expect(world.mails.map(({ subject }) => subject)).toContain('Back'), 30_000)
}, 240_000)

test.runIf(isRoot)(
  'error: on a full disk a write is 503 and readiness says so; with room again it is done',
  async () => {
    onTestFinished(keepEmbeddedPostgres(dataFolder, start, () => {}))
    const filler = join(dataFolder, 'filler')
    const file = await open(filler, 'w')
    const block = Buffer.alloc(2 ** 20)
    for (;;) if ((await file.write(block).catch(() => undefined)) === undefined) break
    for (;;) if ((await file.write(block, 0, 4096).catch(() => undefined)) === undefined) break
    await file.close()
    expect(await notReady()).toContain('disk')
    const write = (index: number) => ask('POST', '/auth/otp/request', { email: `full${index}@rackmail.net` })
    let refused = await write(0)
    for (let index = 1; refused.statusCode === 200 && index < 500; index++) refused = await write(index)
    expect(refused.statusCode).toBe(503)
    // PostgreSQL ends itself when it is its own log that cannot grow, and is then away until there is room.
    expect(['storage_full', 'unavailable']).toContain(refused.json().code)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    await rm(filler)
    await vi.waitFor(async () => expect((await ask('GET', '/balance')).statusCode).toBe(200), 60_000)
    await vi.waitFor(async () => expect(await notReady()).toEqual([]), 20_000)
    expect((await ask('POST', '/auth/otp/request', { email: 'last@rackmail.net' })).statusCode).toBe(200)
  },
  240_000,
)
