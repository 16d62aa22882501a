import { afterAll, beforeAll, expect, test } from 'vitest'
import { demandSameInstallation } from './installation.ts'
import { openPool } from './pool.ts'
import { createTestDatabase } from './testing.ts'

const own = { profile: 'demo', folderId: 'one', serverSecret: 's'.repeat(32), depositSecret: 'd'.repeat(32) }

let database: Awaited<ReturnType<typeof createTestDatabase>>
let db: ReturnType<typeof openPool>
beforeAll(async () => {
  database = await createTestDatabase()
  db = openPool(database.url, { size: 8, onError: () => {} })
  // Eight services at once make the first installation.
  await Promise.all(Array.from({ length: 8 }, () => demandSameInstallation(db, own)))
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

test('default: whoever is the same is let in again', async () => {
  await demandSameInstallation(db, own)
})

test.each([
  ['another profile', { profile: 'production' }, /belongs to the demo profile/],
  ['another deposit secret', { depositSecret: 'x'.repeat(32) }, /COINRACK_DEPOSIT_SECRET/],
  ['another server secret', { serverSecret: 'x'.repeat(32) }, /COINRACK_SERVER_SECRET/],
  ['another data folder', { folderId: 'two' }, /another data folder/],
])('error: %s', async (_what, change, message) => {
  await expect(demandSameInstallation(db, { ...own, ...change })).rejects.toThrow(message)
  await demandSameInstallation(db, own)
})

test('behavior: a replica without machines has no data folder that counts, and the first one with machines chooses it', async () => {
  const without = { ...own, folderId: undefined }
  await demandSameInstallation(db, without)
  await db.query('delete from installation')
  await demandSameInstallation(db, without)
  await demandSameInstallation(db, own)
  await demandSameInstallation(db, without)
  await expect(demandSameInstallation(db, { ...own, folderId: 'two' })).rejects.toThrow(/another data folder/)
})

test('behavior: no secret is in the database', async () => {
  const { rows } = await db.query<{ row: string }>('select installation::text as row from installation')
  expect(rows).toHaveLength(1)
  expect(rows[0]!.row).not.toContain(Buffer.from(own.serverSecret).toString('hex'))
  expect(rows[0]!.row).not.toContain(own.depositSecret)
})
