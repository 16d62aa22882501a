import { periodsAfter } from '@coinrack/money/index.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { billVps } from '../billing/bill-vps.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    features: ['firewall', 'ownAddresses', 'ipv6', 'retainedDisks'],
    env: {
      COINRACK_ADDRESS_POOL: '198.18.0.0/30',
      COINRACK_ADDRESS_IPV6: '2001:db8:1:2::/64',
      COINRACK_RATE_ORDERS: '1000/min',
    },
  })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

async function newCustomer() {
  const { token, accountId } = await service.customer(500_000_000n)
  // Tests are longer than the life of a token.
  await service.services.db.query(
    `update token set expires_at = expires_at + interval '1 year' where account_id = $1`,
    [accountId],
  )
  const post = async (path: string, body: object = {}, by = token) => {
    const answer = await service.ask('POST', path, { token: by, body })
    await service.reconcile()
    return answer
  }
  const read = async (id: string) => (await service.ask('GET', `/services/${id}`, { token })).body
  return {
    post,
    read,
    order: async (product: string, by = token) =>
      (await post('/orders', { product, os_id: 1, hostname: 'web' }, by)).body.service,
    balance: async () => Number((await service.ask('GET', '/balance', { token })).body.balance),
    cancel: (id: string) => post(`/services/${id}/cancel`, { mode: 'immediate', confirm: 'web' }),
    bringBack: async (id: string, by = token) => {
      const [kept] = (await service.ask('GET', `/services/${id}/snapshots`, { token })).body
      return post(`/services/${id}/snapshots/${kept.id}/restore`, {}, by)
    },
    child: async (body: object) => (await post('/tokens', body)).body.token as string,
  }
}

describe('a VPS with addresses of its own that is brought back', () => {
  test('default: has those of before, though another address has been free for longer', async () => {
    const customer = await newCustomer()
    const [other, vps] = [await customer.order('micro-ip'), await customer.order('micro-ip')]
    await customer.cancel(other.id)
    service.clock.advance(1_000)
    await customer.cancel(vps.id)
    expect((await customer.bringBack(vps.id)).status).toBe(200)
    expect(await customer.read(vps.id)).toMatchObject({
      status: 'active',
      ip: vps.ip,
      ipv6: vps.ipv6,
      ssh: vps.ssh,
    })
    expect(service.driver.machines.get(vps.id)!.spec).toMatchObject({
      sshAddress: { host: vps.ip, port: 22 },
      addresses: { ipv4: vps.ip, ipv6: vps.ipv6 },
    })
    await customer.cancel(vps.id)
  })

  test('behavior: another address where somebody has the old one; without any nothing is charged', async () => {
    const customer = await newCustomer()
    const vps = await customer.order('micro-ip')
    await customer.cancel(vps.id)
    const others = [await customer.order('micro-ip'), await customer.order('micro-ip')]
    expect(others.map(({ ip }) => ip)).toContain(vps.ip)
    expect((await customer.bringBack(vps.id)).body.code).toBe('capacity')
    expect(await customer.read(vps.id)).toMatchObject({ status: 'deleted' })

    const free = others.find(({ ip }) => ip !== vps.ip)!
    await customer.cancel(free.id)
    expect((await customer.bringBack(vps.id)).status).toBe(200)
    expect(await customer.read(vps.id)).toMatchObject({
      status: 'active',
      ip: free.ip,
      ssh_port: 22,
      ssh: { host: free.ip },
      ipv6: vps.ipv6,
    })
    for (const { id } of [vps, ...others]) await customer.cancel(id)
  })
})

