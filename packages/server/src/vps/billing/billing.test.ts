import type { LedgerAccount } from '@coinrack/money/index.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { sendQueuedMail } from '../../platform/queue-mail.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { billVps } from './bill-vps.ts'
import { type Buyer, buyerOf, DAY_MS, forgetVps, goTo, HOUR_MS } from './testing.ts'

let service: TestService
let buyer: Buyer
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_REGISTER: '100000/min', COINRACK_RATE_ORDERS: '100000/min' },
  })
})
afterEach(() => forgetVps(service))
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

const now = () => service.clock.now().getTime()
const machine = (id: string) => service.driver.machines.get(id)
const paidUntil = async (id: string) => new Date((await buyer.vps(id)).billing.paid_until)
/** To so many milliseconds after the end of the paid time. */
const toEnd = async (id: string, after = 0) =>
  goTo(service, new Date((await paidUntil(id)).getTime() + after))

describe('monthly', () => {
  test('default: charged at the end of the paid time, not before', async () => {
    buyer = await buyerOf(service, 10_000_000n)
    const id = await buyer.order()
    const until = await paidUntil(id)
    await toEnd(id, -1)
    expect(await buyer.balance()).toBe('7.00')
    await toEnd(id)
    expect(await buyer.balance()).toBe('4.00')
    expect(await buyer.renewals()).toEqual([{ at: until, from: until, amount: 3_000_000n }])
    expect(await buyer.vps(id)).toMatchObject({ status: 'active', ssh_ready: true })
    expect((await paidUntil(id)).getTime()).toBeGreaterThan(until.getTime() + 27 * DAY_MS)
  })

  test('default: notices seven, three and one day before, once each', async () => {
    buyer = await buyerOf(service, 6_000_000n)
    const id = await buyer.order()
    const until = (await paidUntil(id)).getTime()
    for (let at = until - 9 * DAY_MS; at < until; at += 5 * HOUR_MS) {
      await goTo(service, new Date(at))
      await billVps(service.services)
    }
    const mails = ['web renews in 7 days', 'web renews in 3 days', 'web renews in one day']
    expect(await buyer.mails()).toEqual(mails)
    await goTo(service, new Date(until))
    expect(await buyer.mails()).toEqual(mails)
    // The next renewal has its own.
    await toEnd(id, -7 * DAY_MS)
    expect(await buyer.mails()).toEqual([...mails, 'web renews in 7 days'])
  })

  test('behavior: a notice says whether the balance covers it, and what happens otherwise', async () => {
    buyer = await buyerOf(service, 5_000_000n)
    const id = await buyer.order()
    const other = await buyerOf(service, 3_000_000n)
    const cancelled = await other.order({ auto_renew: false })
    await other.post(`/services/${cancelled}/cancel`, {})
    const third = await buyerOf(service, 6_000_000n)
    const manual = await third.order({ auto_renew: false })
    await toEnd(id, -7 * DAY_MS)
    const bodyOf = async (who: Buyer) => (await who.mail())[0]!.text
    expect(await bodyOf(buyer)).toContain('The balance does not cover that now')
    expect(await bodyOf(other)).toContain('It was cancelled')
    expect(await bodyOf(third)).toContain(manual)
    expect(await bodyOf(third)).toContain('call renew_service (3.00 USD a month)')
  })

  test('default: without money it is suspended and off, and goes on by itself when there is money', async () => {
    buyer = await buyerOf(service, 3_000_000n)
    const id = await buyer.order()
    await toEnd(id)
    const suspended = await buyer.vps(id)
    expect(suspended).toMatchObject({ status: 'suspended', ssh_ready: false })
    expect(Date.parse(suspended.billing.delete_at!)).toBe(now() + 7 * DAY_MS)
    expect(machine(id)!.startedAt).toBeUndefined()
    expect(await buyer.power(id, 'start')).toMatchObject({ status: 409, body: { code: 'service_busy' } })

    service.clock.advance(2 * DAY_MS)
    await buyer.credit(3_500_000n)
    const resumedAt = service.clock.now()
    await goTo(service, resumedAt)
    expect(await buyer.vps(id)).toMatchObject({ status: 'active', ssh_ready: true })
    expect(machine(id)!.starts).toBe(2)
    expect(await buyer.balance()).toBe('0.50')
    // Paid from now on: the days between were not served, and the months have a new anchor.
    expect((await buyer.renewals()).map(({ from }) => from)).toEqual([resumedAt])
    expect((await paidUntil(id)).getUTCHours()).toBe(resumedAt.getUTCHours())
    expect((await buyer.mails()).slice(-2)).toEqual(['web is suspended', 'web goes on'])
  })

  test('default: without auto-renew it is suspended although there is money, until it is renewed', async () => {
    buyer = await buyerOf(service, 20_000_000n)
    const id = await buyer.order({ auto_renew: false })
    await toEnd(id)
    await goTo(service, new Date(now() + DAY_MS))
    expect(await buyer.vps(id)).toMatchObject({ status: 'suspended' })
    expect(await buyer.balance()).toBe('17.00')
    const { status, body } = await buyer.renew(id, { months: 2 })
    expect(status).toBe(200)
    expect(body).toMatchObject({ charged: '6.00', balance: '11.00' })
    await service.reconcile()
    expect(await buyer.vps(id)).toMatchObject({ status: 'active', billing: { auto_renew: false } })
    expect((await buyer.periods(id)).at(-2)![0]).toBe(new Date(now()).toISOString())
  })

  test('default: after the grace it is deleted with its disk', async () => {
    buyer = await buyerOf(service, 3_000_000n)
    const id = await buyer.order()
    await toEnd(id)
    await goTo(service, new Date(now() + 7 * DAY_MS - 1))
    expect(machine(id)).toBeDefined()
    await goTo(service, new Date(now() + 1))
    expect(await buyer.vps(id)).toMatchObject({ status: 'deleted' })
    expect(machine(id)).toBeUndefined()
    expect((await buyer.mails()).slice(-2)).toEqual(['web is suspended', 'web was deleted'])
    await buyer.credit(10_000_000n)
    await goTo(service, new Date(now() + DAY_MS))
    expect(await buyer.balance()).toBe('10.00')
    expect(await buyer.renew(id)).toMatchObject({ status: 409, body: { code: 'service_busy' } })
  })

  test('behavior: one that its owner had stopped is charged too, and is stopped after a suspension', async () => {
    buyer = await buyerOf(service, 6_000_000n)
    const id = await buyer.order()
    await buyer.power(id, 'stop')
    await toEnd(id)
    expect(await buyer.balance()).toBe('0.00')
    await toEnd(id)
    expect(await buyer.vps(id)).toMatchObject({ status: 'suspended' })
    await buyer.credit(3_000_000n)
    await goTo(service, new Date(now() + 1000))
    expect(await buyer.vps(id)).toMatchObject({ status: 'stopped' })
    await buyer.power(id, 'start')
    await service.reconcile()
    expect(await buyer.vps(id)).toMatchObject({ status: 'active', ssh_ready: true })
    expect(machine(id)!.starts).toBe(2)
  })

  test('behavior: suspended in the middle of a reinstall, its disk is made anew afterwards', async () => {
    buyer = await buyerOf(service, 3_000_000n)
    const id = await buyer.order({ hostname: 'slow-boot-web' })
    service.driver.finishBoot(id)
    await service.reconcile()
    await service.reconcile()
    const { body } = await buyer.post(`/services/${id}/reinstall`, { os_id: 2, confirm: 'DELETE' })
    await service.reconcile()
    await toEnd(id)
    expect(await buyer.vps(id)).toMatchObject({ status: 'suspended' })
    const work = await service.ask('GET', `/operations/${body.operation.id}`, { token: buyer.token })
    expect(work.body).toMatchObject({ status: 'failed' })
    await buyer.credit(3_000_000n)
    await goTo(service, new Date(now() + 1000))
    expect(await buyer.vps(id)).toMatchObject({ status: 'reinstalling' })
    service.driver.finishBoot(id)
    await service.reconcile()
    expect(await buyer.vps(id)).toMatchObject({ status: 'active', ssh_ready: true })
    expect(machine(id)!.spec.image).toBe('debian-13')
  })

  test('behavior: money is owed: nothing is renewed from what comes beside it', async () => {
    buyer = await buyerOf(service, 6_000_000n)
    const id = await buyer.order()
    const owe = (from: LedgerAccount, to: LedgerAccount) =>
      service.post(buyer.accountId, [{ from, to, amount: 1n }])
    await owe('customer.owed', 'treasury.8453.USDC')
    await toEnd(id)
    await owe('treasury.8453.USDC', 'customer.owed')
    expect(await buyer.vps(id)).toMatchObject({ status: 'suspended' })
    expect(await buyer.balance()).toBe('3.00')
  })
})

