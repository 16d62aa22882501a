import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tendRemoteHosts } from '../process/reconcilers.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { createLeases, LeaseLostError, type Leases, underLease } from './leases.ts'

const HOSTS = ['east-1', 'east-2', 'east-3']
const LEASE_MS = 1_000

let service: TestService
beforeAll(async () => {
  service = await startTestService({ hosts: HOSTS.map((id) => ({ id, region: 'east' })) })
})
afterAll(() => service.close())
beforeEach(() => service.services.db.query('update host set tended_by = null, tended_until = null'))

/** A process, with its own clock. */
function process(holder: string, hosts = HOSTS): Leases & { stand(milliseconds: number): void } {
  let stood = 0
  const now = () => performance.now() + stood
  const leases = createLeases(service.services, { hosts, holder, leaseMs: LEASE_MS, now })
  return { ...leases, stand: (milliseconds) => (stood += milliseconds) }
}

const isOver = () =>
  service.services.db.query(`update host set tended_until = tended_until - interval '1 minute'`)

describe('leases', () => {
  test('default: of two processes each gets some, no host has two, and all have one', async () => {
    const [one, two] = [process('one'), process('two')]
    for (let pass = 0; pass < 3; pass++) await Promise.all([one.renew(), two.renew()])
    expect([...one.held(), ...two.held()].sort()).toEqual(HOSTS)
    expect(one.held().length).toBeGreaterThan(0)
    expect(two.held().length).toBeGreaterThan(0)
    const before = [one.held(), two.held()]
    await Promise.all([one.renew(), two.renew()])
    expect([one.held(), two.held()]).toEqual(before)
  })

  test('default: many at the same moment', async () => {
    const all = Array.from({ length: 12 }, (_, index) => process(`process-${index}`))
    for (let pass = 0; pass < 3; pass++) await Promise.all(all.map((one) => one.renew()))
    expect(all.flatMap((one) => one.held()).sort()).toEqual(HOSTS)
  })

  test('behavior: what a process held that is killed is taken once its lease is over, and not before', async () => {
    const [killed, other] = [process('killed'), process('other')]
    for (let pass = 0; pass < 3; pass++) await killed.renew()
    await other.renew()
    expect(other.held()).toEqual([])
    await isOver()
    for (let pass = 0; pass < 3; pass++) await other.renew()
    expect(other.held().sort()).toEqual(HOSTS)
  })

  test('behavior: a process that stood still relies on nothing until it has asked again', async () => {
    const [still, other] = [process('still'), process('other')]
    for (let pass = 0; pass < 3; pass++) await still.renew()
    still.stand(LEASE_MS)
    expect(still.held()).toEqual([])
    await isOver()
    await other.renew()
    await still.renew()
    expect(still.held().sort()).toEqual(HOSTS.filter((id) => !other.held().includes(id)))
  })

  test('behavior: a lease is relied on for less than it lasts, however late the answer came', async () => {
    const one = process('one')
    const { db } = service.services
    const query = db.query.bind(db)
    db.query = (async (...given: Parameters<typeof query>) => {
      const answer = await query(...given)
      one.stand(LEASE_MS * 0.9)
      return answer
    }) as typeof db.query
    try {
      await one.renew()
    } finally {
      db.query = query
    }
    expect(one.held()).toEqual([])
  })

  test('behavior: released, others have them at once', async () => {
    const [one, two] = [process('one'), process('two')]
    for (let pass = 0; pass < 3; pass++) await one.renew()
    await one.release()
    for (let pass = 0; pass < 3; pass++) await two.renew()
    expect([one.held(), two.held().sort()]).toEqual([[], HOSTS])
  })

  test('behavior: a process takes no host that its settings do not name', async () => {
    const one = process('one', ['east-2'])
    for (let pass = 0; pass < 3; pass++) await one.renew()
    expect(one.held()).toEqual(['east-2'])
  })
})

test('error: a call that changes a machine without the lease is not made; one that looks is', async () => {
  const host = service.fakeHosts.get('east-1')!
  let held = ['east-1']
  const { driver, snapshots, retainedDisks } = underLease(host, () => held)
  await driver.destroy('vps_none')
  held = ['east-2']
  const before = host.driver.calls.length
  for (const call of [
    () => driver.destroy('vps_none'),
    () => driver.power('vps_none', 'start'),
    () => snapshots.remove('vps_none', 'snp_none'),
    () => retainedDisks.remove('vps_none', 'snp_none'),
  ])
    await expect(call()).rejects.toThrow(LeaseLostError)
  expect(host.driver.calls).toHaveLength(before)
  expect(await driver.observe('vps_none')).toMatchObject({ state: 'absent' })
})

test('behavior: of two processes the one without the lease does nothing, and takes over when the other ends', async () => {
  const { token } = await service.customer(10_000_000n)
  const order = () =>
    service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1, region: 'east' } })
  const statusOf = async (id: string) =>
    (await service.ask('GET', `/services/${id}?reveal=false`, { token })).body.status
  const until = async (isSo: () => Promise<boolean> | boolean) => {
    for (const end = performance.now() + 20_000; !(await isSo()); await sleep(50))
      if (performance.now() > end) throw new Error('It did not come to that')
  }
  const holders = async () =>
    (await service.services.db.query('select distinct tended_by from host where tended_by is not null')).rows

  const first = tendRemoteHosts(service.services, { leaseMs: LEASE_MS * 5 })
  await until(async () => {
    const { rowCount } = await service.services.db.query('select from host where tended_by is not null')
    return rowCount === HOSTS.length
  })
  const second = tendRemoteHosts(service.services, { leaseMs: LEASE_MS * 5 })
  try {
    const { body } = await order()
    await until(async () => (await statusOf(body.service_id)) === 'active')
    expect(await holders()).toHaveLength(1)
    const [before] = await holders()
    await first()
    const next = (await order()).body
    await until(async () => (await statusOf(next.service_id)) === 'active')
    expect(await holders()).not.toEqual([before])
  } finally {
    await Promise.all([first(), second()])
  }
  expect(await holders()).toEqual([])
}, 60_000)
