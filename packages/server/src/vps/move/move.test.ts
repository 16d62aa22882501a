import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { observeHost } from '../../hosts/observe-host.ts'
import { runOperator } from '../../operator/run-operator.ts'
import { testOperator } from '../../operator/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf, HOUR_MS } from '../billing/testing.ts'
import { moveMachines } from './move-machines.ts'

/*
 * Machines that move between the hosts of a cluster: one by one, away from a host that is evacuated, and off a dead one.
 */

const MINUTE_MS = 60_000
const HOSTS = ['a-1', 'a-2', 'a-3', 'b-1', 'b-2']
const ROOM = { vcpus: 8, memoryMb: 8 * 1024, diskGb: 500 }

let service: TestService
let buyer: Buyer
beforeAll(async () => {
  service = await startTestService({
    features: ['ownAddresses', 'retainedDisks'],
    env: {
      COINRACK_ADDRESS_POOL: '198.18.0.0/22',
      COINRACK_RATE_ORDERS: '100000/min',
      COINRACK_RATE_DEFAULT: '100000/min',
    },
    hosts: HOSTS.map((id) => ({
      id,
      region: id.slice(0, 1),
      cluster: id.slice(0, 1),
      driver: { capacity: ROOM },
      network: { sharedPool: 'rack' },
    })),
    sharedDisks: ['b'],
  })
})
afterAll(() => service.close())
beforeEach(async () => {
  for (const id of HOSTS) {
    fake(id).isAway = false
    for (const machine of [...fake(id).machines.keys()]) fake(id).give(machine)
    await operator('open', id)
  }
  await service.services.db.query(
    `update vps_machine set machine_gone_at = now(), wanted = 'deleted', status = 'deleted' where machine_gone_at is null`,
  )
  await service.observeHosts()
  buyer = await buyerOf(service, 1_000_000_000n)
})

const fake = (id: string) => service.fakeHosts.get(id)!.driver
const operator = (...words: string[]) => runOperator(testOperator(service.services), ['host', ...words])
const rowOf = async (id: string) =>
  (await service.services.db.query('select * from vps where id = $1', [id])).rows[0]
const hostsOf = async (ids: string[]) =>
  Promise.all(ids.map(async (id) => (await rowOf(id)).host_id as string))
const order = (hostname: string, region = 'a') =>
  buyer.order({ product: 'micro-ip', region, hostname, boot: 'cold' })
const pass = async () => {
  await moveMachines(service.services)
  await service.reconcile()
}
const settle = async () => {
  for (let times = 0; times < 6; times++) {
    await pass()
    service.clock.advance(MINUTE_MS)
  }
}
const placesOf = (id: string) => HOSTS.filter((host) => fake(host).machines.has(id))
/** Turns a host's power off, as the service hears of it. */
const cutPower = async (host: string) => {
  Object.assign(fake(host), { isAway: true })
  service.clock.advance(2 * MINUTE_MS)
  await observeHost(service.services, service.services.hosts.get(host)!)
}
const declareDead = (host: string) => operator('declare-dead', host, '--power-is-off')

