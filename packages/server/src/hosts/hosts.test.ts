import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runOperator } from '../operator/run-operator.ts'
import { testOperator } from '../operator/testing.ts'
import { LOCAL_HOST } from '../platform/machine-host.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { observeHost } from './observe-host.ts'

/*
 * Orders of a service that has machines on several hosts, two of them in another region.
 */

const ROOM = { vcpus: 8, memoryMb: 8 * 512, diskGb: 500 }
/** A look at a host that is poor or lossy may come to nothing. */
const MOST_LOOKS = 20
const FULL = { vcpus: 0, memoryMb: 0, diskGb: 0 }

let service: TestService
let token: string
beforeAll(async () => {
  service = await startTestService({
    features: ['firewall', 'ownAddresses'],
    env: { COINRACK_RATE_ORDERS: '100000/min', COINRACK_RATE_DEFAULT: '100000/min' },
    driver: { capacity: ROOM },
    hosts: [
      { id: 'east-1', region: 'east', driver: { capacity: ROOM } },
      { id: 'east-2', region: 'east', driver: { capacity: ROOM } },
    ],
  })
})
afterAll(() => service.close())
beforeEach(async () => {
  token = (await service.customer(1_000_000_000n)).token
  for (const { id } of service.services.hosts.values()) await operator('open', id)
  for (const { driver } of service.fakeHosts.values()) driver.said = {}
  await service.services.db.query(
    'update vps_machine set machine_gone_at = now() where machine_gone_at is null',
  )
  await service.observeHosts()
})

const order = (body: object = {}) =>
  service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1, ...body } })
const operator = (...words: string[]) => runOperator(testOperator(service.services), ['host', ...words])
const rowOf = async (id: string) =>
  (await service.services.db.query('select * from vps where id = $1', [id])).rows[0]
const saysOf = async (id: string, said: object) => {
  Object.assign(service.fakeHosts.get(id)!.driver, { said })
  await service.observeHosts()
}

test('default: an order that names a region gets a machine there, with the address of its host', async () => {
  const plans = (await service.ask('GET', '/products')).body
  expect(plans[0].regions).toEqual(['east', service.services.catalog.region].sort())
  const { status, body } = await order({ region: 'east' })
  expect([status, body.service.region]).toEqual([200, 'east'])
  await service.reconcile()
  const { host_id, ssh_host } = await rowOf(body.service_id)
  expect(['east-1', 'east-2']).toContain(host_id)
  expect(ssh_host).toBe(service.services.hosts.get(host_id)!.network.publicIp)
  for (const { id, driver } of service.fakeHosts.values())
    expect(driver.machines.has(body.service_id), id).toBe(id === host_id)
  const { body: shown } = await service.ask('GET', `/services/${body.service_id}`, { token })
  expect(shown).toMatchObject({ status: 'active', region: 'east', ssh: { host: ssh_host } })
})

test('error: a region without hosts', async () => {
  expect(await order({ region: 'moon' })).toMatchObject({ status: 422, body: { code: 'unknown_product' } })
})

test('behavior: an order that waits for its payment keeps its region', async () => {
  token = (await service.customer()).token
  const { status, body } = await order({ region: 'east' })
  expect(status).toBe(402)
  const again = await order()
  expect(again.body.order_id).not.toBe(body.order_id)
  expect((await order({ region: 'east' })).body.order_id).toBe(body.order_id)
})

test('behavior: what one region lacks is not taken from another', async () => {
  await saysOf('east-1', { capacity: FULL })
  await saysOf('east-2', { capacity: FULL })
  expect(await order({ region: 'east' })).toMatchObject({ status: 503, body: { code: 'capacity' } })
  expect((await order()).body.service.region).toBe(service.services.catalog.region)
})

test('behavior: orders of the same moment fill all hosts, and none beyond what it has', async () => {
  const all = await Promise.all(Array.from({ length: 30 }, () => order()))
  expect(all.filter(({ status }) => status === 200)).toHaveLength(24)
  expect(new Set(all.map(({ body }) => body.code))).toEqual(new Set([undefined, 'capacity']))
  const { rows } = await service.services.db.query(
    'select host_id, count(*)::int as machines, count(distinct ssh_port)::int as ports from vps where machine_gone_at is null group by 1 order by 1',
  )
  expect(rows).toEqual(
    ['east-1', 'east-2', LOCAL_HOST].map((host_id) => ({ host_id, machines: 8, ports: 8 })),
  )
})

