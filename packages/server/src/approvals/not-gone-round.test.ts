import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../ledger/testing.ts'
import { sendQueuedMail } from '../platform/queue-mail.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { billVps } from '../vps/billing/bill-vps.ts'
import { decideOn, ownerOf, refused } from './testing.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let service: TestService
let owner: Awaited<ReturnType<typeof ownerOf>>
beforeAll(async () => {
  service = await startTestService({
    env: {
      COINRACK_RATE_ORDERS: '100000/min',
      COINRACK_RATE_SANDBOXES: '100000/min',
      COINRACK_RATE_REGISTER: '100000/min',
    },
  })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})
beforeEach(async () => {
  service.clock.advance(DAY_MS)
  owner = await ownerOf(service)
})

describe('what does not go round it', () => {
  test('behavior: a child has no higher limit, and stands below those above it', async () => {
    const shopper = await owner.agent({ per_call: '2.00', per_day: '5.00' })
    const higher = await owner.post(shopper, '/tokens', { budget: { approve_above: { per_call: '2.50' } } })
    expect(higher.body).toMatchObject({
      code: 'budget_exceeded',
      cap: 'approve_above.per_call',
      limit: '2.00',
    })
    const free = (await owner.post(shopper, '/tokens', {})).body
    const reply = await owner.order(free)
    refused(reply)
    expect(reply.body.limit.token_id).toBe(shopper.id)
    // Nor can it change its own.
    const own = await service.ask('PATCH', `/tokens/${shopper.id}`, {
      token: shopper.token,
      body: { budget: null },
    })
    expect(own.body.code).toBe('token_not_below')
  })

  test('behavior: many small calls of several children are one day', async () => {
    const shopper = await owner.agent({ per_day: '7.00' })
    const statuses: number[] = []
    for (let index = 0; index < 4; index++) {
      const child = (await owner.post(shopper, '/tokens', {})).body
      statuses.push((await owner.order(child, { hostname: `web${index}` })).status)
    }
    expect(statuses).toEqual([200, 200, 403, 403])
  })

  test('behavior: a refreshed token has what it had', async () => {
    const shopper = await owner.agent({ per_day: '3.00' })
    expect((await owner.order(shopper, { hostname: 'a' })).status).toBe(200)
    const { token } = (await owner.post(shopper, '/auth/refresh')).body
    const id = refused(await owner.order({ token }, { hostname: 'b' }))
    expect(refused(await owner.order(shopper, { hostname: 'b' }))).toBe(id)
  })

  test('behavior: renewals in the background end at the limit, told to the owner', async () => {
    const shopper = await owner.agent({ per_day: '3.00' }, { allow_auto_renew: true })
    const { body } = await owner.order(shopper, { billing_cycle: 'hourly' })
    await service.reconcile()
    expect(body.status).toBe('provisioning')
    const before = await owner.charged()
    // A day has no more hours than that.
    await service.services.db.query('update vps_billing set price_hourly = 1000000 where id = $1', [
      body.service_id,
    ])
    for (let hour = 0; hour < 6; hour++) {
      service.clock.advance(HOUR_MS)
      await billVps(service.services)
    }
    const since = (await owner.charged()) - before
    expect(since).toBeGreaterThan(0n)
    expect(since).toBeLessThanOrEqual(3_000_000n)
    const { body: shown } = await service.ask('GET', `/services/${body.service_id}`, { token: owner.token })
    expect(shown.status).toBe('suspended')
    while ((await sendQueuedMail(service.services)).done > 0);
    expect(service.mails.at(-1)).toMatchObject({
      subject: expect.stringContaining('is suspended'),
      text: expect.stringContaining('approve_above'),
    })
  })

  test('behavior: nor does auto-renew of what another token ordered', async () => {
    const { body } = await owner.order(owner, { billing_cycle: 'hourly', auto_renew: false })
    await service.reconcile()
    await service.services.db.query('update vps_billing set price_hourly = 1000000 where id = $1', [
      body.service_id,
    ])
    const shopper = await owner.agent({ per_day: '2.00' }, { allow_auto_renew: true })
    expect(
      (
        await service.ask('PUT', `/services/${body.service_id}/auto-renew`, {
          token: shopper.token,
          body: { enabled: true },
        })
      ).status,
    ).toBe(200)
    const before = await owner.charged()
    for (let hour = 0; hour < 5; hour++) {
      service.clock.advance(HOUR_MS)
      await billVps(service.services)
    }
    expect((await owner.charged()) - before).toBe(2_000_000n)
  })

  test('behavior: an order that money arrives for is not begun above the limit: the money is on the balance', async () => {
    const poor = await service.customer()
    const shopper = await owner.agent({ per_call: '5.00' }, { by: poor.token })
    const unpaid = await owner.order(shopper, { hostname: 'web' })
    expect(unpaid.status).toBe(402)
    await service.ask('PATCH', `/tokens/${shopper.id}`, {
      token: poor.token,
      body: { budget: { approve_above: { per_call: '1.00' } } },
    })
    await service.credit(poor.accountId, 3_000_000n)
    const paid = await owner.post(shopper, `/invoices/${unpaid.body.invoice.id}/pay`, { method: 'balance' })
    const id = refused(paid)
    expect(paid.body.subject).toBe('VPS nano web, one month')
    await decideOn(service, id, 'approved')
    expect(
      (await owner.post(shopper, `/invoices/${unpaid.body.invoice.id}/pay`, { method: 'balance' })).status,
    ).toBe(200)
  })
})

