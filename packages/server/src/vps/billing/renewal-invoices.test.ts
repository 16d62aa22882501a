import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { expireInvoices } from '../../payments/expire-invoices.ts'
import { type Buyer, buyerOf, DAY_MS, forgetVps, goTo } from './testing.ts'
import { type PayableService, startPayableService } from './testing-payments.ts'

let service: PayableService
beforeAll(async () => {
  service = await startPayableService({
    COINRACK_RATE_REGISTER: '100000/min',
    COINRACK_RATE_ORDERS: '100000/min',
  })
})
afterEach(() => forgetVps(service))
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

/** A buyer with a VPS of 3 USD a month, and nothing left. */
async function withVps(body: object = {}) {
  const buyer = await buyerOf(service, 3_000_000n)
  return { buyer, id: await buyer.order(body) }
}
const paidUntil = async (buyer: Buyer, id: string) => Date.parse((await buyer.vps(id)).billing.paid_until)
const toEnd = async (buyer: Buyer, id: string, after = 0) =>
  goTo(service, new Date((await paidUntil(buyer, id)) + after))
const invoicesOf = async ({ token }: Buyer) =>
  (await service.ask('GET', '/invoices', { token })).body as {
    id: string
    status: string
    amount: string
    service_id: string
    checkout_url: string
    payment_options: { address: string }[]
  }[]
const pay = async (buyer: Buyer, amount = 3_000_000n) =>
  service.arrive((await invoicesOf(buyer))[0]!.payment_options[0]!.address, amount)

describe('of a renewal by itself', () => {
  test('default: made with the notice when the balance does not cover it, one for all notices', async () => {
    const { buyer, id } = await withVps()
    await toEnd(buyer, id, -7 * DAY_MS)
    await toEnd(buyer, id, -3 * DAY_MS)
    const [invoice, ...others] = await invoicesOf(buyer)
    expect(others).toEqual([])
    expect(invoice).toMatchObject({ kind: 'renewal', status: 'unpaid', amount: '3.00', service_id: id })
    for (const { text } of await buyer.mail()) expect(text).toContain(invoice!.checkout_url)
    expect((await buyer.events()).map(({ data }) => data.invoice_id)).toEqual([invoice!.id, invoice!.id])
  })

  test('default: money at its address renews at once, from the end of the paid time', async () => {
    const { buyer, id } = await withVps()
    const until = await paidUntil(buyer, id)
    await toEnd(buyer, id, -7 * DAY_MS)
    await pay(buyer, 2_000_000n)
    expect(await paidUntil(buyer, id)).toBe(until)
    // The machine has its room: a full host renews what it has.
    await service.hostSays({ capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } })
    await pay(buyer, 1_000_000n)
    await service.hostSays()
    expect((await invoicesOf(buyer))[0]).toMatchObject({ status: 'paid', received: '3.00' })
    expect((await buyer.renewals()).map(({ from }) => from.getTime())).toEqual([until])
    expect(await buyer.balance()).toBe('0.00')
    await goTo(service, new Date(until))
    expect(await buyer.vps(id)).toMatchObject({ status: 'active' })
    expect(await buyer.renewals()).toHaveLength(1)
  })

  test('behavior: money at the address of the account settles no renewal; the renewal itself closes the invoice', async () => {
    const { buyer, id } = await withVps()
    await toEnd(buyer, id, -7 * DAY_MS)
    const { body } = await buyer.post('/balance/topup', { amount: 3 })
    await service.arrive(body.invoice.payment_options[0].address, 3_000_000n)
    const renewal = async () => (await invoicesOf(buyer)).find(({ service_id }) => service_id === id)
    expect(await renewal()).toMatchObject({ status: 'unpaid' })
    await toEnd(buyer, id)
    expect(await renewal()).toMatchObject({ status: 'paid', received: '0.00' })
    expect(await buyer.renewals()).toHaveLength(1)
  })

  test('behavior: suspended, it goes on when the invoice is paid', async () => {
    const { buyer, id } = await withVps()
    await toEnd(buyer, id)
    expect((await buyer.mail()).at(-1)!.text).toContain((await invoicesOf(buyer))[0]!.checkout_url)
    service.clock.advance(2 * DAY_MS)
    await pay(buyer)
    await service.reconcile()
    expect(await buyer.vps(id)).toMatchObject({ status: 'active', ssh_ready: true })
    expect((await buyer.renewals()).map(({ from }) => from)).toEqual([service.clock.now()])
  })

  test('behavior: deleted, its invoice is cancelled, and what still arrives is credited', async () => {
    const { buyer, id } = await withVps()
    await toEnd(buyer, id)
    const { payment_options } = (await invoicesOf(buyer))[0]!
    await goTo(service, new Date(service.clock.now().getTime() + 7 * DAY_MS))
    expect(await invoicesOf(buyer)).toMatchObject([{ status: 'cancelled' }])
    await service.arrive(payment_options[0]!.address, 3_000_000n)
    expect([await buyer.balance(), (await buyer.vps(id)).status]).toEqual(['3.00', 'deleted'])
  })

  test('behavior: it lives until the VPS would be deleted', async () => {
    const { buyer, id } = await withVps()
    await toEnd(buyer, id, -7 * DAY_MS)
    service.clock.advance(14 * DAY_MS - 1)
    await expireInvoices(service.services)
    expect(await invoicesOf(buyer)).toMatchObject([{ status: 'unpaid' }])
    service.clock.advance(1)
    await expireInvoices(service.services)
    expect(await invoicesOf(buyer)).toMatchObject([{ status: 'expired' }])
  })

  test('behavior: none where the balance covers it, where nothing renews itself, or by the hour', async () => {
    const rich = await buyerOf(service, 6_000_000n)
    const manual = await buyerOf(service, 3_000_000n)
    const hourly = await buyerOf(service, 4_500n)
    const id = await rich.order()
    await manual.order({ auto_renew: false })
    const byHour = await hourly.order({ billing_cycle: 'hourly' })
    await toEnd(hourly, byHour)
    expect((await hourly.vps(byHour)).status).toBe('suspended')
    await toEnd(rich, id, -7 * DAY_MS)
    for (const buyer of [rich, manual, hourly]) expect(await invoicesOf(buyer)).toEqual([])
  })
})