describe('hourly', () => {
  test('default: the first hour is held and charged, then each one at its start, off or on', async () => {
    buyer = await buyerOf(service, 1_000_000n)
    const id = await buyer.order({ billing_cycle: 'hourly' })
    expect(await buyer.balance()).toBe('0.9955')
    expect((await buyer.vps(id)).billing).toMatchObject({ cycle: 'hourly', price: '0.0045' })
    await toEnd(id, -1)
    expect(await buyer.balance()).toBe('0.9955')
    await buyer.power(id, 'stop')
    for (let hour = 0; hour < 5; hour++) await toEnd(id)
    expect(await buyer.balance()).toBe('0.973')
    expect((await buyer.renewals()).every(({ at, from }) => at.getTime() === from.getTime())).toBe(true)
    expect(await buyer.mails()).toEqual([])
  })

  test('default: without money it is suspended, and deleted after three days', async () => {
    buyer = await buyerOf(service, 9_000n)
    const id = await buyer.order({ billing_cycle: 'hourly' })
    await toEnd(id)
    await toEnd(id)
    expect(await buyer.balance()).toBe('0.00')
    expect(await buyer.vps(id)).toMatchObject({ status: 'suspended' })
    await goTo(service, new Date(now() + 3 * DAY_MS - 1))
    expect(machine(id)).toBeDefined()
    await goTo(service, new Date(now() + 1))
    expect(await buyer.vps(id)).toMatchObject({ status: 'deleted' })
    expect(machine(id)).toBeUndefined()
  })

  test('default: cancelled at once, a started hour is paid and one ahead is given back', async () => {
    buyer = await buyerOf(service, 1_000_000n)
    const id = await buyer.order({ billing_cycle: 'hourly' })
    expect(await buyer.renew(id)).toMatchObject({ status: 200, body: { charged: '0.0045' } })
    expect((await buyer.cancelNow(id)).body).toMatchObject({ credited: '0.0045', balance: '0.9955' })
  })

  test('behavior: a change of plan is charged for the rest of the hour, and the next hour at its price', async () => {
    buyer = await buyerOf(service, 1_000_000n)
    const id = await buyer.order({ billing_cycle: 'hourly' })
    service.clock.advance(HOUR_MS / 2)
    const { body } = await buyer.post(`/services/${id}/change-plan`, { target_plan: 'micro', confirm: true })
    expect(body).toMatchObject({ charged: '0.0015', balance: '0.994' })
    await toEnd(id)
    expect(await buyer.balance()).toBe('0.9865')
  })

  test('error: it has no months', async () => {
    buyer = await buyerOf(service, 10_000_000n)
    const body = { product: 'nano', os_id: 1, billing_cycle: 'hourly', months: 2 }
    expect(await buyer.post('/orders', body)).toMatchObject({ status: 422, body: { code: 'invalid_input' } })
    const id = await buyer.order({ billing_cycle: 'hourly' })
    expect(await buyer.renew(id, { months: 2 })).toMatchObject({ status: 422 })
  })
})

