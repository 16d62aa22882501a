import { monthsAfter } from '@coinrack/money/index.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { snapshot } from '../../database/testing.ts'
import { readBalance } from '../../ledger/balance.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { sendQueuedMail } from '../../platform/queue-mail.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { expireOrders } from './expire-orders.ts'

const DAY_MS = 86_400_000
const key = `ssh-ed25519 ${Buffer.concat([
  Buffer.from([0, 0, 0, 11]),
  Buffer.from('ssh-ed25519'),
  Buffer.from([0, 0, 0, 32]),
  Buffer.alloc(32, 5),
]).toString('base64')} agent`

let service: TestService
let token: string
let accountId: string
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_ORDERS: '100000/min', COINRACK_RATE_REGISTER: '100000/min' },
  })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})
beforeEach(async () => {
  ;({ token, accountId } = await service.customer(10_000_000n))
})

const order = (body: object = {}, by = token) =>
  service.ask('POST', '/orders', { token: by, body: { product: 'nano', os_id: 1, ...body } })
const get = async (path: string, by = token) => (await service.ask('GET', path, { token: by })).body
const balanceOf = async (by = token) => {
  const { balance, held } = await get('/balance', by)
  return { balance, held }
}
const statement = async (by = token) =>
  (await get('/balance/transactions', by)).map(
    (line: { kind: string; amount: string; held_change: string; balance: string }) => [
      line.kind,
      line.amount,
      line.held_change,
      line.balance,
    ],
  )

describe('an order that the balance covers', () => {
  test('default: the price is held, the machine is wanted, all of it in the answer', async () => {
    const { status, body } = await order({ ssh_key: key, hostname: 'Web.Agents' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: expect.stringMatching(/^ord_/),
      status: 'provisioning',
      product: 'nano',
      os_id: 1,
      hostname: 'web.agents',
      total: '3.00',
      currency: 'USD',
      paid_from_balance: true,
      invoice_id: null,
      balance: '7.00',
      service: {
        id: body.service_id,
        status: 'provisioning',
        ssh_ready: false,
        ssh: { host: '127.0.0.1', user: 'root' },
        billing: { cycle: 'monthly', price: '3.00', paid_until: null, cancel_at_period_end: false },
      },
    })
    expect(await balanceOf()).toEqual({ balance: '7.00', held: '3.00' })
  })

  test('behavior: the host name is the end of the identifier unless another is wanted', async () => {
    const { body } = await order()
    expect(body.hostname).toBe(`vps-${body.service_id.slice(-6)}`)
  })

  test('behavior: the machine gets what was ordered, and the host key that the buyer is shown', async () => {
    const { body } = await order({ product: 'micro', os_id: 2, ssh_key: key, hostname: 'spec' })
    await service.reconcile()
    const { spec } = service.driver.machines.get(body.service_id)!
    expect(spec).toMatchObject({
      vcpus: 1,
      memoryMb: 1024,
      diskGb: 20,
      image: 'debian-13',
      hostname: 'spec',
      sshAuthorizedKeys: [key],
      rootPasswordHash: expect.stringMatching(/^\$6\$/),
      sshAddress: { host: '127.0.0.1', port: body.service.ssh_port },
    })
    expect(body.service.ssh.known_hosts).toEqual([
      `[127.0.0.1]:${body.service.ssh_port} ${spec.sshHostKey.publicKey}`,
    ])
  })

  test('behavior: how it comes up the first time is kept from the order to the machine', async () => {
    const bootOf = async (body: { service_id: string }) => {
      await service.reconcile()
      return service.driver.machines.get(body.service_id)!.spec.boot
    }
    expect(await bootOf((await order()).body)).toBe('auto')
    expect(await bootOf((await order({ boot: 'cold' })).body)).toBe('cold')
    expect((await order({ boot: 'warm' })).status).toBe(422)
  })

  test('behavior: no two machines have the same port', async () => {
    await service.credit(accountId, 20_000_000n)
    const orders = await Promise.all(Array.from({ length: 8 }, () => order()))
    expect(new Set(orders.map(({ body }) => body.service.ssh_port)).size).toBe(8)
  })
})

