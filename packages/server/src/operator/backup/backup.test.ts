import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basePath } from '@coinrack/contract/index.ts'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openPool } from '../../database/pool.ts'
import { snapshot } from '../../database/testing.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { createApp } from '../../process/app.ts'
import { createMetrics } from '../../process/metrics.ts'
import { createReadiness } from '../../process/readiness.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { createTestWorld } from '../../process/testing-world.ts'
import { type Installed, RefusedError } from '../command.ts'
import { runOperator } from '../run-operator.ts'
import { testOperator } from '../testing.ts'

const secrets = {
  folder: 'f'.repeat(64),
  server: 's'.repeat(64),
  deposit: 'd'.repeat(64),
  receipt: 'r'.repeat(64),
}

let service: TestService
let folder: string
let recipient: string
let keyFile: string
let file: string
let buyer: { token: string; accountId: string }
const databases: string[] = []
const pools: pg.Pool[] = []

beforeAll(async () => {
  service = await startTestService()
  folder = await mkdtemp(join(tmpdir(), 'coinrack-backup-'))
  const identity = await generateX25519Identity()
  recipient = await identityToRecipient(identity)
  keyFile = join(folder, 'key.txt')
  await writeFile(keyFile, `# created: today\n# public key: ${recipient}\n${identity}\n`)

  await service.services.db.query(
    `insert into installation (profile, data_folder, server_secret, deposit_secret) values ('demo', 'f', 's', 'd')`,
  )
  buyer = await service.customer(30_000_000n)
  await service.ask('POST', '/balance/topup', { token: buyer.token, body: { amount: 10 } })
  await service.ask('POST', '/orders', {
    token: buyer.token,
    body: { product: 'nano', os_id: 1, hostname: 'kept', months: 1 },
    headers: { 'idempotency-key': 'once' },
  })
  await service.ask('POST', '/tickets', {
    token: buyer.token,
    body: { subject: 'Line\nand \\. "quote"', body: '\\.\n\\N\t€ 💾\n\\.' },
  })
  file = join(folder, 'backup.age')
})
afterAll(async () => {
  for (const pool of pools) await pool.end()
  const admin = await administrator()
  for (const name of databases) await admin.query(`drop database ${name} with (force)`)
  await admin.end()
  await service?.close()
  await rm(folder, { recursive: true, force: true })
})