test('behavior: a machine that its host cannot make is made on another one, and charged once', async () => {
  await saysOf('east-2', { capacity: FULL })
  const { body } = await order({ region: 'east' })
  const { driver } = service.fakeHosts.get('east-1')!
  const { ensure } = driver
  const { DriverError } = await import('@coinrack/compute/ports/vps-driver.ts')
  driver.ensure = async () => {
    throw new DriverError('no_space', 'The disk is full')
  }
  await saysOf('east-2', {})
  await service.reconcile()
  driver.ensure = ensure
  const isDestroyed = () => driver.calls.includes(`destroy ${body.service_id}`)
  for (let looks = 0; looks < MOST_LOOKS && !isDestroyed(); looks++) await service.observeHosts()
  const row = await rowOf(body.service_id)
  expect(row).toMatchObject({
    host_id: 'east-2',
    refused_by: ['east-1'],
    status: 'active',
    ssh_host: '192.0.2.2',
  })
  expect(driver.machines.has(body.service_id)).toBe(false)
  expect(isDestroyed()).toBe(true)
  const { body: statement } = await service.ask('GET', '/balance/transactions', { token })
  expect(statement.map(({ kind }: { kind: string }) => kind)).toEqual(['charge', 'hold', 'adjustment'])
})

test('error: a machine that no host can make fails, and all is given back', async () => {
  const { body } = await order({ region: 'east', hostname: 'no-space' })
  for (let attempt = 0; attempt < 8; attempt++) {
    await service.reconcile()
    service.clock.advance(15_000)
  }
  expect(await rowOf(body.service_id)).toMatchObject({
    status: 'failed',
    host_id: expect.stringContaining('east'),
  })
  expect((await service.ask('GET', '/balance', { token })).body).toMatchObject({
    balance: '1000.00',
    held: '0.00',
  })
})

describe('a host that does not answer', () => {
  test('behavior: one answer that is lost makes it no host that does not answer', async () => {
    const { driver } = service.fakeHosts.get('east-1')!
    const { inventory } = driver
    driver.inventory = async () => {
      driver.inventory = inventory
      throw new Error('read ECONNRESET')
    }
    await service.observeHosts()
    const shown = JSON.parse((await operator('show', 'east-1', '--json')).stdout)
    expect(shown.trouble).toBeNull()
  })

  test('behavior: it gets nothing until it does; the others go on', async () => {
    const host = service.fakeHosts.get('east-1')!
    const { inventory } = host.driver
    host.driver.inventory = () => new Promise(() => {})
    await observeHost(service.services, host, { answerMs: 50 })
    const { stdout } = await operator('list')
    expect(stdout).toContain('It did not answer within 0.05 seconds')
    const placed = await Promise.all(Array.from({ length: 10 }, () => order({ region: 'east' })))
    expect(placed.filter(({ status }) => status === 200)).toHaveLength(8)
    host.driver.inventory = inventory
    await observeHost(service.services, host)
    expect((await order({ region: 'east' })).status).toBe(200)
  })
})

