import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { post } from '../ledger/post.ts'
import { sendQueuedMail } from '../platform/queue-mail.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { notifyLowBalances } from './notify-low-balances.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_REGISTER: '1000/min' } })
})
afterAll(() => service.close())

const HOUR_MS = 3_600_000
/** The price of the plan that is ordered, micro-USD an hour. */
const HOURLY = 4_500n
const inHours = (hours: number) => new Date(service.clock.now().getTime() + hours * HOUR_MS).toISOString()

/** A customer whose hourly VPS was delivered now, and whose balance then covers so many hours more. */
async function customer(hours: bigint) {
  const { token, accountId } = await service.customer((hours + 1n) * HOURLY)
  const post = (path: string, body: object) => service.ask('POST', path, { token, body })
  const order = await post('/orders', { product: 'nano', os_id: 1, billing_cycle: 'hourly' })
  expect(order.status).toBe(200)
  await service.reconcile()
  const { rows } = await service.services.db.query<{ email: string }>(
    'select email from account where id = $1',
    [accountId],
  )
  return {
    token,
    accountId,
    id: order.body.service_id as string,
    post,
    header: async () => (await service.ask('GET', '/account', { token })).headers['x-balance-runs-out-at'],
    autoRenew: (enabled: boolean) =>
      service.ask('PUT', `/services/${order.body.service_id}/auto-renew`, { token, body: { enabled } }),
    async told() {
      const { rows: events } = await service.services.db.query<{ data: Record<string, unknown> }>(
        `select data from event where account_id = $1 and type = 'balance.low' order by id`,
        [accountId],
      )
      await sendQueuedMail(service.services)
      const mails = service.mails.filter(
        ({ to, subject }) => to === rows[0]!.email && /runs out/.test(subject),
      )
      expect(mails).toHaveLength(events.length)
      return events.map(({ data }) => data)
    },
  }
}
type Customer = Awaited<ReturnType<typeof customer>>

const tell = () => notifyLowBalances(service.services)
const told = async ({ told: of }: Customer) => {
  await tell()
  await tell()
  // Events are in the order of their times.
  service.clock.advance(1)
  return (await of()).map(({ threshold_hours }) => threshold_hours)
}
/** As time does, without its passing: charges so many hours. */
const spend = ({ accountId }: Customer, hours: bigint) =>
  inTransaction(service.services.db, (tx) =>
    post(tx, {
      id: service.services.newId('transaction'),
      kind: 'charge',
      accountId,
      description: 'Hours',
      postings: [{ from: 'customer.available', to: 'revenue.vps', amount: hours * HOURLY }],
      at: service.clock.now(),
    }),
  )
const topUp = ({ accountId }: Customer, hours: bigint) => service.credit(accountId, hours * HOURLY)

test('default: told by event and mail, once for each threshold', async () => {
  const buyer = await customer(72n)
  expect(await told(buyer)).toEqual([])
  await spend(buyer, 1n)
  expect(await told(buyer)).toEqual([72])
  await spend(buyer, 40n)
  expect(await told(buyer)).toEqual([72])
  const end = inHours(24)
  await spend(buyer, 8n)
  expect(await told(buyer)).toEqual([72, 24])
  expect((await buyer.told()).at(-1)).toMatchObject({
    balance: '0.1035',
    burn_per_hour: '0.0045',
    runs_out_at: expect.stringContaining(end.slice(0, 17)),
    threshold_hours: 24,
  })
  const { text } = service.mails.at(-1)!
  expect(text).toContain('0.1035 USD')
  expect(text).toContain('topup_balance')
})

test('behavior: told again after a top-up', async () => {
  const buyer = await customer(10n)
  expect(await told(buyer)).toEqual([24])
  await topUp(buyer, 100n)
  expect(await told(buyer)).toEqual([24])
  await spend(buyer, 50n)
  expect(await told(buyer)).toEqual([24, 72])
})