describe('host move', () => {
  test('default: a machine that runs goes on running elsewhere, at its address', async () => {
    const id = await order('web')
    const before = await rowOf(id)
    const { starts } = fake(before.host_id).machines.get(id)!
    const to = HOSTS.find((host) => host.startsWith('a') && host !== before.host_id)!
    expect(await operator('move', id, to)).toMatchObject({ exitCode: 0 })
    await pass()
    expect(await rowOf(id)).toMatchObject({
      host_id: to,
      ipv4: before.ipv4,
      status: 'active',
      ssh_ready: true,
    })
    expect(placesOf(id)).toEqual([to])
    expect(fake(to).machines.get(id)!.starts).toBe(starts)
    expect((await operator('show', before.host_id)).stdout).not.toContain(id)
    expect(await buyer.events()).toEqual([])
  })

  test('behavior: its place is taken before it moves, and its retained disks come along', async () => {
    const id = await order('web')
    const { host_id } = await rowOf(id)
    const keeper = (host: string) => service.fakeHosts.get(host)!.retainedDisks
    await buyer.post(`/services/${id}/reinstall`, { os_id: 1, confirm: 'web' })
    await service.reconcile()
    const kept = await keeper(host_id).list(id)
    expect(kept).toHaveLength(1)
    const to = HOSTS.find((host) => host.startsWith('a') && host !== host_id)!
    await operator('move', id, to)
    await moveMachines(service.services)
    const takenOf = async (host: string) =>
      JSON.parse((await operator('show', host, '--json')).stdout).moves_away
    expect(await takenOf(host_id)).toMatchObject([{ id, to, trouble: null }])
    await service.reconcile()
    expect([await keeper(host_id).list(id), await keeper(to).list(id)]).toEqual([[], kept])
  })

  test('behavior: one that is stopped stays so, and is started by its owner there', async () => {
    const id = await order('no-live')
    await buyer.power(id, 'stop')
    await service.reconcile()
    const { host_id } = await rowOf(id)
    const to = HOSTS.find((host) => host.startsWith('a') && host !== host_id)!
    await operator('move', id, to)
    await pass()
    expect(await rowOf(id)).toMatchObject({ host_id: to, status: 'stopped' })
    await buyer.power(id, 'start')
    await service.settle()
    expect(await rowOf(id)).toMatchObject({ host_id: to, status: 'active', ssh_ready: true })
  })

  test('behavior: one that cannot move while it runs stays, unless it may be stopped after a notice', async () => {
    const id = await order('no-live')
    const { host_id } = await rowOf(id)
    const to = HOSTS.find((host) => host.startsWith('a') && host !== host_id)!
    await operator('move', id, to)
    await settle()
    expect(await rowOf(id)).toMatchObject({ host_id, status: 'active', ssh_ready: true })
    expect((await operator('show', host_id)).stdout).toContain('only while it is stopped')

    await operator('move', id, to, '--stop-after', '24')
    await settle()
    const { stop_from } = JSON.parse((await operator('show', host_id, '--json')).stdout).moves_away[0]
    expect((await buyer.events()).map(({ type, data }) => [type, data.from])).toEqual([
      ['vps.maintenance', stop_from],
    ])
    expect(await buyer.mails()).toContain('no-live is restarted for maintenance')
    service.clock.advance(23 * HOUR_MS)
    await settle()
    expect(await rowOf(id)).toMatchObject({ host_id, ssh_ready: true })
    service.clock.advance(HOUR_MS)
    await settle()
    expect(await rowOf(id)).toMatchObject({ host_id: to, status: 'active', ssh_ready: true })
    expect(placesOf(id)).toEqual([to])
    expect((await buyer.events()).filter(({ type }) => type === 'vps.maintenance')).toHaveLength(1)
  })

  test('behavior: one that does not move is started again where it was', async () => {
    const id = await order('no-move')
    const { host_id } = await rowOf(id)
    const to = HOSTS.find((host) => host.startsWith('a') && host !== host_id)!
    await operator('move', id, to, '--stop-after', '0')
    await settle()
    expect(await rowOf(id)).toMatchObject({ host_id, status: 'active', ssh_ready: true })
    expect((await operator('show', host_id)).stdout).toContain('it does not move')
  })

  test('error: what cannot be moved, and where to', async () => {
    const id = await order('web')
    const { host_id } = await rowOf(id)
    const refused = async (...words: string[]) => (await operator('move', ...words)).stderr
    expect(await refused(id, host_id)).toContain('already')
    expect(await refused(id, 'b-1')).toContain('not in one cluster')
    expect(await refused(id, 'nowhere')).toContain('There is no host nowhere; there are a-1')
    expect(await refused('vps_unknown', 'a-1')).toContain('There is no VPS')
    const to = HOSTS.find((host) => host.startsWith('a') && host !== host_id)!
    expect(await refused(id, to, '--stop-after', 'soon')).toContain('--stop-after takes hours')
    await operator('drain', to)
    expect(await refused(id, to)).toContain(`${to} is draining`)
  })
})