describe('the money of an order', () => {
  test('default: captured when SSH answers, not before; the paid time begins then', async () => {
    const { body } = await order({ hostname: `slow-boot-${accountId.slice(-4)}` })
    await service.reconcile()
    expect(await balanceOf()).toEqual({ balance: '7.00', held: '3.00' })
    expect((await get(`/services/${body.service_id}`)).status).toBe('provisioning')

    service.clock.advance(90_000)
    const readyAt = service.clock.now()
    service.driver.finishBoot(body.service_id)
    await service.reconcile()
    service.clock.advance(90_000)
    await service.reconcile()
    expect(await statement()).toEqual([
      ['charge', '0.00', '-3.00', '7.00'],
      ['hold', '-3.00', '3.00', '7.00'],
      ['adjustment', '10.00', '0.00', '10.00'],
    ])
    const vps = await get(`/services/${body.service_id}`)
    expect(vps).toMatchObject({ status: 'active', ssh_ready: true })
    const end = new Date(readyAt)
    end.setUTCMonth(end.getUTCMonth() + 1)
    expect(new Date(vps.billing.paid_until).getTime()).toBeLessThanOrEqual(end.getTime())
    expect(new Date(vps.billing.paid_until).getTime() - readyAt.getTime()).toBeGreaterThanOrEqual(28 * DAY_MS)
    expect(await get(`/orders/${body.id}`)).toMatchObject({ status: 'active', failure_reason: null })
  })

  test('behavior: a machine that fails a few times is tried again, and charged once', async () => {
    const { body } = await order({ hostname: 'fail-ensure-3' })
    await service.reconcile()
    expect((await get(`/services/${body.service_id}`)).status).toBe('active')
    expect(await balanceOf()).toEqual({ balance: '7.00', held: '0.00' })
    expect((await statement()).filter(([kind]: string[]) => kind === 'charge')).toHaveLength(1)
  })

  test('behavior: a port that was taken before the machine had its network is another one then', async () => {
    const { body } = await order({ hostname: 'port-taken' })
    const first = body.service.ssh_port
    await service.reconcile()
    const { status, ssh } = await get(`/services/${body.service_id}`)
    expect(status).toBe('active')
    expect(ssh.port).not.toBe(first)
    expect(service.driver.machines.get(body.service_id)!.spec.sshAddress.port).toBe(ssh.port)
    expect(await balanceOf()).toEqual({ balance: '7.00', held: '0.00' })
  })

  test('behavior: a machine that cannot be made is given back whole, with the reason', async () => {
    const { body } = await order({ hostname: 'no-space' })
    await service.reconcile()
    expect(await balanceOf()).toEqual({ balance: '10.00', held: '0.00' })
    const failed = await get(`/orders/${body.id}`)
    expect(failed).toMatchObject({ status: 'failed', failure_reason: 'The host had no room for the machine' })
    expect((await statement())[0]).toEqual(['hold_release', '3.00', '-3.00', '10.00'])
    expect(await get(`/services/${body.service_id}`)).toMatchObject({
      status: 'failed',
      password_available: false,
    })
    expect(service.driver.machines.has(body.service_id)).toBe(false)
    await sendQueuedMail(service.services)
    expect(service.mails.at(-1)).toMatchObject({
      subject: `Your order of no-space failed: nothing was charged`,
      text: expect.stringContaining(failed.failure_reason),
    })
    const { rows } = await service.services.db.query('select state, reason from hold where purpose = $1', [
      body.id,
    ])
    expect(rows).toEqual([{ state: 'voided', reason: failed.failure_reason }])
  })

  test('behavior: a machine that never answers is given back after fifteen minutes', async () => {
    const { body } = await order({ hostname: 'fail-boot' })
    await service.reconcile()
    expect(await balanceOf()).toEqual({ balance: '7.00', held: '3.00' })
    service.clock.advance(15 * 60_000 + 1)
    await service.reconcile()
    expect(await balanceOf()).toEqual({ balance: '10.00', held: '0.00' })
    expect(await get(`/orders/${body.id}`)).toMatchObject({
      status: 'failed',
      failure_reason: 'SSH did not answer in time',
    })
    expect(service.driver.machines.has(body.service_id)).toBe(false)
  })

  test.each([1, 3])(
    'behavior: of twelve orders at the same moment %i are paid by what covers so many',
    async (covered) => {
      const buyer = await service.customer(BigInt(covered) * 3_000_000n + 2_999_999n)
      const all = await Promise.all(
        Array.from({ length: 12 }, (_, index) => order({ hostname: `web-${index}` }, buyer.token)),
      )
      expect(all.map(({ status }) => status).sort()).toEqual([
        ...Array(covered).fill(200),
        ...Array(5).fill(402),
        ...Array(7 - covered).fill(409),
      ])
      await service.reconcile()
      const { balance, held } = await balanceOf(buyer.token)
      expect([balance, held]).toEqual(['2.999999', '0.00'])
      expect(await get('/services', buyer.token)).toHaveLength(covered)
    },
  )
})

