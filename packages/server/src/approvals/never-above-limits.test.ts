import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { expectBooksToBalance } from '../ledger/testing.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { billVps } from '../vps/billing/bill-vps.ts'
import { decide } from './decide-approval.ts'

/*
 * Whatever tokens below a limit do, and whatever goes on in the background meanwhile: on no day more is taken from the
 * balance without the approval of a person than the limit of that day. The test reads the balance alone, not what the
 * service counts.
 */

const LIMIT = 8_000_000n
const HOUR_MS = 3_600_000
const STEP_MS = 2_000
const DAY_MS = 24 * HOUR_MS
/** micro-USD a step, of the largest sandbox, which the clock of the test lets run on beyond its end. */
const BEYOND = (528_000n * BigInt(STEP_MS)) / BigInt(HOUR_MS)

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    env: {
      COINRACK_RATE_ORDERS: '1000000/min',
      COINRACK_RATE_SANDBOXES: '1000000/min',
      COINRACK_RATE_REGISTER: '1000000/min',
    },
  })
  // A month costs 3 USD.
  for (const plan of service.services.catalog.plans) if (plan.slug === 'nano') plan.price_hourly = 700_000n
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

type Action =
  | { do: 'order'; by: number; months: number; hourly: boolean; autoRenew: boolean }
  | { do: 'renew'; by: number; months: number }
  | { do: 'grow'; by: number }
  | { do: 'sandbox'; by: number; timeout: number }
  | { do: 'longer'; by: number; timeout: number }
  | { do: 'child'; by: number; perCall: number | undefined }
  | { do: 'refresh'; by: number }
  | { do: 'autoRenew'; by: number }
  | { do: 'approve' }
  | { do: 'hours'; count: number }
  | { do: 'minutes'; count: number }
  | { do: 'nextDay' }

const by = fc.nat(5)
const months = fc.integer({ min: 1, max: 4 })
const timeout = fc.constantFrom(60, 3_600, 86_400)
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('order' as const), by, months, hourly: fc.boolean(), autoRenew: fc.boolean() }),
  fc.record({
    do: fc.constant('order' as const),
    by,
    months: fc.constant(1),
    hourly: fc.boolean(),
    autoRenew: fc.boolean(),
  }),
  fc.record({ do: fc.constant('renew' as const), by, months }),
  fc.record({ do: fc.constant('grow' as const), by }),
  fc.record({ do: fc.constant('sandbox' as const), by, timeout }),
  fc.record({ do: fc.constant('longer' as const), by, timeout }),
  fc.record({
    do: fc.constant('child' as const),
    by,
    perCall: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
  }),
  fc.record({ do: fc.constant('refresh' as const), by }),
  fc.record({ do: fc.constant('autoRenew' as const), by }),
  fc.record({ do: fc.constant('approve' as const) }),
  fc.record({ do: fc.constant('hours' as const), count: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ do: fc.constant('minutes' as const), count: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ do: fc.constant('nextDay' as const) }),
)

