import { openPool } from '@coinrack/server/database/pool.ts'
import { expect, test } from 'vitest'
import { runFailovers } from './support/failover.ts'
import { startPostgresPair } from './support/postgres-pair.ts'

test('behavior: when the primary of PostgreSQL is killed under load, nothing that was answered is lost, and nobody is charged twice', async () => {
  const seed = Number(process.env.COINRACK_TEST_SEED ?? Date.now() & 0x7fffffff)
  console.log(`COINRACK_TEST_SEED=${seed}`)
  const report = await runFailovers({ buyers: 12, failovers: 1, seconds: 5, seed })
  expect(report.orders).toBeGreaterThan(10)
  expect(report.seconds[0]).toBeGreaterThan(0)
  expect(report.seconds[0]).toBeLessThan(10)
}, 240_000)

test('behavior: a primary that comes back, and does not know that another took its place, gets no connection', async () => {
  const pair = await startPostgresPair()
  const pool = openPool(pair.url, { size: 2, onError: () => {} })
  try {
    await pool.query('create table promoted as select 1 as timeline')
    await pair.killPrimary()
    await pair.promote()
    await pair.revive()
    const write = () => pool.query('update promoted set timeline = 2')
    await expect
      .poll(() =>
        write().then(
          ({ rowCount }) => rowCount,
          () => 0,
        ),
      )
      .toBe(1)
    const again = openPool(pair.url, { size: 1, onError: () => {} })
    expect((await again.query('select timeline from promoted')).rows).toEqual([{ timeline: 2 }])
    await again.end()
  } finally {
    await pool.end()
    await pair.stop()
  }
})