describe('an order that the balance does not cover', () => {
  let poor: { token: string; accountId: string }
  beforeEach(async () => {
    poor = await service.customer(1_000_000n)
  })

  test('error: 402 with the amounts, and an unpaid invoice', async () => {
    const { status, body } = await order({}, poor.token)
    expect(status).toBe(402)
    expect(body).toMatchObject({
      code: 'insufficient_balance',
      required: '3.00',
      balance: '1.00',
      shortfall: '2.00',
      currency: 'USD',
      paid_from_balance: false,
      invoice: { kind: 'order', status: 'unpaid', amount: '3.00', order_id: body.order_id },
      checkout_url: body.invoice.checkout_url,
    })
    expect(body.next_steps.map(({ tool }: { tool: string }) => tool)).toEqual([
      'pay_invoice',
      'topup_balance',
    ])
    expect(await get(`/orders/${body.order_id}`, poor.token)).toMatchObject({
      status: 'awaiting_payment',
      service_id: null,
      invoice_id: body.invoice.id,
    })
    expect(await balanceOf(poor.token)).toEqual({ balance: '1.00', held: '0.00' })
  })

  test('behavior: the same order again is the same order; another is another', async () => {
    const wanted = { ssh_key: key, hostname: 'web' }
    const first = (await order(wanted, poor.token)).body
    const again = (await order(wanted, poor.token)).body
    expect([again.order_id, again.invoice.id]).toEqual([first.order_id, first.invoice.id])
    for (const other of [
      {},
      { ...wanted, os_id: 2 },
      { ...wanted, product: 'micro' },
      { ...wanted, hostname: 'db' },
      { ...wanted, boot: 'cold' },
      { hostname: 'web' },
    ]) {
      const { order_id, invoice } = (await order(other, poor.token)).body
      expect(order_id).not.toBe(first.order_id)
      // So that the next one is not one too many.
      await service.ask('POST', `/invoices/${invoice.id}/cancel`, { token: poor.token, body: {} })
    }
    expect(await get('/orders/list', poor.token)).toHaveLength(7)
  })

  test('behavior: of ten at the same moment one order and one invoice come', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => order({}, poor.token)))
    expect(new Set(all.map(({ body }) => `${body.order_id} ${body.invoice.id}`)).size).toBe(1)
    expect(await get('/invoices', poor.token)).toHaveLength(1)
  })

  test('behavior: sent again after a top-up it is provisioned, and its invoice is paid', async () => {
    const refused = (await order({}, poor.token)).body
    await service.credit(poor.accountId, 2_000_000n)
    const { status, body } = await order({}, poor.token)
    expect(status).toBe(200)
    expect(body.id).toBe(refused.order_id)
    expect(body.balance).toBe('0.00')
    expect(await get(`/invoices/${refused.invoice.id}`, poor.token)).toMatchObject({ status: 'paid' })
    expect(await get('/orders/list', poor.token)).toHaveLength(1)
    await service.reconcile()
    expect((await get(`/services/${body.service_id}`, poor.token)).status).toBe('active')
  })

  test('behavior: paid by pay_invoice from the balance it is provisioned, once', async () => {
    const refused = (await order({}, poor.token)).body
    await service.credit(poor.accountId, 5_000_000n)
    const pay = () =>
      service.ask('POST', `/invoices/${refused.invoice.id}/pay`, {
        token: poor.token,
        body: { method: 'balance' },
      })
    const all = await Promise.all(Array.from({ length: 5 }, pay))
    expect(all.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
    await service.reconcile()
    expect(await balanceOf(poor.token)).toEqual({ balance: '3.00', held: '0.00' })
    expect(await get('/services', poor.token)).toHaveLength(1)
  })

  test('behavior: create_invoice=false leaves nothing', async () => {
    const before = await snapshot(service.services.db)
    const { status, body } = await order({ create_invoice: false }, poor.token)
    expect([status, body.code, body.invoice, body.order_id, body.checkout_url]).toEqual([
      402,
      'insufficient_balance',
      null,
      null,
      null,
    ])
    expect(await snapshot(service.services.db)).toEqual(before)
  })

  test('behavior: after a day it is expired, and the same order is a new one', async () => {
    const first = (await order({}, poor.token)).body
    service.clock.advance(DAY_MS)
    await expireOrders(service.services)
    expect(await get(`/orders/${first.order_id}`, poor.token)).toMatchObject({
      status: 'expired',
      service_id: null,
    })
    await service.credit(poor.accountId, 5_000_000n)
    const second = (await order({}, poor.token)).body
    expect(second.id).not.toBe(first.order_id)
  })

  test('behavior: money owed from a reversed payment is in the way of any order', async () => {
    const { available } = await readBalance(service.services.db, poor.accountId)
    const treasury = 'treasury.8453.USDC'
    await service.post(poor.accountId, [
      { from: 'customer.available', to: treasury, amount: available },
      { from: 'customer.owed', to: treasury, amount: 500_000n },
    ])
    const { status, body } = await order({}, poor.token)
    await service.post(poor.accountId, [
      { from: treasury, to: 'customer.available', amount: 1_000_000n },
      { from: treasury, to: 'customer.owed', amount: 500_000n },
    ])
    expect([status, body.code, body.owed, body.shortfall]).toEqual([402, 'account_owes', '0.50', '3.50'])
  })
})

