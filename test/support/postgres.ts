import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { prepareDataFolder } from '@coinrack/server/data-folder/data-folder.ts'
import { startEmbeddedPostgres } from '@coinrack/server/database/embedded.ts'
import { migrate } from '@coinrack/server/database/migrate.ts'
import { openPool } from '@coinrack/server/database/pool.ts'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of a server whose databases are copies of the one it names, each for one test. */
    postgresUrl: string
  }
}

/**
 * One PostgreSQL for the whole run, with the schema in a template database. Its folder is short and open to
 * the service user, which a temporary folder may not be.
 */
export default async function startPostgres(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp('/tmp/coinrack-test-')
  const user = await serviceUser()
  await prepareDataFolder(folder, user)
  const postgres = await startEmbeddedPostgres({
    dataFolder: folder,
    cacheFolder: join(folder, 'cache'),
    user,
    durable: false,
  })
  const pool = openPool(postgres.url, { size: 1, onError: () => {} })
  await migrate(pool)
  await pool.end()
  project.provide('postgresUrl', postgres.url)
  return async () => {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