describe('the budget of the token that brings a VPS back', () => {
  test('error: too small for the month, or with as many machines as it may have', async () => {
    const customer = await newCustomer()
    const vps = await customer.order('nano')
    await customer.cancel(vps.id)
    const poor = await customer.child({ budget: { total: '1.00' } })
    const refused = await customer.bringBack(vps.id, poor)
    expect(refused).toMatchObject({ status: 403, body: { code: 'budget_exceeded', cap: 'total' } })

    const single = await customer.child({ budget: { max_live_vps: 1 } })
    const own = await customer.order('nano', single)
    expect((await customer.bringBack(vps.id, single)).body).toMatchObject({ cap: 'max_live_vps', used: 1 })
    expect(await customer.read(vps.id)).toMatchObject({ status: 'deleted' })
    await customer.cancel(own.id)
    expect((await customer.bringBack(vps.id, single)).status).toBe(200)
    // From now on it is one of those of this token.
    const more = await customer.post('/orders', { product: 'nano', os_id: 1 }, single)
    expect(more.body).toMatchObject({ code: 'budget_exceeded', cap: 'max_live_vps' })
  })

  test('behavior: has spent the month', async () => {
    const customer = await newCustomer()
    const vps = await customer.order('nano')
    await customer.cancel(vps.id)
    const child = await customer.child({ budget: { total: '5.00' } })
    service.clock.advance(1_000)
    expect((await customer.bringBack(vps.id, child)).status).toBe(200)
    await customer.cancel(vps.id)
    const { body } = await customer.bringBack(vps.id, child)
    expect(body).toMatchObject({ code: 'budget_exceeded', cap: 'total', used: vps.billing.price })
  })
})

describe('the time that is paid for a VPS that is brought back', () => {
  const bill = async (ms: number) => {
    service.clock.advance(ms)
    await billVps(service.services)
    await service.reconcile()
  }
  const DAY_MS = 86_400_000

  test('default: one month from then on, also of an hourly one, and it renews itself as before', async () => {
    const customer = await newCustomer()
    const { id } = (
      await customer.post('/orders', { product: 'nano', os_id: 1, hostname: 'web', billing_cycle: 'hourly' })
    ).body.service
    await customer.cancel(id)
    service.clock.advance(1_000)
    const at = service.clock.now()
    expect((await customer.bringBack(id)).status).toBe(200)
    const [period] = periodsAfter('monthly', at, at, 1)
    const { billing } = await customer.read(id)
    expect(billing).toMatchObject({
      cycle: 'monthly',
      price: '3.00',
      paid_until: period!.until.toISOString(),
      auto_renew: true,
    })
    const before = await customer.balance()
    await bill(27 * DAY_MS)
    expect(await customer.balance()).toBe(before)
    await bill(4 * DAY_MS)
    expect(await customer.balance()).toBe(before - 3)
    expect((await customer.read(id)).status).toBe('active')
    await customer.cancel(id)
  })

  test('behavior: cancelled again, only what was paid since is given back', async () => {
    const customer = await newCustomer()
    const first = await customer.balance()
    const { id } = (await customer.post('/orders', { product: 'nano', os_id: 1, hostname: 'web', months: 3 }))
      .body.service
    service.clock.advance(1_000)
    await customer.cancel(id)
    const hour = first - (await customer.balance())
    expect(hour).toBeGreaterThan(0)
    expect(hour).toBeLessThan(0.01)
    service.clock.advance(1_000)
    await customer.bringBack(id)
    expect(await customer.balance()).toBeCloseTo(first - hour - 3, 6)
    service.clock.advance(1_000)
    await customer.cancel(id)
    expect(await customer.balance()).toBeCloseTo(first - 2 * hour, 6)
  })

  test('behavior: brought back by a token that may not let it renew, it does not', async () => {
    const customer = await newCustomer()
    const { id } = await customer.order('nano')
    service.clock.advance(1_000)
    await customer.cancel(id)
    const child = await customer.child({ budget: { total: '50.00' } })
    expect((await customer.bringBack(id, child)).status).toBe(200)
    expect((await customer.read(id)).billing.auto_renew).toBe(false)
    await customer.cancel(id)
  })

  test('behavior: suspended and cancelled, it comes back running', async () => {
    const customer = await newCustomer()
    const { id } = (
      await customer.post('/orders', { product: 'nano', os_id: 1, hostname: 'web', auto_renew: false })
    ).body.service
    await bill(32 * DAY_MS)
    expect((await customer.read(id)).status).toBe('suspended')
    await customer.cancel(id)
    expect((await customer.bringBack(id)).status).toBe(200)
    expect(await customer.read(id)).toMatchObject({
      status: 'active',
      ssh_ready: true,
      billing: { delete_at: null },
    })
    await customer.cancel(id)
  })
})