describe('months in advance', () => {
  test('default: ordered with months they are held, charged once, and given back when it is cancelled', async () => {
    buyer = await buyerOf(service, 20_000_000n)
    const id = await buyer.order({ months: 3 })
    expect(await buyer.balance()).toBe('11.00')
    const periods = await buyer.periods(id)
    expect(periods.map(([from]) => from).slice(1)).toEqual(periods.map(([, until]) => until).slice(0, -1))
    expect(await paidUntil(id)).toEqual(new Date(periods[2]![1]))
    // Into the second month: one is over, one began, one is whole.
    await goTo(service, new Date(Date.parse(periods[1]![0]) + 30 * 60_000))
    expect((await buyer.cancelNow(id)).body).toMatchObject({ credited: '5.9955', balance: '16.9955' })
  })

  test('default: renewed while it is paid, it is paid for longer, up to twelve months ahead', async () => {
    buyer = await buyerOf(service, 100_000_000n)
    const id = await buyer.order()
    const first = await paidUntil(id)
    expect(await buyer.renew(id, { months: 11 })).toMatchObject({ body: { charged: '33.00' } })
    expect((await buyer.periods(id))[1]![0]).toBe(first.toISOString())
    expect((await buyer.renew(id)).status).toBe(200)
    expect(await buyer.renew(id)).toMatchObject({ status: 409, body: { code: 'renewal_limit' } })
    expect(await buyer.balance()).toBe('61.00')
  })

  test('error: 402 with the amounts, and nothing is changed', async () => {
    buyer = await buyerOf(service, 5_000_000n)
    const id = await buyer.order()
    const before = await buyer.vps(id)
    expect(await buyer.renew(id, { months: 2 })).toMatchObject({
      status: 402,
      body: { code: 'insufficient_balance', required: '6.00', balance: '2.00', shortfall: '4.00' },
    })
    expect(await buyer.vps(id)).toEqual(before)
  })

  test('behavior: of twelve renewals at the same moment as many succeed as the balance covers', async () => {
    buyer = await buyerOf(service, 15_000_000n)
    const id = await buyer.order()
    const all = await Promise.all(Array.from({ length: 12 }, () => buyer.renew(id)))
    expect(all.map(({ status }) => status).sort()).toEqual([...Array(4).fill(200), ...Array(8).fill(402)])
    const periods = await buyer.periods(id)
    expect(periods.map(([from]) => from).slice(1)).toEqual(periods.map(([, until]) => until).slice(0, -1))
    expect(await buyer.balance()).toBe('0.00')
  })

  test('behavior: a change of plan is charged for the months ahead too, and all of it is given back', async () => {
    buyer = await buyerOf(service, 20_000_000n)
    const id = await buyer.order({ months: 3 })
    const { body } = await buyer.post(`/services/${id}/change-plan`, { target_plan: 'micro', confirm: true })
    expect(body).toMatchObject({ charged: '6.00', balance: '5.00' })
    // An hour of the first month is used; 5.00 each were paid for the two others.
    expect((await buyer.cancelNow(id)).body.credited).toBe('14.9925')
  })

  test('behavior: renewing or auto-renew withdraws a cancellation to the end of the period', async () => {
    buyer = await buyerOf(service, 20_000_000n)
    const id = await buyer.order()
    for (const withdraw of [() => buyer.renew(id), () => buyer.autoRenew(id, true)]) {
      await buyer.post(`/services/${id}/cancel`, {})
      expect((await withdraw()).body.service.billing).toMatchObject({ cancel_at_period_end: false })
    }
    await toEnd(id)
    expect(await buyer.vps(id)).toMatchObject({ status: 'active' })
  })
})