describe('of renew_service', () => {
  test('default: a 402 has it; the same call again has the same, other months another', async () => {
    const { buyer, id } = await withVps()
    const first = await buyer.renew(id, { months: 2 })
    expect(first).toMatchObject({
      status: 402,
      body: { code: 'insufficient_balance', invoice: { kind: 'renewal', amount: '6.00', service_id: id } },
    })
    expect((await buyer.renew(id, { months: 2 })).body.invoice.id).toBe(first.body.invoice.id)
    // Newer ones come first.
    service.clock.advance(1)
    const other = (await buyer.renew(id, { months: 3 })).body.invoice
    expect(other).toMatchObject({ amount: '9.00', status: 'unpaid' })
    expect((await invoicesOf(buyer)).map(({ status }) => status)).toEqual(['unpaid', 'cancelled'])
    await pay(buyer, 9_000_000n)
    expect(await buyer.periods(id)).toHaveLength(4)
  })

  test('default: paid from the balance by pay_invoice, whoever tops up meanwhile', async () => {
    const { buyer, id } = await withVps()
    const { invoice } = (await buyer.renew(id)).body
    await buyer.credit(5_000_000n)
    const paid = await buyer.post(`/invoices/${invoice.id}/pay`, {})
    expect(paid).toMatchObject({ status: 200, body: { status: 'settled', invoice: { status: 'paid' } } })
    expect(await buyer.balance()).toBe('2.00')
    expect(await buyer.post(`/invoices/${invoice.id}/pay`, {})).toMatchObject({
      status: 409,
      body: { code: 'invoice_closed' },
    })
    expect(await buyer.renewals()).toHaveLength(1)
  })

  test('behavior: renewed in the ordinary way, the invoice for as much is paid with it', async () => {
    const { buyer, id } = await withVps()
    await buyer.renew(id)
    await buyer.credit(3_000_000n)
    expect((await buyer.renew(id)).status).toBe(200)
    expect(await invoicesOf(buyer)).toMatchObject([{ status: 'paid' }])
  })

  test('behavior: a change of plan ends the invoice for the price of before', async () => {
    const { buyer, id } = await withVps()
    await buyer.renew(id)
    await buyer.credit(20_000_000n)
    const change = await buyer.post(`/services/${id}/change-plan`, { target_plan: 'micro', confirm: true })
    expect(change.status).toBe(200)
    expect(await invoicesOf(buyer)).toMatchObject([{ status: 'cancelled' }])
  })

  test('behavior: money that pays too far ahead is settled to the balance, and told', async () => {
    const { buyer, id } = await withVps()
    const { invoice } = (await buyer.renew(id, { months: 12 })).body
    await buyer.credit(3_000_000n)
    await buyer.renew(id, { months: 1 })
    await service.arrive(invoice.payment_options[0].address, 36_000_000n)
    expect(await buyer.balance()).toBe('36.00')
    expect(await invoicesOf(buyer)).toMatchObject([
      {
        status: 'settled_to_balance',
        service_id: id,
        closed_reason: expect.stringMatching(/^It is paid until/),
      },
    ])
    expect((await buyer.mails()).at(-1)).toBe('web was not renewed')
    expect((await buyer.mail()).at(-1)!.text).toContain('It is paid until')
  })

  test('behavior: billing, payment and the balance at the same moment charge it once', async () => {
    const { buyer, id } = await withVps()
    await toEnd(buyer, id, -DAY_MS)
    const { id: invoiceId, payment_options } = (await invoicesOf(buyer))[0]!
    await buyer.credit(3_000_000n)
    service.clock.advance(DAY_MS)
    await Promise.all([
      goTo(service, service.clock.now()),
      service.arrive(payment_options[0]!.address, 3_000_000n),
      buyer.post(`/invoices/${invoiceId}/pay`, { method: 'balance' }),
    ])
    const charged = (await buyer.renewals()).length
    expect(await buyer.balance()).toBe(charged === 1 ? '3.00' : '0.00')
    const starts = (await buyer.periods(id)).map(([from]) => from)
    expect(new Set(starts).size).toBe(charged + 1)
    expect(await invoicesOf(buyer)).toMatchObject([{ status: 'paid' }])
  })
})