test('behavior: renewals switched off and on are no reason to tell it again, until a day went by', async () => {
  const buyer = await customer(10n)
  expect(await told(buyer)).toEqual([24])
  for (let times = 0; times < 3; times++) {
    await buyer.autoRenew(false)
    expect(await told(buyer)).toEqual([24])
    expect(await buyer.header()).toBeUndefined()
    await buyer.autoRenew(true)
    expect(await told(buyer)).toEqual([24])
  }
  await buyer.autoRenew(false)
  service.clock.advance(24 * HOUR_MS)
  expect(await told(buyer)).toEqual([24])
  await buyer.autoRenew(true)
  expect(await told(buyer)).toEqual([24, 24])
})

test('behavior: while it is low every answer says so, by REST in a header and to tools as a next step', async () => {
  const buyer = await customer(10n)
  expect(await buyer.header()).toBeUndefined()
  await tell()
  const runsOutAt = inHours(11)
  expect(await buyer.header()).toBe(runsOutAt)
  const step = {
    tool: 'topup_balance',
    why: `The balance is low: it covers the renewals until ${runsOutAt}; after that services are suspended`,
  }
  const whoami = async () => (await service.tool('whoami', {}, { token: buyer.token })).body.next_steps
  expect(await whoami()).toContainEqual(step)
  await topUp(buyer, 1000n)
  await tell()
  expect(await buyer.header()).toBeUndefined()
  expect(await whoami()).not.toContainEqual(step)
})

test('behavior: replicas that look at the same moment tell it once', async () => {
  const buyer = await customer(10n)
  await Promise.all(Array.from({ length: 8 }, tell))
  expect(await buyer.told()).toHaveLength(1)
})

test('behavior: killed before the commit nothing was told; the next look tells it', async () => {
  const buyer = await customer(10n)
  const { services } = service
  for (const step of [
    'insert into low_balance',
    'insert into event',
    'insert into outgoing_mail',
    'commit',
  ]) {
    await notifyLowBalances({ ...services, db: breaksAt(step) })
    expect(await buyer.told()).toEqual([])
  }
  expect(await told(buyer)).toEqual([24])
})

test('behavior: nothing is told of what does not renew itself, nor without thresholds', async () => {
  const buyer = await customer(10n)
  await notifyLowBalances({
    ...service.services,
    config: { ...service.services.config, lowBalanceHours: [] },
  })
  expect(await buyer.told()).toEqual([])
  await buyer.autoRenew(false)
  expect(await told(buyer)).toEqual([])
})

/** The pool, whose connections fail at a statement that begins so. */
function breaksAt(step: string): TestService['services']['db'] {
  const { db } = service.services
  return {
    query: db.query.bind(db),
    async connect() {
      const client = await db.connect()
      return {
        query: (text: string, values?: unknown[]) => {
          if (String(text).trimStart().startsWith(step)) return Promise.reject(new Error('killed'))
          return client.query(text, values)
        },
        release: () => client.release(),
      }
    },
  } as unknown as TestService['services']['db']
}

test('behavior: what sandboxes that run will cost counts as well, until they end', async () => {
  const { token, accountId } = await service.customer(50_000n)
  const shown = async () => (await service.ask('GET', '/balance', { token })).body.runs_out_at
  const header = async () =>
    (await service.ask('GET', '/account', { token })).headers['x-balance-runs-out-at']
  const begun = await service.ask('POST', '/sandboxes', { token, body: {} })
  expect(begun.status).toBe(200)
  await tell()
  const end = await shown()
  expect(end).toEqual(expect.any(String))
  const { rows } = await service.services.db.query<{ data: Record<string, unknown> }>(
    `select data from event where account_id = $1 and type = 'balance.low'`,
    [accountId],
  )
  expect(rows.map(({ data }) => data)).toMatchObject([{ threshold_hours: 24, runs_out_at: end }])
  expect(await header()).toBe(end)
  await service.ask('DELETE', `/sandboxes/${begun.body.id}`, { token })
  await service.reconcileSandboxes()
  await tell()
  expect(await shown()).toBeNull()
  expect(await header()).toBeUndefined()
})