describe('how long the balance lasts', () => {
  test('default: of both cycles, to the moment at which the first of them is suspended', async () => {
    buyer = await buyerOf(service, 3_000_000n + 4_500n * 31n)
    const monthly = await buyer.order()
    const hourly = await buyer.order({ billing_cycle: 'hourly', hostname: 'other' })
    const shown = async () => (await service.ask('GET', '/balance', { token: buyer.token })).body
    const first = await shown()
    // 3.00 over 730 hours, rounded up, and 0.0045.
    expect(first.burn_per_hour).toBe('0.00861')
    expect(Date.parse(first.runs_out_at)).toBe(now() + 31 * HOUR_MS)
    service.clock.advance(10 * HOUR_MS + 1)
    await billVps(service.services)
    expect((await shown()).runs_out_at).toBe(first.runs_out_at)
    await goTo(service, new Date(Date.parse(first.runs_out_at) - 1))
    expect(await buyer.vps(hourly)).toMatchObject({ status: 'active' })
    await goTo(service, new Date(first.runs_out_at))
    expect(await buyer.vps(hourly)).toMatchObject({ status: 'suspended' })
    // A suspended service burns nothing; the month is what comes next.
    expect(await shown()).toMatchObject({
      burn_per_hour: '0.00411',
      runs_out_at: (await buyer.vps(monthly)).billing.paid_until,
    })
    expect((await buyer.autoRenew(monthly, false)).body).toMatchObject({
      burn_per_hour: '0.00',
      runs_out_at: null,
    })
  })
})

describe('what its owner is told', () => {
  test('default: by mail once, whichever replica sends it, and by event', async () => {
    buyer = await buyerOf(service, 3_000_000n)
    const id = await buyer.order()
    await toEnd(id)
    await Promise.all(Array.from({ length: 4 }, () => sendQueuedMail(service.services)))
    await buyer.credit(3_000_000n)
    await goTo(service, new Date(now() + HOUR_MS))
    await buyer.autoRenew(id, false)
    await toEnd(id)
    await goTo(service, new Date(now() + 7 * DAY_MS))
    const about = { service_id: id, hostname: 'web' }
    const events = await buyer.events()
    expect(events.map(({ type }) => type)).toEqual([
      'vps.suspended',
      'vps.resumed',
      'vps.suspended',
      'vps.deleted',
    ])
    for (const { data } of events) expect(data).toMatchObject(about)
    const mail = await buyer.mail()
    expect(mail.map(({ subject }) => subject)).toEqual([
      'web is suspended',
      'web goes on',
      'web is suspended',
      'web was deleted',
    ])
    expect(mail[2]!.text).toContain('call renew_service (3.00 USD)')
  })

  test('behavior: the event before a renewal says whether it is covered', async () => {
    buyer = await buyerOf(service, 5_000_000n)
    await toEnd(await buyer.order(), -7 * DAY_MS)
    expect(await buyer.events()).toMatchObject([
      { type: 'vps.renewal_due', data: { days: 7, price: '3.00', auto_renew: true, covered: false } },
    ])
  })
})
