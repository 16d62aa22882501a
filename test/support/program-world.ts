import type { OperationName } from '@coinrack/contract/index.ts'
import { operations } from '@coinrack/contract/index.ts'
import { type Operation, resourceInput } from '@coinrack/contract/operation.ts'
import { createTestDatabase } from '@coinrack/server/database/testing.ts'
import { inTransaction } from '@coinrack/server/database/transaction.ts'
import { type Answer, createDispatch, type Dispatch } from '@coinrack/server/dispatch/dispatch.ts'
import { createRateLimiter } from '@coinrack/server/dispatch/rate-limiter.ts'
import { post } from '@coinrack/server/ledger/post.ts'
import { LOCAL_HOST } from '@coinrack/server/platform/machine-host.ts'
import type { SandboxHost } from '@coinrack/server/platform/sandbox-host.ts'
import { handlers, paidHandlers } from '@coinrack/server/process/handlers.ts'
import { createTestWorld, type TestWorld } from '@coinrack/server/process/testing-world.ts'
import { createSandboxReconciler } from '@coinrack/server/sandboxes/life/reconcile-sandboxes.ts'
import { createSandboxMeter } from '@coinrack/server/sandboxes/meter/meter-sandboxes.ts'

/** The service as programs meet it: with a real database and the real time, and no limits of rate. */
export interface ProgramWorld extends TestWorld {
  dispatch: Dispatch
  /** Asks for an operation as its owner does. */
  ask(name: OperationName, token: string, input?: Record<string, unknown>): Promise<Answer>
  /** A new account with so many micro-dollars. */
  customer(balance: bigint): Promise<{ token: string; accountId: string }>
  /** Charges what runs, and ends what is over. */
  reconcile(): Promise<void>
}

const CLASSES = ['DEFAULT', 'ORDERS', 'TOPUPS', 'REINSTALLS', 'CONSOLE', 'SANDBOXES', 'REGISTER', 'LOGIN']

/** More than all programs of a test take. */
const capacity = { vcpus: 10_000, memoryMb: 100_000_000, diskGb: 1_000_000 }

/** @param real sandboxes of this host, or a part of them, in the place of the fake ones */
export async function openProgramWorld(real: Partial<SandboxHost> = {}): Promise<ProgramWorld> {
  const database = await createTestDatabase()
  const clock = { now: () => new Date() }
  const env = Object.fromEntries(CLASSES.map((name) => [`COINRACK_RATE_${name}`, '1000000/min']))
  const world = await createTestWorld({ databaseUrl: database.url, clock }, { env, sandboxes: { capacity } })
  const { services } = world
  const { runtime } = real
  // The VPS that programs order are fakes, which take nothing of what this host has.
  const capacityOfBoth = async () => ({ ...(await runtime!.capacity()), vcpus: capacity.vcpus })
  services.sandboxes.set(LOCAL_HOST, {
    ...services.sandboxes.get(LOCAL_HOST)!,
    ...real,
    ...(runtime && { runtime: { ...runtime, capacity: capacityOfBoth } }),
  })
  const limiter = createRateLimiter(services)
  const strangers = { db: services.db, lookups: services.db, limiter }
  const dispatch = createDispatch(services, { handlers, paidHandlers }, limiter, strangers)
  const reconciler = createSandboxReconciler(services)
  const meter = createSandboxMeter(services)
  let customers = 0

  const ask = (name: OperationName, token: string | undefined, input: Record<string, unknown> = {}) => {
    const op: Operation = operations[name]
    return dispatch(name, {
      token,
      address: `192.0.2.${customers % 250}`,
      idempotencyKey: undefined,
      resourceId: op.resource && input[resourceInput(op.resource)],
      input: () => input,
      requestId: 'test',
      asTool: true,
    })
  }
  return {
    ...world,
    dispatch,
    ask,
    async customer(balance) {
      customers++
      const { body } = await ask('registerAccount', undefined, { email: `owner${customers}@rackmail.net` })
      const accountId = (body.account as { id: string }).id
      const postings = [{ from: 'house.adjustments', to: 'customer.available', amount: balance } as const]
      const id = services.newId('transaction')
      await inTransaction(services.db, (tx) =>
        post(tx, { id, kind: 'adjustment', accountId, description: 'A gift', postings, at: clock.now() }),
      )
      return { token: body.token as string, accountId }
    },
    async reconcile() {
      await meter.pass()
      await reconciler.pass()
      await reconciler.idle()
    },
    async close() {
      await reconciler.idle()
      await world.channel.close()
      await world.close()
      await database.drop()
    },
  }
}
