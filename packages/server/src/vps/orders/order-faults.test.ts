import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dyingAt } from '../../database/testing.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { PROVISIONING_LIMIT_MS } from '../machine/plan-vps.ts'
import { createVpsReconciler } from '../machine/reconcile-vps.ts'

/*
 * The money of an order while everything around it fails: machines that cannot be made, that never answer or late, a
 * service that is killed at any statement, and a customer who cancels. It is held until SSH has answered, and then
 * charged once, or given back.
 */

const BUDGET = 10_000_000n
const PRICE = 3_000_000n

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_REGISTER: '100000/min', COINRACK_RATE_ORDERS: '100000/min' },
  })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

type Event =
  | { do: 'pass' }
  | { do: 'killed pass'; at: number }
  | { do: 'wait'; minutes: number }
  | { do: 'boot' }
  | { do: 'crash' }
  | { do: 'cancel' }

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'pass' as const }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('killed pass' as const), at: fc.nat(14) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'boot' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'cancel' as const }) },
)
const hostname = fc.constantFrom(
  'web',
  'slow-boot',
  'fail-boot',
  'fail-ensure-2',
  'fail-ensure-9',
  'no-space',
)

async function place(name: string) {
  const { token, accountId } = await service.customer(BUDGET)
  const body = { product: 'nano', os_id: 1, hostname: name }
  const { service_id: id } = (await service.ask('POST', '/orders', { token, body })).body
  return { token, accountId, id: id as string }
}

/** The effect of the order on the money so far, and the state of its VPS. */
async function look({ accountId, id }: { accountId: string; id: string }) {
  const { rows } = await service.services.db.query<{
    available: bigint
    held: bigint
    charges: bigint
    status: string
    anchor_at: Date | null
  }>(
    `select available, held, status, anchor_at,
       (select count(*) from ledger_transaction t where t.account_id = $1 and kind = 'charge') as charges
     from customer_balance, vps where customer_balance.account_id = $1 and vps.id = $2`,
    [accountId, id],
  )
  return rows[0]!
}

async function pass(services: TestService['services']): Promise<void> {
  const reconciler = createVpsReconciler(services)
  await reconciler.pass().catch(() => {})
  await reconciler.idle()
}

test('behavior: a machine that ends after its first boot, and before delivery, is started again and delivered', async () => {
  const order = await place('slow-boot')
  while (!service.driver.machines.has(order.id)) await pass(service.services)
  service.driver.finishBoot(order.id)
  expect((await service.driver.observe(order.id)).sshReady).toBe(true)
  service.driver.crash(order.id)
  expect(await service.driver.observe(order.id)).toMatchObject({ state: 'stopped' })
  for (let passes = 0; passes < 6; passes++) await pass(service.services)
  expect(await look(order)).toMatchObject({
    status: 'active',
    held: 0n,
    charges: 1n,
    available: BUDGET - PRICE,
  })
})

test('behavior: calls that are not answered are no attempts: the order waits for its host, and is charged once', async () => {
  const order = await place('web')
  const { ensure } = service.driver
  service.driver.ensure = () => Promise.reject(new Error('read ECONNRESET'))
  for (let lost = 0; lost < 8; lost++) await pass(service.services)
  service.driver.ensure = ensure
  expect(await look(order)).toMatchObject({ status: 'provisioning', held: PRICE, charges: 0n })
  for (let rest = 0; rest < 6; rest++) await pass(service.services)
  expect(await look(order)).toMatchObject({ status: 'active', held: 0n, charges: 1n })
})

test('behavior: a host that never answers keeps no money', async () => {
  const order = await place('web')
  const { ensure } = service.driver
  service.driver.ensure = () => Promise.reject(new Error('read ECONNRESET'))
  for (let minutes = 0; minutes < 24; minutes++) {
    await pass(service.services)
    service.clock.advance(60_000)
  }
  service.driver.ensure = ensure
  expect(await look(order)).toMatchObject({ status: 'failed', held: 0n, charges: 0n, available: BUDGET })
})

