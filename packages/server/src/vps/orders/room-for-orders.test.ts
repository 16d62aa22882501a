import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { snapshot } from '../../database/testing.ts'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService, withHost } from '../../process/testing.ts'
import { billVps } from '../billing/bill-vps.ts'

let service: TestService
let token: string
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
  ;({ token } = await service.customer(10_000_000n))
})

const order = (body: object = {}, by = token) =>
  service.ask('POST', '/orders', { token: by, body: { product: 'nano', os_id: 1, ...body } })
/** With only these ports to give. */
async function withPorts<T>(from: number, to: number, work: () => Promise<T>): Promise<T> {
  const { hosts } = service.services
  service.services.hosts = withHost({ hosts }, ({ network }) => ({
    network: { ...network, sshPorts: { from, to } },
  })).hosts
  return work().finally(() => {
    service.services.hosts = hosts
  })
}
const get = async (path: string, by = token) => (await service.ask('GET', path, { token: by })).body
const balanceOf = async (by = token) => {
  const { balance, held } = await get('/balance', by)
  return { balance, held }
}
describe('before anything is held', () => {
  const full = async (body: object = {}) => {
    const before = await snapshot(service.services.db)
    const answer = await order(body)
    expect(await snapshot(service.services.db)).toEqual(before)
    return answer
  }

  test('default: dry_run shows the price and makes nothing', async () => {
    const { status, body } = await full({ dry_run: true, product: 'micro' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'quote',
      total: '5.00',
      service_id: null,
      service: null,
      paid_from_balance: false,
    })
  })

  test('behavior: dry_run tells the price to who cannot pay it', async () => {
    const { token: poor } = await service.customer()
    expect((await order({ dry_run: true }, poor)).body).toMatchObject({
      status: 'quote',
      total: '3.00',
      balance: '0.00',
    })
  })

  test('behavior: a max_price that is the price is enough', async () => {
    expect((await order({ max_price: 3 })).status).toBe(200)
    expect((await order({ max_price: '3.00' })).status).toBe(200)
  })

  /** With so little memory to give that no plan fits. */
  async function withFullHost<T>(work: () => Promise<T>): Promise<T> {
    await service.hostSays({ capacity: { vcpus: 8, memoryMb: 400, diskGb: 500 } })
    return work().finally(() => service.hostSays())
  }

  test.each([{ dry_run: false }, { dry_run: true }])('error: 503 when the host is full, %j', async (body) => {
    const answer = await withFullHost(() => full(body))
    expect(answer).toMatchObject({ status: 503, body: { code: 'capacity' } })
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  })

  test('error: 503 when the host is full and the balance covers nothing: nothing is invoiced', async () => {
    const { token: poor } = await service.customer()
    const before = await snapshot(service.services.db)
    const { status, body } = await withFullHost(() => order({}, poor))
    expect([status, body.code, body.invoice]).toEqual([503, 'capacity', undefined])
    expect(await snapshot(service.services.db)).toEqual(before)
  })

  test('error: 503 when room is gone for an order that awaits payment: it is asked for no more, and not charged', async () => {
    const buyer = await service.customer()
    const { order_id, invoice } = (await order({}, buyer.token)).body
    const pay = (method?: string) =>
      service.ask('POST', `/invoices/${invoice.id}/pay`, { token: buyer.token, body: { method } })
    const refusals = await withFullHost(async () => {
      const unpaid = [await order({}, buyer.token), await pay(), await pay('crypto')]
      await service.credit(buyer.accountId, 5_000_000n)
      return [...unpaid, await order({}, buyer.token), await pay(), await pay('balance'), await pay('crypto')]
    })
    expect(refusals.map(({ status, body }) => [status, body.code])).toEqual(Array(7).fill([503, 'capacity']))
    expect(await balanceOf(buyer.token)).toEqual({ balance: '5.00', held: '0.00' })
    expect((await get(`/orders/${order_id}`, buyer.token)).status).toBe('awaiting_payment')
    expect((await pay('balance')).status).toBe(200)
  })

  test('error: 503 when the image is not ready, also for a balance that covers nothing', async () => {
    const { token: poor } = await service.customer()
    await service.hostSays({ images: [{ slug: 'debian-12', state: 'building', detail: 'Unpacking' }] })
    const { status, body } = await order({}, poor)
    await service.hostSays()
    expect([status, body.code]).toEqual([503, 'capacity'])
  })

  test('error: 503 when no port is free', async () => {
    const { rows } = await service.services.db.query(
      'select ssh_port from vps where machine_gone_at is null limit 1',
    )
    const taken = rows[0]!.ssh_port
    expect(await withPorts(taken, taken, () => full())).toMatchObject({
      status: 503,
      body: { code: 'capacity' },
    })
  })

  test('behavior: ports that lead to machines of another service are passed over', async () => {
    const from = await freePort({ to: 21_990 })
    for (let port = from; port < from + 5; port++) service.driver.portsOfOthers.add(port)
    await service.observeHosts()
    const { body } = await withPorts(from, from + 5, () => order())
    service.driver.portsOfOthers.clear()
    await service.observeHosts()
    expect(body.service.ssh_port).toBe(from + 5)
  })

  test('behavior: orders of many at the same moment do not take more than there is', async () => {
    const buyers = await Promise.all(Array.from({ length: 8 }, () => service.customer(10_000_000n)))
    const { rows } = await service.services.db.query<{ memory: bigint }>(
      'select coalesce(sum(memory_mb), 0)::bigint as memory from vps where machine_gone_at is null',
    )
    const memoryMb = Number(rows[0]!.memory) + 2 * 512 + 100
    await service.hostSays({ capacity: { vcpus: 8, memoryMb, diskGb: 100_000 } })
    const all = await Promise.all(buyers.map(({ token: by }) => order({}, by)))
    await service.hostSays()
    expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 503, 503, 503, 503, 503, 503])
    const balances = await Promise.all(buyers.map(({ token: by }) => balanceOf(by)))
    expect(balances.filter(({ held }) => held === '3.00')).toHaveLength(2)
    expect(balances.filter(({ balance }) => balance === '10.00')).toHaveLength(6)
  })

  test('behavior: what a deleted machine had is free again', async () => {
    const { body } = await order({ hostname: 'short-lived' })
    await service.reconcile()
    await service.ask('POST', `/services/${body.service_id}/cancel`, {
      token,
      body: { mode: 'immediate', confirm: 'short-lived' },
    })
    await service.reconcile()
    await billVps(service.services)
    const { rows } = await service.services.db.query('select machine_gone_at from vps where id = $1', [
      body.service_id,
    ])
    expect(rows[0]!.machine_gone_at).not.toBeNull()
    const freed = body.service.ssh_port
    const again = await withPorts(freed, freed, () => order())
    expect(again.body.service.ssh_port).toBe(freed)
  })
})