describe('a machine that belongs to no VPS', () => {
  const DAY_MS = 86_400_000
  const orphan = 'vps_00000000000000000000000000'
  const seen = async () =>
    JSON.parse((await operator('show', 'east-1', '--json')).stdout).orphans_there.map(
      ({ machine_id }: { machine_id: string }) => machine_id,
    )

  test('behavior: it is shown, and destroyed when it has been so for a day; one of a VPS never', async () => {
    await saysOf('east-2', { capacity: FULL })
    const { body } = await order({ region: 'east' })
    await service.reconcile()
    const { driver } = service.fakeHosts.get('east-1')!
    driver.adopt(orphan, driver.machines.get(body.service_id)!)
    await service.observeHosts()
    expect(await seen()).toContain(orphan)
    service.clock.advance(DAY_MS - 1)
    await service.observeHosts()
    expect(driver.machines.has(orphan)).toBe(true)
    service.clock.advance(2)
    await service.observeHosts()
    await service.observeHosts()
    expect([driver.machines.has(orphan), driver.machines.has(body.service_id)]).toEqual([false, true])
    expect(await seen()).not.toContain(orphan)
  })

  test('behavior: one that cannot be destroyed holds up no other, nor what is known of its host', async () => {
    const { driver } = service.fakeHosts.get('east-1')!
    const { body } = await order({ region: 'east' })
    await service.reconcile()
    const other = orphan.replace(/.$/, '9')
    const [machine] = [...service.fakeHosts.values()].flatMap(
      ({ driver: each }) => each.machines.get(body.service_id) ?? [],
    )
    for (const id of [orphan, other]) driver.adopt(id, machine!)
    await service.observeHosts()
    service.clock.advance(DAY_MS + 1)
    const { destroy } = driver
    driver.destroy = (id) =>
      id === orphan ? Promise.reject(new Error('read ECONNRESET')) : destroy.call(driver, id)
    await service.observeHosts()
    await service.observeHosts()
    expect([driver.machines.has(orphan), driver.machines.has(other)]).toEqual([true, false])
    driver.destroy = destroy
    await service.observeHosts()
    await service.observeHosts()
    expect(driver.machines.has(orphan)).toBe(false)
  })

  test('behavior: left on the host that a machine was moved from by a process that was killed then', async () => {
    await saysOf('east-2', { capacity: FULL })
    const { body } = await order({ region: 'east' })
    await service.reconcile()
    const { driver } = service.fakeHosts.get('east-1')!
    await service.services.db.query(`update vps_machine set host_id = 'east-2' where id = $1`, [
      body.service_id,
    ])
    await service.observeHosts()
    expect(await seen()).toContain(body.service_id)
    service.clock.advance(DAY_MS + 1)
    await service.observeHosts()
    expect(driver.machines.has(body.service_id)).toBe(false)
  })
})

describe('the operator', () => {
  test('default: a draining host gets no new machine; what is there grows and comes back; opened, it gets some again', async () => {
    await saysOf('east-2', { capacity: FULL })
    const { body } = await order({ region: 'east' })
    await service.reconcile()
    expect((await operator('drain', 'east-1')).stdout).toBe('east-1 gets no new machines')
    expect((await order({ region: 'east' })).body.code).toBe('capacity')
    const grown = await service.ask('POST', `/services/${body.service_id}/change-plan`, {
      token,
      body: { target_plan: 'micro', confirm: body.service.hostname },
    })
    expect(grown.status).toBe(200)
    await operator('open', 'east-1')
    expect((await order({ region: 'east' })).status).toBe(200)
  })

  test('default: sees hosts with what is taken of them, and the machines on one', async () => {
    await saysOf('east-2', { capacity: FULL })
    const { body } = await order({ region: 'east', hostname: 'shown' })
    const [east] = JSON.parse((await operator('list', '--json')).stdout)
    expect(east).toMatchObject({
      ...{ id: 'east-1', kind: 'fake', region: 'east', state: 'open', machines: 1, sandboxes: 0 },
      ...{
        memory_mb: 4096,
        memory_taken_mb: 512,
        features: expect.arrayContaining(['firewall', 'port_forwarding']),
        trouble: null,
      },
    })
    expect((await operator('list')).stdout).toContain(
      'Promised of the hosts that get machines: 6 % of the memory, 1 % of the disk',
    )
    const shown = JSON.parse((await operator('show', 'east-1', '--json')).stdout)
    expect(shown.machines_there).toEqual([
      expect.objectContaining({ id: body.service_id, hostname: 'shown', status: 'provisioning' }),
    ])
    expect((await operator('show', 'east-1')).stdout).toContain('shown')
  })

  test('error: a host that there is none of', async () => {
    for (const command of ['show', 'drain', 'open'])
      expect(await operator(command, 'west')).toMatchObject({
        exitCode: 1,
        stderr: 'There is no host west; there are east-1, east-2, local',
      })
  })
})