describe('lists', () => {
  test('default: orders and services, newest first, page by page', async () => {
    const rich = await service.customer(30_000_000n)
    const ids: string[] = []
    for (let index = 0; index < 5; index++) {
      service.clock.advance(1000)
      ids.unshift((await order({}, rich.token)).body.id)
    }
    const seen: string[] = []
    let path: string | undefined = '/orders/list?limit=2'
    while (path) {
      const page = await service.ask('GET', path, { token: rich.token })
      expect(page.body.length).toBeLessThanOrEqual(2)
      seen.push(...page.body.map(({ id }: { id: string }) => id))
      path = /<\/api\/v1\/eqvps([^>]+)>; rel="next"/.exec(String(page.headers.link ?? ''))?.[1]
    }
    expect(seen).toEqual(ids)
    const tool = await service.tool('list_orders', { limit: 2 }, { token: rich.token })
    expect(tool.body.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2))
    expect(tool.body.next_cursor).toBe(ids[1])
  })

  test("behavior: nobody sees another's", async () => {
    await order()
    const { token: other } = await service.customer()
    expect(await get('/orders/list', other)).toEqual([])
    expect(await get('/services', other)).toEqual([])
    expect(await get('/balance/transactions', other)).toEqual([])
  })

  test('behavior: failed and deleted ones only when asked for', async () => {
    const { body } = await order({ hostname: 'no-space' })
    await service.reconcile()
    expect(await get('/services')).toEqual([])
    expect((await get('/services?status=failed')).map(({ id }: { id: string }) => id)).toEqual([
      body.service_id,
    ])
  })

  test('behavior: the balance tells what the services cost and how long it lasts', async () => {
    const placed = await order()
    const balance = await get('/balance')
    // 3.00 USD over the 730 hours of a month, rounded up.
    expect(balance.burn_per_hour).toBe('0.00411')
    // 7.00 USD pay two months more.
    expect(balance.runs_out_at).toBe(monthsAfter(service.clock.now(), 3).toISOString())
    const { burn_per_hour, runs_out_at } = placed.body
    expect({ burn_per_hour, runs_out_at }).toEqual({
      burn_per_hour: balance.burn_per_hour,
      runs_out_at: balance.runs_out_at,
    })
  })
})