async function play(actions: Action[]): Promise<void> {
  const { services, clock } = service
  clock.advance(DAY_MS - (clock.now().getTime() % DAY_MS))
  const owner = await service.customer(1_000_000_000n)
  const make = (token: string, budget: object) => service.ask('POST', '/tokens', { token, body: { budget } })
  const top = await make(owner.token, { approve_above: { per_day: '8.00' }, allow_auto_renew: true })
  const tokens: string[] = [top.body.token]
  // What another token has ordered can be renewed too.
  const first = await service.ask('POST', '/orders', {
    token: owner.token,
    body: { product: 'nano', os_id: 1, billing_cycle: 'hourly', auto_renew: false },
  })
  await service.reconcile()
  const machines: string[] = [first.body.service_id]
  const sandboxes: string[] = []
  let refused: { approval: string; again: () => Promise<unknown> } | undefined
  const taken = new Map<number, bigint>()

  const available = async () => {
    const { rows } = await services.db.query<{ available: bigint }>(
      'select available from customer_balance where account_id = $1',
      [owner.accountId],
    )
    return BigInt(rows[0]!.available)
  }
  /** Does one thing, and counts what it took from the balance for the day on which it ended. */
  const watch = async (work: () => Promise<unknown>) => {
    const before = await available()
    await work()
    const day = Math.floor(clock.now().getTime() / DAY_MS)
    const sum = (taken.get(day) ?? 0n) + before - (await available())
    taken.set(day, sum)
    const beyond = BEYOND * BigInt(sandboxes.length)
    if (sum > LIMIT + beyond) throw new Error(`${sum} were taken on day ${day} without an approval`)
  }
  const tokenOf = (index: number) => tokens[index % tokens.length]!
  const call = async (
    index: number,
    method: 'POST' | 'PUT',
    path: string,
    body: object,
    made?: (body: { service_id: string; id: string }) => void,
  ) => {
    const send = async () => {
      const reply = await service.ask(method, path, { token: tokenOf(index), body })
      expect(reply.status, JSON.stringify(reply.body)).not.toBe(500)
      if (reply.status === 200) made?.(reply.body)
      if (reply.body.code === 'approval_needed' && reply.body.approval_status === 'pending')
        refused = { approval: reply.body.approval_id, again: send }
      return reply
    }
    await watch(send)
  }
  const anyOf = (all: string[], index: number) => all[index % all.length] ?? 'none'

  for (const [at, each] of actions.entries()) {
    switch (each.do) {
      case 'order': {
        const cycle = each.hourly ? { billing_cycle: 'hourly' } : { months: each.months }
        const body = {
          product: 'nano',
          os_id: 1,
          hostname: `h${at}`,
          auto_renew: each.autoRenew,
          create_invoice: false,
          ...cycle,
        }
        await call(each.by, 'POST', '/orders', body, ({ service_id }) => machines.push(service_id))
        await watch(() => service.reconcile())
        break
      }
      case 'renew':
        await call(each.by, 'POST', `/services/${anyOf(machines, each.by)}/renew`, { months: each.months })
        break
      case 'grow':
        await call(each.by, 'POST', `/services/${anyOf(machines, each.by)}/change-plan`, {
          target_plan: 'small',
          confirm: true,
        })
        break
      case 'sandbox':
        await call(
          each.by,
          'POST',
          '/sandboxes',
          { tariff: 'max', timeout: each.timeout, idle_timeout: 0 },
          ({ id }) => sandboxes.push(id),
        )
        break
      case 'longer':
        await call(each.by, 'POST', `/sandboxes/${anyOf(sandboxes, each.by)}/timeout`, {
          timeout: each.timeout,
        })
        break
      case 'child': {
        const { status, body } = await make(tokenOf(each.by), {
          allow_auto_renew: true,
          ...(each.perCall !== undefined && { approve_above: { per_call: each.perCall } }),
        })
        if (status === 200) tokens.push(body.token)
        break
      }
      case 'refresh': {
        const index = each.by % tokens.length
        const { body } = await service.ask('POST', '/auth/refresh', { token: tokens[index]!, body: {} })
        tokens[index] = body.token
        break
      }
      case 'autoRenew':
        await call(each.by, 'PUT', `/services/${anyOf(machines, each.by)}/auto-renew`, { enabled: true })
        break
      case 'approve':
        if (!refused) break
        await inTransaction(services.db, (tx) =>
          decide(tx, services, refused!.approval, { status: 'approved', provenAt: clock.now() }),
        )
        // What a sandbox then uses up is told apart by its own tests: here it gets none.
        await refused.again()
        await endSandboxes()
        refused = undefined
        break
      case 'hours':
        await endSandboxes()
        for (let hour = 0; hour < each.count; hour++)
          await watch(async () => {
            clock.advance(HOUR_MS)
            await billVps(services)
          })
        break
      case 'minutes':
        for (let step = 0; step < (each.count * 60_000) / STEP_MS; step++)
          await watch(async () => {
            clock.advance(STEP_MS)
            await service.reconcileSandboxes()
          })
        break
      case 'nextDay':
        await endSandboxes()
        await watch(async () => {
          clock.advance(DAY_MS - (clock.now().getTime() % DAY_MS))
          await billVps(services)
        })
    }
  }
  await endSandboxes()

  async function endSandboxes() {
    for (const id of sandboxes.splice(0))
      await watch(() => service.ask('DELETE', `/sandboxes/${id}`, { token: owner.token, body: {} }))
  }
}

test('behavior: on no day more is taken without an approval than the limit, whatever tokens do', {
  timeout: 600_000,
}, async () => {
  const seed = Number(process.env.COINRACK_TEST_SEED ?? 0) || undefined
  await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 6, maxLength: 24 }), play), {
    numRuns: 8,
    ...(seed !== undefined && { seed }),
  })
})
