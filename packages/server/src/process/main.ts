import { randomBytes } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { osImages } from '@coinrack/compute/images/catalog.ts'
import { createImageStore } from '@coinrack/compute/images/image-store.ts'
import { createImageArtifacts } from '@coinrack/compute/sandbox/artifacts.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { type Logger, pino } from 'pino'
import { privateKeyToAddress } from 'viem/accounts'
import { programTokens } from '../account/program-tokens.ts'
import { sshKeys } from '../account/ssh-keys/ssh-key-store.ts'
import { walletAccounts } from '../account/wallet-accounts.ts'
import { approving } from '../approvals/ask-for-approval.ts'
import { OFFER_MS, readOffer } from '../catalog/offer.ts'
import { configuredChains } from '../chain/configured-chains.ts'
import { fundOnDemoChains } from '../chain/demo-chains.ts'
import { depositAddress } from '../chain/deposit-address.ts'
import { forwarderFactoryAddress } from '../chain/forwarder-factory.ts'
import { openChain } from '../chain/open-chain.ts'
import type { Catalog } from '../config/catalog.ts'
import { sellable } from '../config/catalog.ts'
import { ConfigError, loadConfig } from '../config/config.ts'
import { readCatalog } from '../config/read-catalog.ts'
import { readConfigFile } from '../config/read-config-file.ts'
import { DataFolderError, openDataFolder } from '../data-folder/data-folder.ts'
import { dataLayout } from '../data-folder/data-layout.ts'
import { listenForChanges } from '../database/changes.ts'
import { startEmbeddedPostgres } from '../database/embedded.ts'
import { demandSameInstallation, OtherInstallationError } from '../database/installation.ts'
import { keepEmbeddedPostgres } from '../database/keep-embedded.ts'
import { migrate } from '../database/migrate.ts'
import { openPool } from '../database/pool.ts'
import { hostElsewhere } from '../hosts/host-elsewhere.ts'
import { invoicing } from '../payments/invoicing.ts'
import { atMostEvery } from '../platform/at-most-every.ts'
import { createHashing } from '../platform/hashing.ts'
import { fileMailer, smtpMailer } from '../platform/mailer.ts'
import { createReceiptKey } from '../platform/receipt-key.ts'
import type { SandboxImages } from '../platform/sandbox-host.ts'
import { createSealer } from '../platform/sealer.ts'
import { idMaker, type Services } from '../platform/services.ts'
import { guardSlowEdges } from '../platform/slow-edges.ts'
import { createTypeStripper } from '../platform/type-stripper.ts'
import { sandboxing } from '../sandboxes/life/sandboxing.ts'
import { nsupdateReverseDns } from '../vps/network/rdns/nsupdate.ts'
import { ordering } from '../vps/orders/ordering.ts'
import { type Cluster, openCluster } from './cluster-hosts.ts'
import { localMachines } from './local-machines.ts'
import { PortError, serve } from './serve.ts'

/*
 * Makes the world and the service in it, and runs it until it is told to end.
 */

const POOL_SIZE = 20
/** How long a request waits for others to derive their keys. */
const HASHING_WAIT_MS = 2_000
const PREPARE_AGAIN_MS = 60_000

/** While the service comes up there is nothing to bring to an end: whatever was begun can be killed at any point. */
let end: () => void = () => process.exit(0)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end())

