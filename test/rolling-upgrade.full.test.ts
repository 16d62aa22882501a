import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { createTestDatabase } from '@coinrack/server/database/testing.ts'
import { expect, test } from 'vitest'
import { startLoadBalancer } from './support/load-balancer.ts'
import { openReplicas } from './support/replicas.ts'
import { startSteadyLoad } from './support/steady-load.ts'
import { versionBefore } from './support/version-before.ts'

/* Two replicas of the version before become two of this one, one after the other, under load and on one database. */

const SEEN_MS = 3_000

test('behavior: the schema changes under the version before, each replica is replaced, and the service refuses nothing', async () => {
  const before = await versionBefore()
  const database = await createTestDatabase()
  const db = openPool(database.url, { size: 2, onError: () => {} })
  await db.query('drop schema public cascade; create schema public')
  await migrate(db, { only: before.migrations })
  const settings = { COINRACK_RATE_DEFAULT: '100000000/s', COINRACK_DRAIN_SECONDS: '2' }
  const replicas = await openReplicas(database.url, settings, before.program)
  const [one, two] = [await replicas.start(), await replicas.start()]
  const balancer = await startLoadBalancer('haproxy', [one.origin, two.origin])
  const load = await startSteadyLoad(balancer.origin)
  try {
    await load.answered(100)
    await migrate(db)
    await load.answered(100)
    expect(load.failed).toEqual({})
    replicas.useVersion(join(import.meta.dirname, 'support/replica.ts'))
    for (const replica of [two, one]) {
      expect(replica.complaints()).toBe('')
      await replica.end()
      await load.answered(50)
      const atTheEnd = { ...load.failed }
      await replica.startAgain()
      await sleep(SEEN_MS)
      await load.answered(100)
      expect(load.failed).toEqual(atTheEnd)
    }
    const failed = await load.stop()
    console.log(`Requests that failed: ${JSON.stringify(failed)}`)
    // The version before does not drain: at its end it refuses what still reaches it, with a 503 that has no code, or hangs up.
    const atItsEnd = /^503 (undefined|<html>)|^socket hang up$/
    expect(Object.keys(failed).filter((told) => !atItsEnd.test(told))).toEqual([])
    expect(Object.values(failed).reduce((sum, count) => sum + count, 0)).toBeLessThan(20)
  } finally {
    await load.stop()
    await balancer.stop()
    await replicas.stop()
    await db.end()
    await database.drop()
    await before.remove()
  }
}, 180_000)