describe('host evacuate', () => {
  test('default: all machines of a host leave it, where there is room for them', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => order(`web-${index}`)))
    const before = await hostsOf(ids)
    const address = async (id: string) => (await rowOf(id)).ipv4
    const addresses = await Promise.all(ids.map(address))
    expect((await operator('evacuate', 'a-2')).stdout).toContain('gets no new machines')
    await settle()
    const after = await hostsOf(ids)
    expect(after).not.toContain('a-2')
    expect(after.filter((host, index) => before[index] !== 'a-2' && host !== before[index])).toEqual([])
    expect(await Promise.all(ids.map(address))).toEqual(addresses)
    expect(fake('a-2').machines.size).toBe(0)
    const shown = JSON.parse((await operator('list', '--json')).stdout)
    for (const { id, memory_taken_mb, memory_mb } of shown)
      expect(memory_taken_mb, id).toBeLessThanOrEqual(memory_mb)
  })

  test('behavior: what has no room elsewhere stays, is shown, and follows when there is some', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, (_, index) => order(`web-${index}`)))
    for (const host of ['a-1', 'a-3']) await operator('drain', host)
    const [id] = await Promise.all([order('alone')])
    expect((await hostsOf([id!]))[0]).toBe('a-2')
    await operator('evacuate', 'a-2')
    await settle()
    expect((await hostsOf([id!]))[0]).toBe('a-2')
    expect((await operator('show', 'a-2')).stdout).toContain('No other host of a has room for it now')
    await operator('open', 'a-3')
    await settle()
    expect((await hostsOf([...ids, id!])).filter((host) => host === 'a-2')).toEqual([])
  })

  test('behavior: opened again, it keeps what is still there', async () => {
    const id = await order('no-live')
    const { host_id } = await rowOf(id)
    await operator('evacuate', host_id)
    await settle()
    await operator('open', host_id)
    await settle()
    expect(JSON.parse((await operator('show', host_id, '--json')).stdout).moves_away).toEqual([])
    expect((await rowOf(id)).host_id).toBe(host_id)
  })

  test('error: a host that is in no cluster', async () => {
    const { exitCode, stderr } = await operator('evacuate', 'local')
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('host drain')])
  })
})