test('behavior: whatever fails, and in whichever order, it is held, then charged once or given back', async () => {
  const property = fc.asyncProperty(
    hostname,
    fc.array(anyEvent, { minLength: 4, maxLength: 14, size: 'max' }),
    async (name, events) => {
      const order = await place(name)
      let hasAnswered = false
      const check = async () => {
        hasAnswered ||= (await service.driver.observe(order.id)).sshReady
        const { available, held, charges, status, anchor_at } = await look(order)
        expect(held).toBe(status === 'provisioning' ? PRICE : 0n)
        expect(charges).toBe(anchor_at === null ? 0n : 1n)
        // An early capture: charged, and nothing had answered.
        if (charges > 0n) expect(hasAnswered).toBe(true)
        if (status === 'failed' || (status === 'deleted' && charges === 0n)) expect(available).toBe(BUDGET)
        if (status === 'active') expect(available).toBe(BUDGET - PRICE)
      }
      for (const event of events) {
        if (event.do === 'pass') await pass(service.services)
        if (event.do === 'killed pass') await pass(dyingAt(service.services, event.at + 1).services)
        if (event.do === 'wait') service.clock.advance(event.minutes * 60_000)
        if (event.do === 'boot') service.driver.finishBoot(order.id)
        if (event.do === 'crash' && service.driver.machines.has(order.id)) service.driver.crash(order.id)
        if (event.do === 'cancel') {
          const body = { mode: 'immediate', confirm: name }
          await service.ask('POST', `/services/${order.id}/cancel`, { token: order.token, body })
        }
        await check()
      }
      service.clock.advance(16 * 60_000)
      for (let rest = service.mode === undefined ? 8 : 24; rest > 0; rest--) await pass(service.services)
      await check()
      const { status, held } = await look(order)
      expect(status).not.toBe('provisioning')
      expect(held).toBe(0n)
      await service.services.db.query(
        `update vps_machine set status = 'deleted', wanted = 'deleted', machine_gone_at = $2 where id = $1`,
        [order.id, service.clock.now()],
      )
    },
  )
  const seed = Date.now() & 0x7fffffff
  console.log(`Orders that fail with seed ${seed}`)
  await fc.assert(property, { seed, numRuns: 20, endOnFailure: true })
}, 120_000)

test.each(['web', 'no-space', 'fail-boot'])(
  'behavior: %s, killed at each statement in turn, comes to the same end',
  async (name) => {
    for (let statement = 1; statement < 60; statement++) {
      const order = await place(name)
      if (name === 'fail-boot') {
        await pass(service.services)
        service.clock.advance(16 * 60_000)
      }
      const { services, died } = dyingAt(service.services, statement)
      await pass(services)
      for (let rest = service.mode === undefined ? 6 : 24; rest > 0; rest--) await pass(service.services)
      const { available, held, charges, status } = await look(order)
      const charged = name === 'web'
      expect([status, available, held, charges]).toEqual([
        charged ? 'active' : 'failed',
        charged ? BUDGET - PRICE : BUDGET,
        0n,
        charged ? 1n : 0n,
      ])
      await service.services.db.query(
        `update vps_machine set status = 'deleted', wanted = 'deleted', machine_gone_at = $2 where id = $1`,
        [order.id, service.clock.now()],
      )
      if (!died()) return
    }
    throw new Error('A pass does not come to an end')
  },
)

test('behavior: an order whose host never answers again is given back when its time is over, and its machine goes with the host', async () => {
  const { token, accountId, id } = await place('slow-boot')
  await service.reconcile()
  expect(service.driver.machines.has(id)).toBe(true)
  const { driver } = service
  const { observe, observeAll, destroy } = driver
  const away = async (): Promise<never> => {
    throw new Error('connect ETIMEDOUT')
  }
  Object.assign(driver, { observe: away, observeAll: away, destroy: away })
  try {
    await service.reconcile()
    expect((await service.ask('GET', '/balance', { token })).body).toMatchObject({ held: '3.00' })
    service.clock.advance(PROVISIONING_LIMIT_MS + 1)
    await service.reconcile()
    expect((await service.ask('GET', '/balance', { token })).body).toMatchObject({
      balance: '10.00',
      held: '0.00',
    })
    expect(service.driver.machines.has(id)).toBe(true)
  } finally {
    Object.assign(driver, { observe, observeAll, destroy })
  }
  await service.reconcile()
  expect(service.driver.machines.has(id)).toBe(false)
  expect(await look({ accountId, id })).toMatchObject({ charges: 0n, held: 0n })
})
