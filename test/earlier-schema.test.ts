import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { FakeMachine } from '@coinrack/compute/fake/driver.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { createTestDatabase } from '@coinrack/server/database/testing.ts'
import { expectBooksToBalance } from '@coinrack/server/ledger/testing.ts'
import { restoreBackup } from '@coinrack/server/operator/backup/restore-backup.ts'
import { writeBackup } from '@coinrack/server/operator/backup/write-backup.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { billVps } from '@coinrack/server/vps/billing/bill-vps.ts'
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Customer,
  livedIn,
  livedInEnv,
  logIn,
  seenBy,
  startLivedInService,
} from './support/lived-in-service.ts'

/*
 * `schemas/` has the backup of a service that had been in use, of each schema that a later migration takes apart,
 * in plain, and what its customers saw. COINRACK_KEEP_SCHEMA=0246 in the environment of this test adds one of the current schema.
 */

const HOUR_MS = 3_600_000
const folder = new URL('./schemas/', import.meta.url)
const kept = (await readdir(folder))
  .filter((name) => name.endsWith('.backup'))
  .map((name) => name.slice(0, -7))

let work: string
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'coinrack-schemas-'))
})
afterAll(() => rm(work, { recursive: true, force: true }))

/** The customers, logged in. */
const customersOf = async (service: TestService) =>
  Object.fromEntries(
    await Promise.all(livedIn.map(async (email) => [email, await logIn(service, email)] as const)),
  ) as Record<(typeof livedIn)[number], Customer>

const seenByAll = async (customers: Record<string, Customer>) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(customers).map(async ([email, { get }]) => [email, await seenBy(get)] as const),
    ),
  )

describe.each(kept)('a service of schema %s', (name) => {
  let service: TestService
  let customers: Awaited<ReturnType<typeof customersOf>>
  let before: Kept
  beforeAll(async () => {
    before = JSON.parse(await readFile(new URL(`${name}.json`, folder), 'utf8'))
    service = await restored(await readFile(new URL(`${name}.backup`, folder)), before)
    customers = await customersOf(service)
  })
  afterAll(() => service?.close())

  const states = async ({ get }: Customer) => {
    const services: { hostname: string; status: string }[] = await get('/services')
    return Object.fromEntries(services.map(({ hostname, status }) => [hostname, status]))
  }
  const [active, stopped, suspended] = ['active', 'stopped', 'suspended']

  test('default: its customers see what they saw, and the books balance', async () => {
    expect(JSON.parse(JSON.stringify(await seenByAll(customers)))).toMatchObject(before.seen as object)
    await expectBooksToBalance(service.services.db)
  })

  test('behavior: what was under way is finished', async () => {
    const busy = customers['busy@rackmail.net']
    await service.reconcile()
    for (const id of service.driver.machines.keys()) {
      service.driver.finishBoot(id)
      service.guests.silence(id, false)
    }
    await service.reconcile()
    const on = [
      'web',
      'rescued',
      'grown',
      'new-name',
      'again',
      'restored',
      'locked',
      'addressed',
      'hourly',
      'data',
    ]
    expect(await states(busy)).toEqual({
      ...Object.fromEntries([...on, 'slow-boot'].map((hostname) => [hostname, active])),
      off: stopped,
    })
    expect(await states(customers['broke@rackmail.net'])).toEqual({ unpaid: suspended })
    const hostnames = [...service.driver.machines.values()].map(({ inside }) => inside.hostname)
    expect(hostnames).toContain('new-name')
  })

  test('behavior: a suspended VPS is paid and comes back, and what is not paid is suspended', async () => {
    const broke = customers['broke@rackmail.net']
    await service.credit(broke.accountId, 3_000_000n)
    await billVps(service.services)
    await service.reconcile()
    expect(await states(broke)).toEqual({ unpaid: active })
    service.clock.advance(HOUR_MS)
    await billVps(service.services)
    await service.reconcile()
    expect(await states(customers['busy@rackmail.net'])).toMatchObject({ web: active, hourly: suspended })
    await expectBooksToBalance(service.services.db)
  })
})

/** The state of a service beside the rows of its database. */
interface Kept {
  at: string
  /** The machines that run on its host. */
  machines: [string, Omit<FakeMachine, 'startedAt'> & { startedAt?: string }][]
  seen: unknown
}

/** The service on a database that this backup was restored into, at the moment of the backup. */
async function restored(lines: Buffer, { at, machines }: Kept): Promise<TestService> {
  const start = new Date(at)
  const database = await createTestDatabase()
  const db = openPool(database.url, { size: 4, onError: () => {} })
  await db.query('drop schema public cascade; create schema public')
  const identity = await generateX25519Identity()
  const encrypter = new Encrypter()
  encrypter.addRecipient(await identityToRecipient(identity))
  const file = join(work, 'backup.age')
  await writeFile(file, await encrypter.encrypt(gzipSync(lines)))
  await restoreBackup(
    { db, profile: 'demo', at: start, identity, keepSecrets: async () => {} },
    createReadStream(file),
  )
  await db.end()
  const service = await startTestService(
    { features: ['guestCommands'], env: livedInEnv },
    { database, start },
  )
  for (const [id, { startedAt, ...machine }] of machines)
    service.driver.adopt(id, { ...machine, startedAt: startedAt ? new Date(startedAt) : undefined })
  return service
}

if (process.env.COINRACK_KEEP_SCHEMA)
  test('keeps the current schema', () => keepSchema(process.env.COINRACK_KEEP_SCHEMA!))

/** Adds the current schema to those that are kept, under the number of its last migration. */
async function keepSchema(name: string): Promise<void> {
  const service = await startLivedInService()
  try {
    const at = service.clock.now()
    const identity = await generateX25519Identity()
    const file = join(work, 'new.age')
    const of = {
      databaseUrl: service.services.db.options.connectionString!,
      profile: 'demo',
      secrets: {},
      madeAt: at,
      proof: 'f'.repeat(20),
      recipient: await identityToRecipient(identity),
    }
    await writeBackup(of, createWriteStream(file))
    const seen = await seenByAll(await customersOf(service))
    const machines = [...service.driver.machines]
    const decrypter = new Decrypter()
    decrypter.addIdentity(identity)
    await writeFile(
      new URL(`${name}.backup`, folder),
      gunzipSync(await decrypter.decrypt(await readFile(file))),
    )
    await writeFile(new URL(`${name}.json`, folder), `${JSON.stringify({ at, machines, seen }, null, 1)}\n`)
  } finally {
    await service.close()
  }
}
