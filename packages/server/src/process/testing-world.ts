import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FakeConsole } from '@coinrack/compute/fake/console.ts'
import type { FakeDriver, FakeDriverOptions } from '@coinrack/compute/fake/driver.ts'
import type { FakeGuestChannel } from '@coinrack/compute/fake/guest-channel.ts'
import type { HostMode } from '@coinrack/compute/fake/modes.ts'
import type { FakeRetainedDisks } from '@coinrack/compute/fake/retained-disks.ts'
import { createFakeArtifacts } from '@coinrack/compute/fake/sandbox-artifacts.ts'
import { createFakeSandboxChannel, type FakeSandboxChannel } from '@coinrack/compute/fake/sandbox-channel.ts'
import {
  createFakeRuntime,
  type FakeRuntime,
  type FakeRuntimeOptions,
} from '@coinrack/compute/fake/sandbox-runtime.ts'
import type { FakeSnapshots } from '@coinrack/compute/fake/snapshots.ts'
import type { HostFeatures, HostInventory } from '@coinrack/compute/ports/vps-driver.ts'
import { pino } from 'pino'
import { programTokens } from '../account/program-tokens.ts'
import { sshKeys } from '../account/ssh-keys/ssh-key-store.ts'
import { walletAccounts } from '../account/wallet-accounts.ts'
import { approving } from '../approvals/ask-for-approval.ts'
import { OFFER_MS, readOffer } from '../catalog/offer.ts'
import type { Chain } from '../chain/chain-port.ts'
import type { ChainSettings } from '../chain/chain-settings.ts'
import { confirmationPolicies } from '../chain/confirmation-policy.ts'
import type { DemoBody } from '../chain/demo-chains.ts'
import { depositAddress } from '../chain/deposit-address.ts'
import { fakeChain } from '../chain/fake-chain.ts'
import { forwarderFactoryAddress } from '../chain/forwarder-factory.ts'
import { parseCatalog, sellable } from '../config/catalog.ts'
import { type Config, loadConfig } from '../config/config.ts'
import defaultCatalog from '../config/default-catalog.json' with { type: 'json' }
import { listenForChanges } from '../database/changes.ts'
import { openPool } from '../database/pool.ts'
import { registerHosts } from '../hosts/host-store.ts'
import { observeHost } from '../hosts/observe-host.ts'
import {
  type Exception,
  type FakeHost,
  fakeHost,
  featuresIn,
  hostIn,
  hostMode,
  joinCluster,
} from '../hosts/testing.ts'
import { invoicing } from '../payments/invoicing.ts'
import { atMostEvery } from '../platform/at-most-every.ts'
import { createHashing } from '../platform/hashing.ts'
import { type HostNetwork, LOCAL_HOST, type MachineHost } from '../platform/machine-host.ts'
import type { Mail, Mailer } from '../platform/mailer.ts'
import { createReceiptKey } from '../platform/receipt-key.ts'
import type { ReverseDns } from '../platform/reverse-dns.ts'
import { createSealer } from '../platform/sealer.ts'
import { type Clock, idMaker, type Services } from '../platform/services.ts'
import { guardSlowEdges } from '../platform/slow-edges.ts'
import { createTypeStripper } from '../platform/type-stripper.ts'
import { sandboxing } from '../sandboxes/life/sandboxing.ts'
import { ordering } from '../vps/orders/ordering.ts'

const TREASURY = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

/** How often a host is asked that does not answer. */
const ASKED = 4

/** The edges of the service as fakes, and what the service makes of them. */
export interface TestWorld {
  services: Services
  mode: HostMode | undefined
  /** By id: the fakes of all hosts, which say what is really so. The service sees them in the mode of this run. */
  fakeHosts: ReadonlyMap<string, FakeHost>
  /** The machines of the local host. */
  driver: FakeDriver
  guests: FakeGuestChannel
  console: FakeConsole
  snapshots: FakeSnapshots
  retainedDisks: FakeRetainedDisks
  runtime: FakeRuntime
  channel: FakeSandboxChannel
  /** Mail that was sent, newest last. */
  mails: Mail[]
  /** Asks each host what it has. */
  observeHosts(): Promise<void>
  /** Lets the local host say something else of itself, and hears it; without an argument, what is so. */
  hostSays(said?: Partial<HostInventory>): Promise<void>
  close(): Promise<void>
}

export interface WorldOptions {
  /** Settings, as in the environment. */
  env?: Record<string, string>
  /** A quiet fake chain when left out: invoices can be made, and no payment comes. */
  chains?: Chain[]
  /** As in the demo profile: how to pay on the chains. */
  demo?: DemoBody
  /** Addresses of host names; none has any when left out. */
  lookup?: Services['lookup']
  /** How the hosts are. Default: `COINRACK_TEST_HOSTS`, or as good as fakes can be. */
  mode?: HostMode
  /** Where the test means nothing in a mode. */
  exception?: Exception
  /** The features that the test needs hosts to have, also where they are poor. */
  features?: readonly (keyof HostFeatures)[]
  /** Options of the fake driver. */
  driver?: Partial<FakeDriverOptions>
  /** Besides the local one; each has an address of its own. */
  hosts?: {
    id: string
    region: string
    driver?: Partial<FakeDriverOptions>
    network?: Partial<HostNetwork>
    /** The name of its cluster. */
    cluster?: string
  }[]
  /** Hosts that are no fakes. */
  realHosts?: readonly MachineHost[]
  /** The clusters of which any host can read the disks of all. */
  sharedDisks?: readonly string[]
  /** Options of the fake runtime; false: this host runs no sandboxes. */
  sandboxes?: Partial<FakeRuntimeOptions> | false
  /** How long a request waits for others to derive their keys. */
  hashingWaitMs?: number
  /** Where addresses get their names; nowhere when left out. */
  rdns?: ReverseDns
}

