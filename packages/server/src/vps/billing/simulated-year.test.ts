import { monthsAfter } from '@coinrack/money/index.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dyingAt } from '../../database/testing.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { billVps } from './bill-vps.ts'
import { buyerOf, DAY_MS, forgetVps, goTo, HOUR_MS } from './testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_REGISTER: '100000/min' } })
})
beforeEach(() => forgetVps(service))
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

const now = () => service.clock.now().getTime()

describe('a year', () => {
  test('default: months of every length, a leap day, new prices and a week without the service', async () => {
    const start = new Date('2027-08-31T09:30:15.123Z')
    await goTo(service, start)
    const monthly = await buyerOf(service, 1_000_000_000n)
    // For five hundred hours.
    const hourly = await buyerOf(service, 2_250_000n)
    const poor = await buyerOf(service, 3_000_000n)
    const a = await monthly.order()
    let b: { id: string; from: number } | undefined
    const c = await poor.order({ auto_renew: false })
    const { catalog } = service.services
    const dearer = catalog.plans.map((plan) => ({ ...plan, price: plan.price * 2n }))
    const end = monthsAfter(start, 12).getTime()
    const away = { from: Date.parse('2028-02-27T00:00:00Z'), until: Date.parse('2028-03-05T00:00:00Z') }

    for (let at = start.getTime(); at <= end; at += 11 * HOUR_MS) {
      if (at > Date.parse('2027-12-24T00:00:00Z')) service.services.catalog = { ...catalog, plans: dearer }
      if (at >= away.from && at < away.until) continue
      service.clock.advance(at - now())
      if (!b && at > Date.parse('2028-02-20T00:00:00Z')) {
        b = { id: await hourly.order({ billing_cycle: 'hourly' }), from: at }
      }
      await billVps(service.services)
    }
    service.clock.advance(end - now())
    await billVps(service.services)
    service.services.catalog = catalog

    // The months of the anchor; the first was paid by the order, and the year ends with the thirteenth.
    const months = await monthly.renewals()
    expect(months.map(({ from }) => from)).toEqual(
      Array.from({ length: 12 }, (_, index) => monthsAfter(start, index + 1)),
    )
    expect(months[5]!.from.toISOString()).toBe('2028-02-29T09:30:15.123Z')
    expect(months.every(({ amount }) => amount === 3_000_000n)).toBe(true)
    for (const { at, from } of months) {
      expect(at.getTime()).toBeGreaterThanOrEqual(from.getTime())
      const isWeek = at.getTime() >= away.until && from.getTime() < away.until
      expect(at.getTime() - from.getTime()).toBeLessThan(isWeek ? 8 * DAY_MS : 11 * HOUR_MS)
    }
    // Each hour once, also those of the week: the machine ran on.
    const hours = await hourly.renewals()
    expect(hours.map(({ from }) => from.getTime())).toEqual(
      Array.from({ length: 499 }, (_, index) => b!.from + (index + 1) * HOUR_MS),
    )
    expect(hours.every(({ at, from }) => at.getTime() >= from.getTime())).toBe(true)
    expect(await monthly.balance()).toBe('961.00')
    expect(await hourly.balance()).toBe('0.00')
    expect([(await monthly.vps(a)).status, (await hourly.vps(b!.id)).status]).toEqual(['active', 'deleted'])
    // Not renewed, not charged, not kept.
    expect(await poor.vps(c)).toMatchObject({ status: 'deleted' })
    expect(await poor.renewals()).toEqual([])
    expect(await poor.mails()).toEqual([
      'web is paid for 7 days more',
      'web is paid for 3 days more',
      'web is paid for one day more',
      'web is suspended',
      'web was deleted',
    ])
  }, 120_000)

  test('behavior: the price of an order and of a plan change holds; a new order has the new price', async () => {
    const buyer = await buyerOf(service, 100_000_000n)
    const id = await buyer.order()
    const { catalog } = service.services
    const plans = catalog.plans.map((plan) => ({ ...plan, price: plan.price + 1_000_000n }))
    service.services.catalog = { ...catalog, plans }
    await goTo(service, new Date((await buyer.vps(id)).billing.paid_until))
    expect((await buyer.renewals()).map(({ amount }) => amount)).toEqual([3_000_000n])
    await buyer.post(`/services/${id}/change-plan`, { target_plan: 'micro', confirm: true })
    await service.reconcile()
    await goTo(service, new Date((await buyer.vps(id)).billing.paid_until))
    expect((await buyer.renewals()).at(-1)!.amount).toBe(6_000_000n)
    const other = await buyer.order({ hostname: 'other' })
    service.services.catalog = catalog
    expect((await buyer.vps(other)).billing.price).toBe('4.00')
  })

  test('behavior: a week away from one whose money ended: suspended then, and the week is not charged', async () => {
    const buyer = await buyerOf(service, 3_000_000n)
    const id = await buyer.order()
    const until = Date.parse((await buyer.vps(id)).billing.paid_until)
    await goTo(service, new Date(until + 8 * DAY_MS))
    const vps = await buyer.vps(id)
    expect(vps.status).toBe('suspended')
    // The grace begins with the suspension, not with the week in which no notice could have been sent.
    expect(Date.parse(vps.billing.delete_at!)).toBe(now() + 7 * DAY_MS)
    await buyer.credit(3_000_000n)
    await goTo(service, new Date(now() + HOUR_MS))
    expect((await buyer.renewals()).map(({ from }) => from.getTime())).toEqual([now()])
  })
})