async function main(): Promise<void> {
  const config = loadConfig(process.env, readConfigFile)
  const say = (line: string) => console.log(line)
  const user = await serviceUser()
  const folder = await openDataFolder({
    path: config.dataFolder,
    profile: config.profile,
    port: config.port,
    user,
    onWait: say,
  })
  const { dataFolder, cacheFolder } = config
  const log = pino({ level: config.logLevel })
  for (const warning of config.warnings) log.warn(warning)

  const startPostgres = () => startEmbeddedPostgres({ dataFolder, cacheFolder, user, onProgress: say })
  const [postgres, chains] = await Promise.all([
    config.databaseUrl ?? startPostgres().then(({ url }) => url),
    configuredChains(config, user, say),
  ])
  const endWatch = config.databaseUrl
    ? async () => {}
    : keepEmbeddedPostgres(dataFolder, startPostgres, (message, error) => log.warn({ err: error }, message))
  const db = openPool(postgres, {
    size: POOL_SIZE,
    onError: (error) => log.error({ err: error }, 'Database connection'),
  })
  await migrate(db)

  const clock = { now: () => new Date() }
  const random = { bytes: (length: number) => randomBytes(length) }
  const serverSecret = config.serverSecret ?? (await folder.secret('server'))
  const depositSecret = config.depositSecret ?? (await folder.secret('deposit'))
  await demandSameInstallation(db, {
    profile: config.profile,
    folderId: config.localMachines ? folder.id : undefined,
    serverSecret,
    depositSecret,
  })
  await folder.started()
  const x402Key = config.x402Key ?? (chains.demo && (`0x${await folder.secret('x402')}` as const))
  if (chains.demo && x402Key) await fundOnDemoChains(chains.settings, privateKeyToAddress(x402Key))
  if (x402Key)
    log.info({ address: privateKeyToAddress(x402Key) }, 'The gas wallet, which sends top-ups by x402')
  const factory = forwarderFactoryAddress(chains.settings[0]!.treasury)
  const images = createImageStore({ cacheFolder })
  const cluster =
    config.clusterFile && (await openCluster(config.clusterFile, { images, clock, random, log }))
  const clusterHosts = cluster ? cluster.hosts : []
  const offered = [config, ...clusterHosts.map(({ network }) => network)]
  const catalog = sellable(await readCatalog(config.catalogFile), offered)
  const local = config.localMachines
    ? localMachines({ config, user, clock, random, log, images, say }, catalog.region)
    : undefined
  const host = local?.host ?? hostElsewhere(catalog.region, config)
  const services: Services = guardSlowEdges({
    config: { ...config, serverSecret, depositSecret },
    db,
    changes: await listenForChanges(postgres, (error) => log.error({ err: error }, 'Database notifications')),
    clock,
    random,
    newId: idMaker(clock, random),
    sealer: createSealer(serverSecret, random),
    receiptKey: createReceiptKey(config.receiptSecret ?? (await folder.secret('receipt'))),
    mailer: config.smtpUrl
      ? smtpMailer(config.smtpUrl, config.mailFrom)
      : fileMailer(dataLayout(dataFolder).mail, config.mailFrom, { clock, random, log }),
    hashing: createHashing({ waitMs: HASHING_WAIT_MS }),
    lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    log,
    catalog,
    offer: atMostEvery(OFFER_MS, readOffer),
    hosts: new Map([host, ...clusterHosts].map((each) => [each.id, each])),
    rdns:
      config.rdnsServer &&
      nsupdateReverseDns({
        server: config.rdnsServer,
        key: config.rdnsKey!,
        resolver: config.rdnsResolver,
      }),
    sandboxes: new Map(),
    sandboxImages: config.hostsListen && sandboxImages(cacheFolder, say),
    chains: await Promise.all(chains.settings.map((settings) => openChain(settings, x402Key))),
    depositAddressOf: (counter) => depositAddress(Buffer.from(depositSecret), counter, factory),
    demo: chains.demo,
    invoicing,
    ordering,
    walletAccounts,
    sshKeys,
    programTokens,
    typeStripper: createTypeStripper(),
    approving,
    sandboxing,
  })

  const prepared = () => cluster && void prepareCluster(cluster, catalog, log, say)
  const endServing = await serve(services, {
    local: local && {
      machinesPidFile: dataLayout(dataFolder).machinesPidFile,
      begin: () => local.begin(services, prepared),
    },
  })
  say(
    `Coinrack takes requests at ${config.publicUrl} (agents: ${config.publicUrl}/mcp, people: ${config.publicUrl}/docs)`,
  )

  end = onceOnly(async () => {
    await endServing()
    if (cluster) await cluster.close()
    await db.end()
    await endWatch()
    await folder.close()
    say('Ended. Machines, database and chains go on; npm run stop ends them too.')
    process.exit(0)
  })
}

/** Brings the images to the cluster. Until then no machine can be made there. */
async function prepareCluster(
  cluster: Cluster,
  catalog: Catalog,
  log: Logger,
  say: (line: string) => void,
): Promise<void> {
  try {
    const slugs = osImages.map(({ slug }) => slug)
    const isSold = (slug: string) => catalog.plans.some(({ images }) => !images || images.includes(slug))
    await cluster.prepare(slugs.filter(isSold), say)
    say(`Machines can be ordered on the cluster ${cluster.name}`)
  } catch (error) {
    log.error({ err: error }, 'Preparing the cluster failed; it is tried again')
    setTimeout(() => prepareCluster(cluster, catalog, log, say), PREPARE_AGAIN_MS).unref()
  }
}

/** The images of sandboxes that this computer builds for others. */
function sandboxImages(cacheFolder: string, say: (line: string) => void): SandboxImages {
  const images = createImageArtifacts(cacheFolder)
  return { ...images, prepare: () => images.prepare(say) }
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
  const expected = [ConfigError, DataFolderError, OtherInstallationError, PortError].some(
    (kind) => error instanceof kind,
  )
  console.error(expected ? (error as Error).message : error)
  process.exit(1)
}
