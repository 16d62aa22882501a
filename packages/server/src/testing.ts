import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFakeConsole, type FakeConsole } from '@coinrack/compute/fake/console.ts'
import { createFakeDriver, type FakeDriver, type FakeDriverOptions } from '@coinrack/compute/fake/driver.ts'
import { createFakeGuestChannel, type FakeGuestChannel } from '@coinrack/compute/fake/guest-channel.ts'
import { createFakeKeptDisks, type FakeKeptDisks } from '@coinrack/compute/fake/kept-disks.ts'
import { createFakeSnapshots, type FakeSnapshots } from '@coinrack/compute/fake/snapshots.ts'
import { basePath } from '@coinrack/contract/index.ts'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Mail, Mailer } from './account/mailer.ts'
import { createApp } from './app.ts'
import { parseCatalog, sellable } from './catalog/catalog.ts'
import defaultCatalog from './catalog/default-catalog.json' with { type: 'json' }
import type { Chain } from './chain/chain-port.ts'
import type { ChainSettings } from './chain/chain-settings.ts'
import { confirmationPolicies } from './chain/confirmation-policy.ts'
import type { DemoBody } from './chain/demo-chains.ts'
import { depositAddress } from './chain/deposit-address.ts'
import { fakeChain } from './chain/fake-chain.ts'
import { forwarderFactoryAddress } from './chain/forwarder-factory.ts'
import { type Config, loadConfig } from './config.ts'
import { listenForChanges } from './database/changes.ts'
import { openPool } from './database/pool.ts'
import { createTestDatabase } from './database/testing.ts'
import { inTransaction } from './database/transaction.ts'
import { post } from './ledger/post.ts'
import { createMetrics } from './metrics.ts'
import { invoicing } from './payments/invoicing.ts'
import { createReadiness } from './readiness.ts'
import { createSealer } from './sealer.ts'
import { idMaker, type Services } from './services.ts'
import { ordering } from './vps/ordering.ts'
import { createRdnsReconciler } from './vps/rdns/reconcile-rdns.ts'
import type { ReverseDns } from './vps/rdns/reverse-dns.ts'
import { createVpsReconciler } from './vps/reconcile-vps.ts'
import { createSnapshotReconciler } from './vps/snapshot/reconcile-snapshots.ts'

const TREASURY = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

/** A clock that stands still until it is moved. */
export class TestClock {
  private time: number
  constructor(start = '2026-01-31T12:00:00Z') {
    this.time = Date.parse(start)
  }
  now(): Date {
    return new Date(this.time)
  }
  advance(milliseconds: number): void {
    this.time += milliseconds
  }
}

/** An answer of the REST interface. */
export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
  body: any
  headers: Record<string, string | string[] | undefined>
}

/** An answer of the agent endpoint. */
export interface ToolReply {
  isError: boolean
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
  body: any
}

export interface TestService {
  services: Services
  app: FastifyInstance
  clock: TestClock
  driver: FakeDriver
  guests: FakeGuestChannel
  console: FakeConsole
  snapshots: FakeSnapshots
  keptDisks: FakeKeptDisks
  /** Mail that was sent, newest last. */
  mails: Mail[]
  ask(
    method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    options?: { token?: string; body?: unknown; headers?: Record<string, string>; address?: string },
  ): Promise<Reply>
  /** Calls a tool of the agent endpoint: what it answers on the wire. */
  tool(
    name: string,
    input?: Record<string, unknown>,
    options?: { token?: string; address?: string },
  ): Promise<ToolReply>
  /** A new account with a token and, if wanted, a balance of so many micro-dollars. */
  customer(balance?: bigint): Promise<{ token: string; accountId: string }>
  /** Puts money on a balance. */
  credit(accountId: string, amount: bigint): Promise<void>
  /** Runs the reconcilers of VPS, of their snapshots and of their names until they have nothing more to do. */
  reconcile(): Promise<void>
  close(): Promise<void>
}

export interface TestOptions {
  /** Settings, as in the environment. */
  env?: Record<string, string>
  /** A quiet fake one when left out: invoices can be made, and nobody pays. */
  chains?: Chain[]
  /** As in the demo profile: how to pay on the chains. */
  demo?: DemoBody
  /** Addresses of host names; none has any when left out. */
  lookup?: Services['lookup']
  /** Of the fake driver. */
  driver?: Partial<FakeDriverOptions>
  /** Where addresses get their names; nowhere when left out. */
  rdns?: ReverseDns
}

