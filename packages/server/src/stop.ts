import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { adoptDetached, stopDetached } from '@coinrack/host/detached-process.ts'
import { loadConfig } from './config.ts'
import { dataLayout } from './data-layout.ts'
import { stopEmbeddedPostgres } from './database/embedded.ts'
import { readConfigFile } from './read-config-file.ts'

/*
 * `npm run stop`: ends the service of the data folder and every program that it left running there. State stays.
 */

/** A service that ends takes its requests in flight to their end. */
const SERVICE_TIMEOUT_MS = 30_000
const PROGRAM_TIMEOUT_MS = 20_000

const { dataFolder } = loadConfig(process.env, readConfigFile)
const { run, servicePidFile, postgresPidFile } = dataLayout(dataFolder)

/** The pid files below `run`, those of one kind of program together; the service's own stands for itself. */
async function pidFilesByKind(): Promise<Map<string, string[]>> {
  const names = await readdir(run, { recursive: true }).catch(() => [])
  const files = names.filter((name) => name.endsWith('.pid')).map((name) => join(run, name))
  return Map.groupBy(
    files.filter((file) => file !== servicePidFile && file !== postgresPidFile),
    (file) => file.slice(run.length + 1).split('/')[0]!,
  )
}

async function stop(kind: string, pidFile: string, end: () => Promise<void>): Promise<void> {
  const pid = await adoptDetached(pidFile)
  await end()
  if (pid) console.log(`Ended ${kind} ${basename(pidFile, '.pid')} (process ${pid})`)
}

// The service first, so that nothing is started again; the database last, because the others may still be writing.
await stop('the', servicePidFile, () => stopDetached(servicePidFile, { timeoutMs: SERVICE_TIMEOUT_MS }))
const kinds = await pidFilesByKind()
const order = [...kinds.keys()].toSorted((a, b) => Number(a === 'chain') - Number(b === 'chain'))
for (const kind of order) {
  const pidFiles = kinds.get(kind)!
  await Promise.all(
    pidFiles.map((file) => stop(kind, file, () => stopDetached(file, { timeoutMs: PROGRAM_TIMEOUT_MS }))),
  )
}
await stop('the database', postgresPidFile, () => stopEmbeddedPostgres(dataFolder))
console.log(`Nothing runs on ${dataFolder} any more; npm start goes on from here.`)
