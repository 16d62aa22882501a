import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { buyerOf, DAY_MS, forgetVps, goTo, HOUR_MS } from './testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterEach(() => forgetVps(service))
afterAll(() => service.close())

test.each([9_500_000n, 14_012_345n, 30_000_000n])(
  'default: with %i micro-dollars the first VPS is suspended when runs_out_at says, and not a millisecond before',
  async (money) => {
    const buyer = await buyerOf(service, money)
    await buyer.order()
    service.clock.advance(5 * DAY_MS + 7 * HOUR_MS)
    await buyer.order({ billing_cycle: 'hourly' })
    service.clock.advance(1234)
    await buyer.order({ months: 1 })
    const { body } = await service.ask('GET', '/balance', { token: buyer.token })
    // Two months over 730 hours, rounded up, and an hour.
    expect(body.burn_per_hour).toBe('0.01272')
    const end = Date.parse(body.runs_out_at)
    // One pass charges 500 hours at most.
    while (service.clock.now().getTime() < end - 1) {
      await goTo(service, new Date(Math.min(service.clock.now().getTime() + 15 * DAY_MS, end - 1)))
    }
    const suspended = async () =>
      (await service.ask('GET', '/services?status=suspended', { token: buyer.token })).body
    expect(await suspended()).toEqual([])
    await goTo(service, new Date(end))
    expect(await suspended()).toHaveLength(1)
  },
  240_000,
)