describe('killed at any step', () => {
  /** Runs a pass that is killed at its n-th statement, then a whole one; for every n that there is. */
  async function killEverywhere(prepare: () => Promise<void>, check: () => Promise<void>): Promise<number> {
    for (let statement = 1; ; statement++) {
      await prepare()
      const { services, died } = dyingAt(service.services, statement)
      await billVps(services).catch(() => {})
      await billVps(service.services)
      await check()
      if (!died()) return statement - 1
    }
  }

  test('behavior: a renewal is charged once', async () => {
    const buyer = await buyerOf(service, 1_000_000n)
    const id = await buyer.order({ billing_cycle: 'hourly' })
    let renewals = 0
    const statements = await killEverywhere(
      async () => {
        service.clock.advance(HOUR_MS)
        renewals++
      },
      async () => {
        const all = await buyer.renewals()
        expect(all).toHaveLength(renewals)
        expect((await buyer.periods(id)).at(-1)![0]).toBe(all.at(-1)!.from.toISOString())
      },
    )
    expect(statements).toBeGreaterThan(8)
  })

  test('behavior: suspended, told and resumed once', async () => {
    const buyer = await buyerOf(service, 4_500n)
    const id = await buyer.order({ billing_cycle: 'hourly' })
    const mails: string[] = []
    const expectOnce = (status: string, subject: string) => async () => {
      mails.push(subject)
      expect((await buyer.vps(id)).status).toBe(status)
      expect(await buyer.mails()).toEqual(mails)
    }
    let rounds = 0
    await killEverywhere(
      async () => {
        if (rounds++ > 0) {
          await buyer.credit(4_500n)
          await billVps(service.services)
          await expectOnce('rebooting', 'web goes on')()
        }
        service.clock.advance(HOUR_MS)
      },
      expectOnce('suspended', 'web is suspended'),
    )
    await killEverywhere(
      async () => {
        if ((await buyer.vps(id)).status !== 'suspended') {
          service.clock.advance(HOUR_MS)
          await billVps(service.services)
          await expectOnce('suspended', 'web is suspended')()
        }
        await buyer.credit(4_500n)
      },
      expectOnce('rebooting', 'web goes on'),
    )
    expect(await buyer.balance()).toBe('0.00')
  })

  test('behavior: two replicas at the same moment do each step once', async () => {
    const buyers = await Promise.all(Array.from({ length: 6 }, () => buyerOf(service, 13_500n)))
    const ids: string[] = []
    for (const buyer of buyers) ids.push(await buyer.order({ billing_cycle: 'hourly' }))
    for (let hour = 0; hour < 3; hour++) {
      service.clock.advance(HOUR_MS)
      await Promise.all(Array.from({ length: 4 }, () => billVps(service.services)))
    }
    for (const [index, buyer] of buyers.entries()) {
      expect(await buyer.renewals()).toHaveLength(2)
      expect(await buyer.periods(ids[index]!)).toHaveLength(3)
      expect(await buyer.balance()).toBe('0.00')
      expect(await buyer.mails()).toEqual(['web is suspended'])
    }
  })
})
