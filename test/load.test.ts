import { createTestDatabase } from '@coinrack/server/database/testing.ts'
import { expect, test } from 'vitest'
import { runLoad } from './support/load.ts'

test('behavior: buyers on two replicas are charged once for each order, and no order is lost', async () => {
  const seed = Number(process.env.COINRACK_TEST_SEED ?? Date.now() & 0x7fffffff)
  console.log(`COINRACK_TEST_SEED=${seed}`)
  const database = await createTestDatabase()
  try {
    const report = await runLoad({
      databaseUrl: database.url,
      buyers: 20,
      seconds: { one: 1, two: 6 },
      seed,
    })
    expect(report.one.writes).toBeGreaterThan(5)
    expect(report.two.writes).toBeGreaterThan(30)
  } finally {
    await database.drop()
  }
}, 180_000)