const urlOf = (database: string) => {
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${database}`
  return url.href
}
async function administrator() {
  const admin = new pg.Client({ connectionString: urlOf('postgres') })
  await admin.connect()
  return admin
}

/** A database without a schema. */
async function emptyDatabase(): Promise<pg.Pool> {
  const name = `restored_${randomBytes(6).toString('hex')}`
  const admin = await administrator()
  await admin.query(`create database ${name}`)
  await admin.end()
  databases.push(name)
  const pool = openPool(urlOf(name), { size: 4, onError: () => {} })
  pools.push(pool)
  return pool
}

const run = (installed: Partial<Installed>, ...words: string[]) =>
  runOperator(testOperator(service.services, { installed }), words)
const make = (to = file) => run({ secrets: async () => secrets }, 'backup', to, '--to', recipient)
async function bring(
  from: string,
  { db, key = keyFile, ...installed }: Partial<Installed> & { db?: pg.Pool; key?: string },
) {
  const bare = db ?? (await emptyDatabase())
  const kept: Record<string, string>[] = []
  const keepSecrets = async (given: Record<string, string>) => void kept.push(given)
  const outcome = await run(
    { bareDatabase: async () => bare, keepSecrets, ...installed },
    ...['restore', from, '--identity', key],
  )
  return { ...outcome, db: bare, kept }
}

test('default: what is restored is what was there, to the byte; tokens, addresses and counters go on', async () => {
  expect(await make()).toMatchObject({ exitCode: 0, stderr: '' })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const before = await snapshot(service.services.db)

  const { exitCode, stderr, stdout, db, kept } = await bring(file, {})
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/rows of \d+ tables, as they were at 2026-01-31T12:00:00.000Z/)
  expect(kept).toEqual([secrets])
  const after = await snapshot(db)
  // The backup records of itself only that it was begun.
  const { schema_migration: _then, backup: _one, ...rows } = before
  expect(after).toMatchObject(rows)
  await expectBooksToBalance(db)

  const world = await createTestWorld({ databaseUrl: db.options.connectionString!, clock: service.clock })
  try {
    const app = createApp(world.services, createReadiness(world.services), createMetrics())
    const ask = async (method: 'GET' | 'POST', path: string, payload?: object) =>
      (
        await app.inject({
          method,
          url: basePath + path,
          headers: { authorization: `Bearer ${buyer.token}` },
          ...(payload && { payload }),
        })
      ).json()
    const same = async (path: string) =>
      expect(await ask('GET', path)).toEqual((await service.ask('GET', path, { token: buyer.token })).body)
    for (const path of ['/account', '/balance', '/invoices', '/services', '/tickets']) await same(path)
    // The next place of a statement, and the next deposit address, are not ones that were given before.
    const order = { product: 'nano', os_id: 1, hostname: 'next', months: 1 }
    expect(await ask('POST', '/orders', order)).toMatchObject({ status: expect.any(String) })
    await expectBooksToBalance(db)
  } finally {
    await world.close()
  }
})

test('behavior: nothing of it can be read without the private key', async () => {
  const text = await readFile(file)
  for (const plain of [secrets.deposit, buyer.accountId, 'coinrack backup', 'ledger_entry'])
    expect(text.includes(plain)).toBe(false)
  expect(text.subarray(0, 21).toString()).toBe('age-encryption.org/v1')
})

test('behavior: it is of one moment, whatever is written meanwhile', async () => {
  const busy = join(folder, 'busy.age')
  let stop = false
  const spending = (async () => {
    while (!stop) await service.credit(buyer.accountId, 1n)
  })()
  expect(await make(busy)).toMatchObject({ exitCode: 0 })
  stop = true
  await spending
  const { exitCode, db } = await bring(busy, {})
  expect(exitCode).toBe(0)
  await expectBooksToBalance(db)
})

test('behavior: who has restored it proves so where it was made', async () => {
  const proven = join(folder, 'proven.age')
  await make(proven)
  const { db } = service.services
  const restored = (of: pg.Pool) => of.query('select from backup where restored_at is not null')
  expect((await restored(db)).rowCount).toBe(0)
  const { stdout, db: other } = await bring(proven, {})
  expect((await restored(other)).rowCount).toBe(1)

  const [, code] = /operator -- backup prove ([0-9a-f]{20})$/m.exec(stdout)!
  expect(await run({}, 'backup', 'prove', '0'.repeat(20))).toMatchObject({ exitCode: 1 })
  const done = await run({}, 'backup', 'prove', code!)
  expect(done).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('can be restored') })
  expect((await restored(db)).rowCount).toBe(1)
})

describe('error: a backup', () => {
  test('for nobody, or for what is no key', async () => {
    const nobody = await run({ secrets: async () => secrets }, 'backup', join(folder, 'none'))
    expect(nobody).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('--to') })
    const noKey = await run(
      { secrets: async () => secrets },
      'backup',
      join(folder, 'none'),
      '--to',
      'age1nobody',
    )
    expect(noKey).toMatchObject({ exitCode: 1, stderr: 'age1nobody is not an age public key' })
    await expect(stat(join(folder, 'none'))).rejects.toThrow('ENOENT')
  })

  test('over another file', async () => {
    expect(await make()).toMatchObject({ exitCode: 1, stderr: `${file} is there already` })
  })
})

describe('error: a restore', () => {
  const refused = (stderr: string | RegExp) => ({
    exitCode: 1,
    stderr: expect.stringMatching(stderr),
    kept: [],
  })

  test('with another key', async () => {
    const key = join(folder, 'other.txt')
    await writeFile(key, await generateX25519Identity())
    expect(await bring(file, { key })).toMatchObject(refused('not a whole backup that this key opens'))
  })

  test('without a key', async () => {
    expect(await bring(file, { key: file })).toMatchObject(refused('has no age private key'))
    expect(await bring(file, { key: join(folder, 'none') })).toMatchObject(refused('cannot be read'))
    expect(await run({}, 'restore', file)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--identity'),
    })
  })

  test.each([0.4, 0.999])('of a file that breaks off after %d of it: nothing stays', async (part) => {
    const broken = join(folder, `broken-${part}.age`)
    await writeFile(broken, await readFile(file))
    await truncate(broken, Math.floor((await stat(file)).size * part))
    const { db, ...outcome } = await bring(broken, {})
    expect(outcome).toMatchObject(refused('not a whole backup'))
    // The same database takes the whole one then.
    expect(await bring(file, { db })).toMatchObject({ exitCode: 0 })
  })

  test('of a file that was changed', async () => {
    const changed = join(folder, 'changed.age')
    const bytes = await readFile(file)
    bytes[Math.floor(bytes.length / 2)]! ^= 1
    await writeFile(changed, bytes)
    expect(await bring(changed, {})).toMatchObject(refused('not a whole backup'))
  })

  test('of no backup', async () => {
    expect(await bring(keyFile, {})).toMatchObject(refused('not a whole backup'))
    expect(await bring(join(folder, 'none'), {})).toMatchObject(refused('cannot be read'))
  })

  test('into a database that is in use', async () => {
    const { db } = service.services
    const before = await snapshot(db)
    expect(await bring(file, { db })).toMatchObject(refused('The database is in use'))
    expect(await snapshot(db)).toEqual(before)
  })

  test('of another profile', async () => {
    expect(await bring(file, { profile: 'production' })).toMatchObject(refused('is of the demo profile'))
  })

  test('into a folder with other secrets: no row stays', async () => {
    const keepSecrets = () => Promise.reject(new RefusedError('The data folder has another secret'))
    const { db, ...outcome } = await bring(file, { keepSecrets })
    expect(outcome).toMatchObject(refused('another secret'))
    expect((await db.query('select from account')).rowCount).toBe(0)
  })
})