/** The service's world on a database that is there, with fakes of machine, mail and chain. */
export async function createTestWorld(
  { databaseUrl, clock }: { databaseUrl: string; clock: Clock },
  options: WorldOptions = {},
): Promise<TestWorld> {
  const random = { bytes: (length: number) => randomBytes(length) }
  const log = pino({ level: 'silent' })
  const db = openPool(databaseUrl, { size: 20, onError: () => {} })
  const changes = await listenForChanges(databaseUrl, () => {})
  const guestFolder = await mkdtemp(join(tmpdir(), 'coinrack-guests-'))
  const runtime = createFakeRuntime({ clock, ...(options.sandboxes || {}) })
  const channel = createFakeSandboxChannel(runtime, join(guestFolder, 'sandboxes'))
  const artifacts = createFakeArtifacts(runtime)
  const mails: Mail[] = []
  const mailer: Mailer = {
    async send(mail) {
      mails.push(mail)
    },
  }
  const config = testConfig(options.env)
  const catalog = sellable(parseCatalog(JSON.stringify(defaultCatalog), 'default-catalog.json'), [config])
  const mode = options.mode ?? hostMode(options.exception)
  const driverOptions = (driver: Partial<FakeDriverOptions> = {}) => ({
    clock,
    ...driver,
    features: { ...featuresIn(mode, options.features ?? []), ...driver.features },
  })
  const local = fakeHost(
    { id: LOCAL_HOST, region: catalog.region, network: config },
    driverOptions(options.driver),
    guestFolder,
  )
  const others = (options.hosts ?? []).map(({ driver, network, cluster: _, ...host }, index) =>
    fakeHost(
      { ...host, network: { ...config, publicIp: `192.0.2.${index + 1}`, ...network } },
      driverOptions(driver),
      guestFolder,
    ),
  )
  const fakeHosts = new Map([local, ...others].map((host) => [host.id, host]))
  const clusters = new Set(options.hosts?.flatMap(({ cluster }) => cluster ?? []))
  for (const name of clusters) {
    const members = options.hosts!.filter(({ cluster }) => cluster === name)
    joinCluster(
      name,
      members.map(({ id }) => fakeHosts.get(id)!),
      {
        hasSharedDisks: options.sharedDisks?.includes(name) ?? false,
      },
    )
  }
  const factory = forwarderFactoryAddress(TREASURY)
  const services = guardSlowEdges({
    config,
    db,
    changes,
    clock,
    random,
    newId: idMaker(clock, random),
    sealer: createSealer(config.serverSecret!, random),
    receiptKey: createReceiptKey(config.serverSecret!),
    mailer,
    // Patient, for the machines that tests run on have other things to do; the limits of time have a test of their own.
    hashing: createHashing({ waitMs: options.hashingWaitMs ?? 20_000 }),
    lookup: options.lookup ?? (async () => []),
    log,
    catalog,
    offer: atMostEvery(OFFER_MS, readOffer),
    hosts: new Map<string, MachineHost>([
      ...[...fakeHosts].map(([id, host]) => [id, hostIn(mode, host)] as const),
      ...(options.realHosts ?? []).map((host) => [host.id, host] as const),
    ]),
    rdns: options.rdns,
    sandboxes: new Map(options.sandboxes === false ? [] : [[LOCAL_HOST, { runtime, channel, artifacts }]]),
    sandboxImages: undefined,
    chains: options.chains ?? [quietChain()],
    depositAddressOf: (counter) => depositAddress(Buffer.from(config.depositSecret!), counter, factory),
    demo: options.demo,
    invoicing,
    ordering,
    walletAccounts,
    sshKeys,
    programTokens,
    typeStripper: createTypeStripper(),
    approving,
    sandboxing,
  })
  const observeHosts = async () => {
    // A few looks later there is what the host was asked for at the first.
    for (let looks = mode === 'late' || mode === 'lossy' ? 3 : 1; looks > 0; looks--)
      for (const host of services.hosts.values())
        for (let time = 1; (await observeHost(services, host)).failed && time < ASKED; time++);
  }
  await registerHosts(db, services.hosts.values())
  await observeHosts()
  return {
    mode,
    observeHosts,
    async hostSays(said = {}) {
      local.driver.said = said
      await observeHosts()
    },
    services,
    fakeHosts,
    driver: local.driver,
    guests: local.guests,
    console: local.console,
    snapshots: local.snapshots,
    retainedDisks: local.retainedDisks,
    runtime,
    channel,
    mails,
    async close() {
      await changes.close()
      await db.end()
      await rm(guestFolder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** A configuration with secrets of its own and generous ports. */
const testConfig = (env: Record<string, string> = {}): Config =>
  loadConfig(
    {
      COINRACK_SERVER_SECRET: randomBytes(32).toString('hex'),
      COINRACK_DEPOSIT_SECRET: randomBytes(32).toString('hex'),
      COINRACK_DATA: '/nonexistent',
      ...env,
    },
    () => undefined,
  )

function quietChain(): Chain {
  const settings: ChainSettings = {
    chainId: 8453,
    network: 'base',
    rpcUrls: [],
    tokens: [{ symbol: 'USDC', address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6 }],
    treasury: TREASURY,
    confirmation: confirmationPolicies.base,
    pollMs: 1000,
  }
  return { settings, port: fakeChain(settings).port }
}
