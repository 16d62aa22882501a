import { basePath, walletPath } from '@coinrack/contract/index.ts'
import type { Posting } from '@coinrack/money/index.ts'
import type { FastifyInstance } from 'fastify'
import { createTestDatabase } from '../database/testing.ts'
import { inTransaction } from '../database/transaction.ts'
import { post } from '../ledger/post.ts'
import { paymentMetrics } from '../payments/payment-metrics.ts'
import { LOCAL_HOST, type MachineHost } from '../platform/machine-host.ts'
import type { Services } from '../platform/services.ts'
import { createSandboxReconciler } from '../sandboxes/life/reconcile-sandboxes.ts'
import { createSandboxMeter } from '../sandboxes/meter/meter-sandboxes.ts'
import { createTemplateBuilder } from '../sandboxes/templates/reconcile-builds.ts'
import { createVpsReconciler } from '../vps/machine/reconcile-vps.ts'
import { createRdnsReconciler } from '../vps/network/rdns/reconcile-rdns.ts'
import { createSnapshotReconciler } from '../vps/snapshot/reconcile-snapshots.ts'
import { createApp } from './app.ts'
import { createMetrics } from './metrics.ts'
import { createReadiness } from './readiness.ts'
import { createTestWorld, type TestWorld, type WorldOptions } from './testing-world.ts'

/** After that a machine is looked at again that waits for something inside it. */
const LOOK_MS = 10_000

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
  /** The blocks of the answer, as a model sees them. */
  content: { type: string; text?: string; data?: string; mimeType?: string; uri?: string }[]
}

export interface TestService extends TestWorld {
  app: FastifyInstance
  clock: TestClock
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
  /** Moves money of an account. */
  post(accountId: string, postings: Posting[]): Promise<void>
  /** Runs the reconcilers of VPS, of their snapshots and of their names until they have nothing more to do. */
  reconcile(): Promise<void>
  /** The same, and lets time pass for what is only looked at again after a while. */
  settle(): Promise<void>
  /** Settles what runs, and makes of sandboxes what is wanted. */
  reconcileSandboxes(): Promise<void>
  /** Builds the templates that are wanted, as far as it goes. */
  buildTemplates(): Promise<void>
}

/**
 * The service with the fakes of its edges: machine, mail and clock.
 * @param on its database, which it drops when it closes, and the time; a database of its own when left out
 */
export async function startTestService(
  options: WorldOptions = {},
  on: { database?: Awaited<ReturnType<typeof createTestDatabase>>; start?: Date } = {},
): Promise<TestService> {
  const database = on.database ?? (await createTestDatabase())
  const clock = new TestClock(on.start?.toISOString())
  const world = await createTestWorld({ databaseUrl: database.url, clock }, options)
  const { services } = world
  const { db } = services
  const app = createApp(services, createReadiness(services), createMetrics([paymentMetrics(services)]))
  await app.ready()
  const reconcilers = [createVpsReconciler(services), createSnapshotReconciler(services)]
  const sandboxReconciler = services.sandboxes && createSandboxReconciler(services)
  const meter = services.sandboxes && createSandboxMeter(services)
  const templateBuilder = createTemplateBuilder(services)
  const rdnsReconciler = createRdnsReconciler(services)

  const postNow: TestService['post'] = async (accountId, postings) => {
    const [id, at] = [services.newId('transaction'), clock.now()]
    const transaction = { id, kind: 'adjustment', accountId, description: 'A gift', postings, at } as const
    await inTransaction(db, (tx) => post(tx, transaction))
  }
  const credit: TestService['credit'] = (accountId, amount) =>
    postNow(accountId, [{ from: 'house.adjustments', to: 'customer.available', amount }])

  const ask: TestService['ask'] = async (method, path, { token, body, headers, address } = {}) => {
    const reply = await app.inject({
      method,
      url: path.startsWith(`${walletPath}/`) ? path : basePath + path,
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
      // Where each tool shows its output schema, and so answers structured content.
      url: '/mcp/all',
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
    const isError = result.isError === true
    return {
      isError,
      body: isError ? JSON.parse(result.content[0].text) : result.structuredContent,
      content: result.content,
    }
  }

  const reconcile: TestService['reconcile'] = async () => {
    // Hosts that are late or lossy take more of them, with some between in which nothing is seen to happen.
    const [most, quietEnough] = world.mode === undefined ? [6, 6] : [48, 5]
    for (let pass = 0, quiet = 0; pass < most && quiet < quietEnough; pass++, quiet++) {
      for (const reconciler of reconcilers) {
        const { done, failed } = await reconciler.pass()
        if (done + failed > 0 && world.mode !== undefined) quiet = 0
        await reconciler.idle()
      }
      await rdnsReconciler.pass()
    }
  }

  let customers = 0
  return {
    ...world,
    app,
    clock,
    ask,
    tool,
    credit,
    post: postNow,
    async customer(balance = 0n) {
      customers++
      const { body } = await ask('POST', '/auth/register', {
        body: { email: `buyer${customers}@rackmail.net` },
        address: `10.${customers >> 8}.${customers & 255}.1`,
      })
      if (balance > 0n) await credit(body.account.id, balance)
      return { token: body.token, accountId: body.account.id }
    },
    reconcile,
    async settle() {
      for (let looks = world.mode === undefined ? 1 : 8; looks > 0; looks--) {
        clock.advance(LOOK_MS)
        await reconcile()
      }
    },
    async reconcileSandboxes() {
      await meter!.pass()
      for (let pass = 0; pass < 3; pass++) {
        await sandboxReconciler!.pass()
        await sandboxReconciler!.idle()
      }
    },
    async buildTemplates() {
      for (let pass = 0; pass < 3; pass++) {
        await templateBuilder.pass()
        await templateBuilder.idle()
        await sandboxReconciler!.pass()
        await sandboxReconciler!.idle()
      }
    },
    async close() {
      await templateBuilder.end()
      await world.channel.close()
      await app.close()
      await world.close()
      await database.drop()
    },
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The same hosts, of which the local one has other ports. */
export function withHost(
  { hosts }: Pick<Services, 'hosts'>,
  change: (host: MachineHost) => Partial<MachineHost>,
): Pick<Services, 'hosts'> {
  const host = hosts.get(LOCAL_HOST)!
  return { hosts: new Map([[host.id, { ...host, ...change(host) }]]) }
}
