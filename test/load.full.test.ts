import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import { expect, test } from 'vitest'
import { runLoad } from './support/load.ts'

const BUYERS = 200

// On a PostgreSQL of its own that keeps what was committed, as an operator's does.
test(`behavior: ${BUYERS} buyers on two replicas for five minutes are charged once for each order`, async () => {
  const seed = Number(process.env.COINRACK_TEST_SEED ?? Date.now() & 0x7fffffff)
  console.log(`COINRACK_TEST_SEED=${seed}`)
  const folder = await mkdtemp('/tmp/coinrack-load-')
  const user = await serviceUser()
  await prepareDataFolder(folder, user)
  const postgres = await startEmbeddedPostgres({
    dataFolder: folder,
    cacheFolder: join(folder, 'cache'),
    user,
  })
  try {
    const pool = openPool(postgres.url, { size: 1, onError: () => {} })
    await migrate(pool)
    await pool.end()
    const { two } = await runLoad({
      databaseUrl: postgres.url,
      buyers: BUYERS,
      seconds: { one: 60, two: 300 },
      seed,
    })
    expect(two.writes).toBeGreaterThan(BUYERS)
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}, 1_800_000)