describe('host declare-dead', () => {
  test('error: a host that answers, the one the service runs on, and without the word that it has no power', async () => {
    expect((await declareDead('a-1')).stderr).toContain('host evacuate a-1')
    expect((await declareDead('local')).stderr).toContain('backup')
    await cutPower('a-1')
    expect((await operator('declare-dead', 'a-1')).stderr).toContain('--power-is-off')
    expect((await operator('list')).stdout).not.toContain('dead')
  })

  test('behavior: while nobody says so, nothing is started elsewhere and nothing ends', async () => {
    const id = await order('web')
    const { host_id } = await rowOf(id)
    await cutPower(host_id)
    await settle()
    expect(await rowOf(id)).toMatchObject({ host_id, status: 'active', ssh_ready: false })
    expect(placesOf(id)).toEqual([host_id])
  })

  test('default: without its disk a VPS ends, and its time since the host was last heard of is credited', async () => {
    const id = await order('web')
    const { host_id, ipv4 } = await rowOf(id)
    const price = 1_000_000_000n - BigInt(Math.round(Number(await buyer.balance()) * 1e6))
    service.clock.advance(24 * HOUR_MS)
    await service.observeHosts()
    await cutPower(host_id)
    service.clock.advance(5 * HOUR_MS)
    await declareDead(host_id)
    await settle()
    expect(await rowOf(id)).toMatchObject({
      status: 'failed',
      host_id,
      failure_reason: expect.stringContaining('lost'),
    })
    const lost = (await buyer.events()).find(({ type }) => type === 'vps.lost')!
    const { rows: periods } = await service.services.db.query(
      'select starts_at, ends_at from vps_period where vps_id = $1',
      [id],
    )
    const [{ starts_at, ends_at }] = periods
    const rest = (ends_at - Date.parse(lost.data.since as string)) / (ends_at - starts_at)
    expect(Number(lost.data.credited)).toBeCloseTo((Number(price) / 1e6) * rest, 4)
    expect(Number(await buyer.balance())).toBeCloseTo(1000 - (Number(price) / 1e6) * (1 - rest), 4)
    expect(await buyer.mails()).toContain('web was lost')
    // Its address is free for another.
    const { rows } = await service.services.db.query(
      'select machine_gone_at from vps_machine where ipv4 = $1 and machine_gone_at is null',
      [ipv4],
    )
    expect(rows).toEqual([])
  })

  test('behavior: where disks can be read without it, its VPS start on other hosts, each once', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, (_, index) => order(`web-${index}`, 'b')))
    await buyer.power(ids[3]!, 'stop')
    await service.reconcile()
    await cutPower('b-1')
    await declareDead('b-1')
    await settle()
    expect(await hostsOf(ids)).toEqual(['b-2', 'b-2', 'b-2', 'b-2'])
    for (const [index, id] of ids.entries()) {
      expect(await rowOf(id)).toMatchObject(
        index === 3 ? { status: 'stopped' } : { status: 'active', ssh_ready: true },
      )
      expect(placesOf(id)).toEqual(['b-2'])
    }
    expect((await buyer.events()).filter(({ type }) => type === 'vps.lost')).toEqual([])
  })

  test('behavior: an order in the middle of being made is made elsewhere, and charged once', async () => {
    const { body } = await buyer.post('/orders', {
      product: 'micro-ip',
      os_id: 1,
      region: 'a',
      hostname: 'slow-boot',
    })
    await service.reconcile()
    const { host_id } = await rowOf(body.service_id)
    await cutPower(host_id)
    await declareDead(host_id)
    await settle()
    const row = await rowOf(body.service_id)
    expect(row.host_id).not.toBe(host_id)
    fake(row.host_id).finishBoot(body.service_id)
    await settle()
    expect(await rowOf(body.service_id)).toMatchObject({ status: 'active', ssh_ready: true })
  })

  test('behavior: a look that ends after its VPS was given up destroys nothing on the host', async () => {
    const id = await order('web')
    const { host_id } = await rowOf(id)
    await cutPower(host_id)
    const driver = fake(host_id)
    const { observe, observeAll } = driver
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const late =
      <A extends unknown[], R>(look: (...given: A) => Promise<R>) =>
      async (...given: A) => {
        begun.resolve()
        await over.promise
        return look(...given)
      }
    Object.assign(driver, { observe: late(observe), observeAll: late(observeAll) })
    const reconciling = service.reconcile()
    await begun.promise
    await declareDead(host_id)
    await moveMachines(service.services)
    expect(await rowOf(id)).toMatchObject({ status: 'failed' })
    // Its power comes back at that moment.
    Object.assign(driver, { observe, observeAll, isAway: false })
    over.resolve()
    await reconciling
    expect(placesOf(id)).toEqual([host_id])
  })

  test('behavior: a host that comes back starts nothing, and what it has is an orphan', async () => {
    const id = await order('web')
    const { host_id } = await rowOf(id)
    await cutPower(host_id)
    await declareDead(host_id)
    await settle()
    fake(host_id).crash(id)
    Object.assign(fake(host_id), { isAway: false })
    const { starts } = fake(host_id).machines.get(id)!
    await service.observeHosts()
    await settle()
    expect(fake(host_id).machines.get(id)).toMatchObject({ starts, startedAt: undefined })
    const shown = JSON.parse((await operator('show', host_id, '--json')).stdout)
    expect(shown).toMatchObject({
      state: 'dead',
      machines: 0,
      trouble: null,
      orphans_there: [{ machine_id: id }],
    })
  })
})

describe('host forget', () => {
  test('default: an empty one is shown no more, until it answers', async () => {
    expect((await operator('forget', 'a-3')).stderr).toContain('host drain a-3')
    await operator('drain', 'a-3')
    expect(await operator('forget', 'a-3')).toMatchObject({ exitCode: 0 })
    expect((await operator('list')).stdout).not.toContain('a-3')
    await service.observeHosts()
    expect((await operator('list')).stdout).toContain('a-3')
  })

  test('error: one with machines', async () => {
    const id = await order('web')
    const { host_id } = await rowOf(id)
    await operator('drain', host_id)
    expect((await operator('forget', host_id)).stderr).toContain(`host evacuate ${host_id}`)
  })
})
