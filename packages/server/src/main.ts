import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createQemuDriver, type QemuDriver } from '@coinrack/compute/qemu/driver.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { type Logger, pino } from 'pino'
import { fileMailer, smtpMailer } from './account/mailer.ts'
import { createApp } from './app.ts'
import { parseCatalog } from './catalog/catalog.ts'
import { checkChain } from './chain/check-chain.ts'
import { startDemoChains } from './chain/demo-chains.ts'
import { depositAddress } from './chain/deposit-address.ts'
import { forwarderFactoryAddress } from './chain/forwarder-factory.ts'
import { readProductionChains } from './chain/production-chains.ts'
import { viemChain } from './chain/viem-chain.ts'
import { type Config, ConfigError, loadConfig } from './config.ts'
import { DataFolderError, openDataFolder } from './data-folder.ts'
import { dataLayout } from './data-layout.ts'
import { listenForChanges } from './database/changes.ts'
import { startEmbeddedPostgres } from './database/embedded.ts'
import { migrate } from './database/migrate.ts'
import { openPool } from './database/pool.ts'
import { invoicing } from './payments/invoicing.ts'
import { readConfigFile } from './read-config-file.ts'
import { createReadiness } from './readiness.ts'
import { runReconcilers } from './reconcilers.ts'
import { createSealer } from './sealer.ts'
import { idMaker, type Services } from './services.ts'
import { ordering } from './vps/ordering.ts'

/*
 * Makes the world and the service in it, and runs it until it is told to end.
 */

const POOL_SIZE = 20
const PREPARE_AGAIN_MS = 60_000

async function main(): Promise<void> {
  const config = loadConfig(process.env, readConfigFile)
  const say = (line: string) => console.log(line)
  const user = await serviceUser()
  const folder = await openDataFolder({ path: config.dataFolder, profile: config.profile, user })
  const { dataFolder, cacheFolder } = config
  const log = pino({ level: config.logLevel })
  for (const warning of config.warnings) log.warn(warning)

  const [postgres, chains] = await Promise.all([
    config.databaseUrl ??
      startEmbeddedPostgres({ dataFolder, cacheFolder, user, onProgress: say }).then(({ url }) => url),
    openChains(config, user, say),
  ])
  const db = openPool(postgres, {
    size: POOL_SIZE,
    onError: (error) => log.error({ err: error }, 'Database connection'),
  })
  await migrate(db)

  const clock = { now: () => new Date() }
  const random = { bytes: (length: number) => randomBytes(length) }
  const serverSecret = config.serverSecret ?? (await folder.secret('server'))
  const depositSecret = config.depositSecret ?? (await folder.secret('deposit'))
  const factory = forwarderFactoryAddress(chains.settings[0]!.treasury)
  const driver = createQemuDriver({ dataFolder, cacheFolder, user, clock, log })
  const services: Services = {
    config: { ...config, serverSecret, depositSecret },
    db,
    changes: await listenForChanges(postgres, (error) => log.error({ err: error }, 'Database notifications')),
    clock,
    random,
    newId: idMaker(clock, random),
    sealer: createSealer(serverSecret, random),
    mailer: config.smtpUrl
      ? smtpMailer(config.smtpUrl, config.mailFrom)
      : fileMailer(dataLayout(dataFolder).mail, config.mailFrom, { clock, random, log }),
    log,
    catalog: await readCatalog(config),
    driver,
    chains: chains.settings.map((settings) => ({ settings, port: viemChain(settings) })),
    depositAddressOf: (counter) => depositAddress(Buffer.from(depositSecret), counter, factory),
    demo: chains.demo,
    invoicing,
    ordering,
  }

  const readiness = createReadiness(services)
  const app = createApp(services, readiness)
  await app.listen({ host: config.host, port: config.port })
  say(
    `Coinrack takes requests at ${config.publicUrl} (agents: ${config.publicUrl}/mcp, people: ${config.publicUrl}/docs)`,
  )
  const endReconcilers = runReconcilers(services)
  void prepareMachines(driver, log, say)

  const end = onceOnly(async () => {
    await app.close()
    await endReconcilers()
    await services.changes.close()
    await db.end()
    await folder.close()
    say('Ended. Machines, database and chains go on; npm run stop ends them too.')
    process.exit(0)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
}

/** Builds what machines are made from. It can take minutes, and the service answers meanwhile. */
async function prepareMachines(driver: QemuDriver, log: Logger, say: (line: string) => void): Promise<void> {
  try {
    const { accelerator } = await driver.prepare(say)
    say(`Machines can be ordered; they run under ${accelerator}`)
  } catch (error) {
    log.error({ err: error }, 'Preparing machines failed; it is tried again')
    setTimeout(() => prepareMachines(driver, log, say), PREPARE_AGAIN_MS).unref()
  }
}

async function openChains(
  config: Config,
  user: Awaited<ReturnType<typeof serviceUser>>,
  say: (line: string) => void,
) {
  const { dataFolder, cacheFolder, chainsFile } = config
  if (config.profile === 'demo') {
    const { chains, demo } = await startDemoChains({ dataFolder, cacheFolder, user, onProgress: say })
    return { settings: chains, demo }
  }
  const settings = readProductionChains(await readFile(chainsFile!, 'utf8'))
  await Promise.all(settings.map(checkChain))
  return { settings, demo: undefined }
}

async function readCatalog({ catalogFile }: Config) {
  const path = catalogFile ?? fileURLToPath(new URL('./catalog/default-catalog.json', import.meta.url))
  return parseCatalog(await readFile(path, 'utf8'), path)
}

/** The first call counts, however often Ctrl-C is pressed. */
function onceOnly(work: () => Promise<void>): () => void {
  let begun = false
  return () => {
    if (begun) return
    begun = true
    void work()
  }
}

try {
  await main()
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof DataFolderError
  console.error(expected ? error.message : error)
  process.exit(1)
}
