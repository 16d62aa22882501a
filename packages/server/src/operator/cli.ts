import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { serviceUser } from '@coinrack/host/service-user.ts'
import type pg from 'pg'
import { configuredChains } from '../chain/configured-chains.ts'
import { type Config, ConfigError, loadConfig, settingTexts } from '../config/config.ts'
import { hostsAddresses } from '../config/hosts-addresses.ts'
import { readCatalog } from '../config/read-catalog.ts'
import { readConfigFile } from '../config/read-config-file.ts'
import { DataFolderError, prepareDataFolder } from '../data-folder/data-folder.ts'
import { dataLayout } from '../data-folder/data-layout.ts'
import { readOptional, writeAtomically } from '../data-folder/kept-secret.ts'
import { startEmbeddedPostgres } from '../database/embedded.ts'
import { migrate } from '../database/migrate.ts'
import { openPool } from '../database/pool.ts'
import { idMaker } from '../platform/services.ts'
import { type ImagePlaces, type Installed, RefusedError } from './command.ts'
import { runOperator } from './run-operator.ts'

/*
 * `npm run operator -- <command>`: what an operator does directly on the database and the files of the service.
 */

/** The user that inspects untrusted images: it owns nothing on this host, and no machine runs as it. */
const NOBODY = { uid: 65534, gid: 65534 }

async function main(): Promise<void> {
  const config = loadConfig(process.env, readConfigFile)
  const clock = { now: () => new Date() }
  const random = { bytes: (length: number) => randomBytes(length) }
  // Beside the result, which programs read.
  const say = (line: string) => console.error(line)
  let pool: Promise<pg.Pool> | undefined
  const operator = {
    db: () => {
      pool ??= openDatabase(config)
      return pool
    },
    hostsAddresses: hostsAddresses(config),
    installed: installed(
      config,
      () => {
        pool ??= openBareDatabase(config)
        return pool
      },
      say,
    ),
    catalog: (path = config.catalogFile) => readCatalog(path),
    clock,
    random,
    images: () => openImages(config),
    say,
    newId: idMaker(clock, random),
  }
  try {
    const { exitCode, stdout, stderr } = await runOperator(operator, process.argv.slice(2))
    if (stdout) console.log(stdout)
    if (stderr) console.error(stderr)
    process.exitCode = exitCode
  } finally {
    await (await pool)?.end()
  }
}

/** Images lie among the service's data, and are made in its cache. */
async function openImages({ dataFolder, cacheFolder }: Config): Promise<ImagePlaces> {
  await prepareDataFolder(dataFolder, await serviceUser())
  const { addedImages, baseImages, machines } = dataLayout(dataFolder)
  return {
    folder: addedImages,
    baseImages,
    overlays: [machines, join(dataFolder, 'kept-disks')],
    downloads: join(cacheFolder, 'downloads'),
    reader: process.getuid?.() === 0 ? NOBODY : undefined,
  }
}

/**
 * The database of the service: the one that runs, or else started for this and left to the service, which may be
 * starting on it by now. `npm run stop` ends it.
 */
async function openDatabase(config: Config): Promise<pg.Pool> {
  const pool = await openBareDatabase(config)
  await migrate(pool)
  return pool
}

async function openBareDatabase({ dataFolder, cacheFolder, databaseUrl }: Config): Promise<pg.Pool> {
  const user = await serviceUser()
  if (!databaseUrl) await prepareDataFolder(dataFolder, user)
  const url = databaseUrl ?? (await startEmbeddedPostgres({ dataFolder, cacheFolder, user })).url
  return openPool(url, { size: 2, onError: (error) => console.error(error.message) })
}

/** The secrets that a data folder keeps where no setting has them, but for the password of its own PostgreSQL. */
function installed(
  config: Config,
  bareDatabase: () => Promise<pg.Pool>,
  say: (line: string) => void,
): Installed {
  const { secrets: folder } = dataLayout(config.dataFolder)
  const set = {
    server: config.serverSecret,
    deposit: config.depositSecret,
    receipt: config.receiptSecret,
  }
  const kept = async (name: string) => (await readOptional(join(folder, name)))?.trim()
  return {
    profile: config.profile,
    dataFolder: config.dataFolder,
    prepare: async () => prepareDataFolder(config.dataFolder, await serviceUser()),
    shared: async () => ({ texts: settingTexts(process.env, readConfigFile), files: config }),
    bareDatabase,
    async chains() {
      const { settings } = await configuredChains(config, await serviceUser(), say)
      return settings
    },
    async secrets() {
      const names = ['folder', 'server', 'deposit', 'receipt', 'x402']
      const found = names.map(async (name) => [name, set[name as keyof typeof set] ?? (await kept(name))])
      const entries = await Promise.all(found)
      return Object.fromEntries(entries.filter(([, secret]) => secret !== undefined))
    },
    async keepSecrets(secrets) {
      for (const [name, secret] of Object.entries(secrets)) {
        const there = await kept(name)
        if (there !== undefined && there !== secret)
          throw new RefusedError(`The data folder has another secret ${name}: restore into an empty one`)
      }
      await prepareDataFolder(config.dataFolder, await serviceUser())
      for (const [name, secret] of Object.entries(secrets))
        await writeAtomically(join(folder, name), `${secret}\n`, 0o600)
    },
  }
}

try {
  await main()
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof DataFolderError
  console.error(expected ? error.message : error)
  process.exitCode = 1
}
