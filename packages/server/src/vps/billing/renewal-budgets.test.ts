import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf, DAY_MS, forgetVps, goTo } from './testing.ts'

let service: TestService
let buyer: Buyer
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_REGISTER: '100000/min', COINRACK_RATE_ORDERS: '100000/min' },
  })
})
beforeEach(async () => {
  buyer = await buyerOf(service, 100_000_000n)
})
afterEach(() => forgetVps(service))
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

interface Child {
  token: string
  details: { id: string }
}

/** A child token with a budget; it lives long enough for months of renewals. */
const child = async (budget: object, by = buyer.token): Promise<Child> =>
  (await service.ask('POST', '/tokens', { token: by, body: { budget, expires_in_days: 300 } })).body
const raise = ({ details }: Child, budget: object) =>
  service.ask('PATCH', `/tokens/${details.id}`, { token: buyer.token, body: { budget } })
/** Costs 3 USD a month. */
const order = ({ token }: { token: string }, body: object = {}) =>
  service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1, hostname: 'web', ...body } })
const delivered = async (by: { token: string }, body: object = {}): Promise<string> => {
  const answer = await order(by, body)
  expect(answer.status).toBe(200)
  await service.reconcile()
  return answer.body.service_id
}
const renews = async (id: string) => (await buyer.vps(id)).billing.auto_renew
const spentBy = async ({ details }: Child) => {
  const { body } = await service.ask('GET', '/tokens', { token: buyer.token })
  return body.find(({ id }: { id: string }) => id === details.id).spent.total
}
const toEnd = async (id: string, after = 0) =>
  goTo(service, new Date(Date.parse((await buyer.vps(id)).billing.paid_until) + after))
const lastMail = async () => (await buyer.mail()).at(-1)!.text

test('default: what a budgeted token orders renews itself only where it and all above it allow it', async () => {
  const allowing = await child({ allow_auto_renew: true })
  const forbidding = await child({})
  const below = await child({ allow_auto_renew: true }, forbidding.token)
  const answers = []
  for (const by of [buyer, allowing, forbidding, below]) answers.push(await renews(await delivered(by)))
  expect(answers).toEqual([true, true, false, false])
  expect(await renews(await delivered(allowing, { auto_renew: false }))).toBe(false)
})

test('error: a token that may not does not get it, by order or afterwards; it may take it back', async () => {
  const by = await child({})
  const id = await delivered(by)
  const set = (enabled: boolean, { token }: { token: string } = by) =>
    service.ask('PUT', `/services/${id}/auto-renew`, { token, body: { enabled } })
  const own = (await service.ask('GET', '/account', { token: buyer.token })).body.token.id
  const refusal = {
    status: 403,
    body: {
      code: 'budget_exceeded',
      cap: 'allow_auto_renew',
      raised_by: { token_id: own, tool: 'update_token', arguments: { token_id: by.details.id } },
    },
  }
  expect(await order(by, { auto_renew: true })).toMatchObject(refusal)
  expect(await order(by, { auto_renew: true, dry_run: true })).toMatchObject(refusal)
  expect(await set(true)).toMatchObject(refusal)
  expect(await renews(id)).toBe(false)
  expect((await set(true, buyer)).status).toBe(200)
  expect(await renews(id)).toBe(true)
  expect((await set(false)).status).toBe(200)
  await raise(by, { allow_auto_renew: true })
  expect((await set(true)).status).toBe(200)
})

test('behavior: an order that another token pays renews itself only where that one may', async () => {
  const poor = await buyerOf(service, 1_000_000n)
  const waiting = (await order(poor)).body
  expect(waiting.code).toBe('insufficient_balance')
  await poor.credit(10_000_000n)
  const { token } = await child({}, poor.token)
  const paid = await service.ask('POST', `/invoices/${waiting.invoice.id}/pay`, {
    token,
    body: { method: 'balance' },
  })
  expect(paid.status).toBe(200)
  await service.reconcile()
  const { body } = await service.ask('GET', '/services', { token: poor.token })
  expect(body).toMatchObject([{ billing: { auto_renew: false } }])
})