/** The service on a database of its own, with the fakes of its edges: machine, mail and clock. */
export async function startTestService(options: TestOptions = {}): Promise<TestService> {
  const database = await createTestDatabase()
  const clock = new TestClock()
  const random = { bytes: (length: number) => randomBytes(length) }
  const log = pino({ level: 'silent' })
  const db = openPool(database.url, { size: 20, onError: () => {} })
  const changes = await listenForChanges(database.url, () => {})
  const driver = createFakeDriver({ clock, ...options.driver })
  const guestFolder = await mkdtemp(join(tmpdir(), 'coinrack-guests-'))
  const guests = createFakeGuestChannel(driver, guestFolder)
  const fakeConsole = createFakeConsole(driver)
  const snapshots = createFakeSnapshots(driver)
  const keptDisks = createFakeKeptDisks(driver)
  const mails: Mail[] = []
  const mailer: Mailer = {
    async send(mail) {
      mails.push(mail)
    },
  }
  const config = testConfig(options.env)
  const factory = forwarderFactoryAddress(TREASURY)
  const services: Services = {
    config,
    db,
    changes,
    clock,
    random,
    newId: idMaker(clock, random),
    sealer: createSealer(config.serverSecret!, random),
    mailer,
    lookup: options.lookup ?? (async () => []),
    log,
    catalog: sellable(parseCatalog(JSON.stringify(defaultCatalog), 'default-catalog.json'), config),
    driver,
    guests,
    console: fakeConsole,
    snapshots,
    rdns: options.rdns,
    keptDisks,
    chains: options.chains ?? [quietChain()],
    depositAddressOf: (counter) => depositAddress(Buffer.from(config.depositSecret!), counter, factory),
    demo: options.demo,
    invoicing,
    ordering,
  }
  const app = createApp(services, createReadiness(services), createMetrics())
  await app.ready()
  const reconcilers = [createVpsReconciler(services), createSnapshotReconciler(services)]
  const rdnsReconciler = createRdnsReconciler(services)

  const credit: TestService['credit'] = (accountId, amount) =>
    inTransaction(db, async (tx) => {
      await post(tx, {
        id: services.newId('transaction'),
        kind: 'adjustment',
        accountId,
        description: 'A gift',
        postings: [{ from: 'house.adjustments', to: 'customer.available', amount }],
        at: clock.now(),
      })
    })

  const ask: TestService['ask'] = async (method, path, { token, body, headers, address } = {}) => {
    const reply = await app.inject({
      method,
      url: basePath + path,
      remoteAddress: address ?? '127.0.0.1',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: reply.statusCode, body: parse(reply.body), headers: reply.headers as Reply['headers'] }
  }

  const tool: TestService['tool'] = async (name, input = {}, { token, address } = {}) => {
    const reply = await app.inject({
      method: 'POST',
      url: '/mcp',
      remoteAddress: address ?? '127.0.0.1',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2025-06-18',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
    })
    const { result } = JSON.parse(/^data: (.*)$/m.exec(reply.body)![1]!)
    return { isError: result.isError === true, body: result.structuredContent }
  }

  let customers = 0
  return {
    services,
    app,
    clock,
    driver,
    guests,
    console: fakeConsole,
    snapshots,
    keptDisks,
    mails,
    ask,
    tool,
    credit,
    async customer(balance = 0n) {
      customers++
      const { body } = await ask('POST', '/auth/register', {
        body: { email: `buyer${customers}@rackmail.net` },
        address: `10.${customers >> 8}.${customers & 255}.1`,
      })
      if (balance > 0n) await credit(body.account.id, balance)
      return { token: body.token, accountId: body.account.id }
    },
    async reconcile() {
      for (let pass = 0; pass < 6; pass++) {
        for (const reconciler of reconcilers) {
          await reconciler.pass()
          await reconciler.idle()
        }
        await rdnsReconciler.pass()
      }
    },
    async close() {
      await app.close()
      await changes.close()
      await db.end()
      await database.drop()
      await rm(guestFolder, { recursive: true, force: true })
    },
  }
}

/** A configuration with secrets of its own and generous ports. */
export const testConfig = (env: Record<string, string> = {}): Config =>
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
