import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSealer } from '../../platform/sealer.ts'
import type { Services } from '../../platform/services.ts'
import { startTestService, TestClock, type TestService } from '../../process/testing.ts'
import { makeQuote, readQuote } from './price-quote.ts'

const clock = new TestClock()
const sealer = createSealer('a secret of the server, long enough', { bytes: (length) => randomBytes(length) })
const services = { clock, sealer } as unknown as Services
const plan = { slug: 'nano', price: 3_000_000n, price_hourly: 4_500n }
const { price, price_hourly } = plan

test('default: the prices for a quarter of an hour', () => {
  const quote = makeQuote(services, 'acc_1', plan)
  expect(quote.expires_at.getTime() - clock.now().getTime()).toBe(15 * 60_000)
  expect(readQuote(services, 'acc_1', quote.id, 'nano')).toEqual({ price, price_hourly })
  clock.advance(15 * 60_000 - 1)
  expect(readQuote(services, 'acc_1', quote.id, 'nano')).toEqual({ price, price_hourly })
  clock.advance(1)
  expect(readQuote(services, 'acc_1', quote.id, 'nano')).toBeUndefined()
})

test('error: of another account, for another plan, changed, or no quote at all', () => {
  const { id } = makeQuote(services, 'acc_1', plan)
  expect(readQuote(services, 'acc_2', id, 'nano')).toBeUndefined()
  expect(readQuote(services, 'acc_1', id, 'micro')).toBeUndefined()
  for (const other of ['', 'x', 'quote', id.slice(1), `${id}AAAA`, id.slice(0, -4)]) {
    expect(readQuote(services, 'acc_1', other, 'nano')).toBeUndefined()
  }
})

describe('an order', () => {
  let service: TestService
  let token: string
  beforeAll(async () => {
    service = await startTestService({ env: { COINRACK_RATE_ORDERS: '1000/min' } })
  })
  afterAll(() => service.close())
  beforeEach(async () => {
    ;({ token } = await service.customer(10_000_000n))
  })
  const order = (body: object = {}, by = token) =>
    service.ask('POST', '/orders', { token: by, body: { product: 'nano', os_id: 1, ...body } })
  const balanceOf = async () => {
    const { balance, held } = (await service.ask('GET', '/balance', { token })).body
    return { balance, held }
  }

  test('default: a quote holds for a quarter of an hour, whatever the catalog says by then', async () => {
    const { catalog } = service.services
    const dearer = { ...catalog, plans: catalog.plans.map((plan) => ({ ...plan, price: plan.price * 2n })) }
    const { quote, total } = (await order({ dry_run: true })).body
    expect(Date.parse(quote.expires_at) - service.clock.now().getTime()).toBe(15 * 60_000)
    service.services.catalog = dearer
    const other = await service.customer(10_000_000n)
    expect(await order({ quote_id: quote.id }, other.token)).toMatchObject({
      status: 422,
      body: { code: 'quote_invalid' },
    })
    const placed = await order({ quote_id: quote.id, max_price: total })
    service.clock.advance(15 * 60_000)
    const late = await order({ quote_id: quote.id })
    service.services.catalog = catalog
    expect(placed.body).toMatchObject({ status: 'provisioning', total: '3.00', quote: null, balance: '7.00' })
    expect(late).toMatchObject({ status: 422, body: { code: 'quote_invalid' } })
    expect(await balanceOf()).toEqual({ balance: '7.00', held: '3.00' })
  })

  test('behavior: max_price is about the total, also of one that continues at the price of before', async () => {
    expect(await order({ months: 3, max_price: 8 })).toMatchObject({
      status: 422,
      body: { code: 'price_above_maximum', price: '9.00' },
    })
    const { token: poor, accountId: id } = await service.customer(1_000_000n)
    const first = (await order({}, poor)).body
    await service.credit(id, 9_000_000n)
    const { catalog } = service.services
    const cheaper = { ...catalog, plans: catalog.plans.map((plan) => ({ ...plan, price: plan.price / 2n })) }
    service.services.catalog = cheaper
    const refused = await order({ max_price: 2 }, poor)
    const continued = await order({ max_price: 3 }, poor)
    service.services.catalog = catalog
    expect(refused).toMatchObject({ status: 422, body: { price: '3.00' } })
    expect(continued.body).toMatchObject({ id: first.order_id, total: '3.00', balance: '7.00' })
  })

  test('behavior: another cycle or more months is another order', async () => {
    const { token: poor } = await service.customer(1_000n)
    const ids = await Promise.all(
      [{}, { months: 2 }, { billing_cycle: 'hourly' }].map(
        async (body) => (await order(body, poor)).body.order_id,
      ),
    )
    expect(new Set(ids).size).toBe(3)
  })
})
