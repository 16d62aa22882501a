import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from './migrate.ts'
import { openPool } from './pool.ts'
import { createTestDatabase } from './testing.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
let pool: pg.Pool
beforeAll(async () => {
  database = await createTestDatabase()
  pool = openPool(database.url, { size: 8, onError: () => {} })
})
afterAll(async () => {
  await pool.end()
  await database.drop()
})
const applied = async () =>
  (await pool.query('select name, hash, applied_at from schema_migration order by name')).rows

test('behavior: a second time does nothing, also of eight at once', async () => {
  const before = await applied()
  expect(before.length).toBeGreaterThan(3)
  await Promise.all(Array.from({ length: 8 }, () => migrate(pool)))
  expect(await applied()).toEqual(before)
})

test('behavior: eight replicas that begin on an empty database apply each file once', async () => {
  await pool.query('drop schema public cascade; create schema public')
  await Promise.all(Array.from({ length: 8 }, () => migrate(pool)))
  expect((await pool.query('select count(*)::int as accounts from account')).rows).toEqual([{ accounts: 0 }])
})

test('error: a file that was changed after it was applied', async () => {
  await pool.query(`update schema_migration set hash = 'of another text' where name like '0002%'`)
  await expect(migrate(pool)).rejects.toThrow(/0002_ledger\.sql was changed/)
})