describe('sandboxes', () => {
  const MICRO_HOUR = 16_500n

  test('behavior: what it costs until its timeout is what a person approves', async () => {
    const shopper = await owner.agent({ per_call: '0.01' })
    expect((await owner.post(shopper, '/sandboxes', { timeout: 1800 })).status).toBe(200)
    const long = await owner.post(shopper, '/sandboxes', { timeout: 7200 })
    const id = refused(long)
    expect(long.body).toMatchObject({
      price: '0.033',
      subject: 'A sandbox (micro, 0.0165 USD an hour) for at most 120 minutes',
    })
    await decideOn(service, id, 'approved')
    expect((await owner.post(shopper, '/sandboxes', { timeout: 7200 })).status).toBe(200)
  })

  test('behavior: a longer timeout, another run and a fork are asked for like the first', async () => {
    const shopper = await owner.agent({ per_call: '0.01' })
    const { body } = await owner.post(shopper, '/sandboxes', { timeout: 600, mode: 'persistent' })
    const path = `/sandboxes/${body.id}`
    expect((await owner.post(shopper, `${path}/timeout`, { timeout: 900 })).status).toBe(200)
    const id = refused(await owner.post(shopper, `${path}/timeout`, { timeout: 36_000 }))
    refused(await owner.post(shopper, `${path}/fork`, { timeout: 36_000 }))
    await decideOn(service, id, 'approved')
    expect((await owner.post(shopper, `${path}/timeout`, { timeout: 36_000 })).body).toMatchObject({
      timeout: 36_000,
    })
    expect((await owner.post(shopper, `${path}/timeout`, { timeout: 60 })).status).toBe(200)
    expect((await owner.post(shopper, `${path}/pause`)).status).toBe(200)
    refused(await owner.post(shopper, `${path}/resume`, { timeout: 36_000 }))
    expect((await owner.post(shopper, `${path}/resume`, { timeout: 60 })).status).toBe(200)
  })

  test('behavior: many run until the day is used up, and not beyond', async () => {
    const shopper = await owner.agent({ per_day: '0.0165' })
    const ids: string[] = []
    for (let index = 0; index < 4; index++) {
      const { status, body } = await owner.post(shopper, '/sandboxes', { timeout: 3000, idle_timeout: 0 })
      if (status === 200) ids.push(body.id)
    }
    expect(ids).toHaveLength(4)
    for (let passes = 0; passes < 400; passes++) {
      service.clock.advance(5_000)
      await service.reconcileSandboxes()
    }
    const { rows } = await service.services.db.query<{ charged: bigint; reason: string }>(
      'select charged, reason from sandbox where id = any($1)',
      [ids],
    )
    expect(rows.map(({ reason }) => reason)).toEqual(Array(4).fill('budget'))
    const sum = rows.reduce((total, row) => total + row.charged, 0n)
    // The clock of this test moves five seconds at once, in which four of them run on.
    expect(sum).toBeLessThanOrEqual(MICRO_HOUR + (4n * 5n * MICRO_HOUR) / 3600n)
    expect(sum).toBeGreaterThan(MICRO_HOUR - 1_000n)
    refused(await owner.post(shopper, '/sandboxes', { timeout: 3000 }))
  })

  test('behavior: one that was approved goes on beside the limit of the day, for what was approved', async () => {
    const shopper = await owner.agent({ per_day: '0.001' })
    await decideOn(
      service,
      refused(await owner.post(shopper, '/sandboxes', { timeout: 3600, idle_timeout: 0 })),
      'approved',
    )
    const { body } = await owner.post(shopper, '/sandboxes', { timeout: 3600, idle_timeout: 0 })
    for (let passes = 0; passes < 116; passes++) {
      service.clock.advance(30_000)
      await service.reconcileSandboxes()
    }
    expect((await service.ask('GET', `/sandboxes/${body.id}`, { token: shopper.token })).body).toMatchObject({
      state: 'running',
    })
    const [row] = (await service.ask('GET', '/tokens', { token: shopper.token })).body
    expect(row.spent.unapproved_today).toBe('0.00')
  })
})