test('behavior: renew_service is a charge to the token that calls', async () => {
  const by = await child({ total: 8 })
  const id = await delivered(by)
  const renew = (months: number) =>
    service.ask('POST', `/services/${id}/renew`, { token: by.token, body: { months } })
  expect(await renew(2)).toMatchObject({
    status: 403,
    body: { code: 'budget_exceeded', cap: 'total', used: '3.00', short_by: '1.00' },
  })
  expect(await buyer.balance()).toBe('97.00')
  expect((await renew(1)).body).toMatchObject({ charged: '3.00', balance: '94.00' })
  expect(await spentBy(by)).toBe('6.00')
  // One above it pays more, and its own budget is as it was.
  expect((await buyer.renew(id)).status).toBe(200)
  expect(await spentBy(by)).toBe('6.00')
})

test('default: renewals count for the token that ordered; beyond its budget the VPS is suspended until it is raised', async () => {
  const by = await child({ total: 7, allow_auto_renew: true })
  const id = await delivered(by)
  await toEnd(id)
  expect(await spentBy(by)).toBe('6.00')
  await toEnd(id, -7 * DAY_MS)
  expect(await lastMail()).toContain('The budget of the token that ordered it does not allow that now')
  await toEnd(id)
  expect(await buyer.vps(id)).toMatchObject({ status: 'suspended', ssh_ready: false })
  expect(await buyer.balance()).toBe('94.00')
  expect(await lastMail()).toContain('the budget of the token that ordered it did not cover more')
  await goTo(service, new Date(service.clock.now().getTime() + DAY_MS))
  expect(await buyer.vps(id)).toMatchObject({ status: 'suspended' })
  await raise(by, { total: 9, allow_auto_renew: true })
  await goTo(service, service.clock.now())
  expect(await buyer.vps(id)).toMatchObject({ status: 'active' })
  expect([await spentBy(by), await buyer.balance()]).toEqual(['9.00', '91.00'])
})

test('behavior: a budget of a token above counts too; a balance that does not cover it is named first', async () => {
  const parent = await child({ total: 4, allow_auto_renew: true })
  const by = await child({ allow_auto_renew: true }, parent.token)
  const id = await delivered(by)
  await toEnd(id)
  expect(await buyer.vps(id)).toMatchObject({ status: 'suspended' })
  expect([await spentBy(by), await spentBy(parent), await buyer.balance()]).toEqual(['3.00', '3.00', '97.00'])
  buyer = await buyerOf(service, 3_000_000n)
  const alone = await delivered(await child({ total: 4, allow_auto_renew: true }))
  await toEnd(alone)
  expect(await lastMail()).toContain('the balance did not cover more')
})

test('default: allow_auto_renew that is withdrawn holds at the next renewal, until it is given again', async () => {
  const by = await child({ allow_auto_renew: true })
  const id = await delivered(by)
  await toEnd(id)
  expect(await spentBy(by)).toBe('6.00')
  await raise(by, { allow_auto_renew: false })
  await toEnd(id, -7 * DAY_MS)
  expect(await lastMail()).toContain('allow_auto_renew of the token by which it renews itself was withdrawn')
  await toEnd(id)
  expect(await buyer.vps(id)).toMatchObject({ status: 'suspended' })
  expect(await lastMail()).toContain('call renew_service (3.00 USD)')
  expect(await buyer.balance()).toBe('94.00')
  await raise(by, { allow_auto_renew: true })
  await goTo(service, service.clock.now())
  expect(await buyer.vps(id)).toMatchObject({ status: 'active' })
})

test('behavior: also of a token above it; not where another token, that may, lets it renew itself', async () => {
  const parent = await child({ allow_auto_renew: true })
  const by = await child({ allow_auto_renew: true }, parent.token)
  const [first, second] = [await delivered(by), await delivered(by)]
  await raise(parent, { allow_auto_renew: false })
  await buyer.autoRenew(second, true)
  await toEnd(first)
  expect((await buyer.vps(first)).status).toBe('suspended')
  expect((await buyer.vps(second)).status).toBe('active')
})
