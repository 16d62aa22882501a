import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createImageStore } from '@coinrack/compute/images/image-store.ts'
import { emptyLab, LAB, labClient, processesOf } from '@coinrack/compute/incus/testing-lab.ts'
import { runCommand } from '@coinrack/host/run-command.ts'
import { setHostState } from '@coinrack/server/hosts/host-store.ts'
import type { MachineHost } from '@coinrack/server/platform/machine-host.ts'
import { type Cluster, openCluster } from '@coinrack/server/process/cluster-hosts.ts'
import { runReconcilers, tendRemoteHosts } from '@coinrack/server/process/reconcilers.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { chances } from './support/chances.ts'
import { writeClusterFile } from './support/on-cluster.ts'

/*
 * Two hundred orders on three real members of a cluster, with real machines, and on three fake hosts, while hosts are drained and
 * evacuated, lose their power and come back, all at random.
 */

vi.setConfig({ testTimeout: 60 * 60_000 })

const ORDERS = 200
const BUYERS = 6
const CAPACITY = { real: 5, fake: 16 }
const MB_EACH = 1024
const FAKES = ['fake-1', 'fake-2', 'fake-3']
const TICK_MS = 100
const BALANCE = 10_000_000_000n

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 100_000))
const chance = chances(seed)
const below = (end: number) => Math.floor(chance.next().value! * end)
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!

const client = labClient()
let folder: string
let cluster: Cluster
let service: TestService
let ends: (() => unknown)[]
let capacities: Map<string, number>
/** Members that are switched off now. */
const off = new Set<string>()

beforeAll(async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  folder = await mkdtemp('/tmp/coinrack-cluster-')
  const images = createImageStore({ cacheFolder: process.env.COINRACK_CACHE ?? '/var/cache/coinrack' })
  const clock = { now: () => new Date() }
  const world = { images, clock, random: { bytes: randomBytes }, log: { info() {} } }
  cluster = await openCluster(await writeClusterFile(client, folder), world)
  await cluster.prepare(['debian-12'], () => {})
  service = await startTestService(
    {
      env: {
        COINRACK_ADDRESS_POOL: '198.18.0.0/24',
        COINRACK_RATE_ORDERS: '100000/min',
        COINRACK_RATE_DEFAULT: '100000/min',
      },
      driver: { capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } },
      hosts: FAKES.map((id) => ({
        id,
        region: 'lab',
        cluster: 'fake',
        driver: { capacity: { vcpus: 64, memoryMb: CAPACITY.fake * MB_EACH, diskGb: 100_000 } },
        network: { sharedPool: 'fakes' },
      })),
      realHosts: cluster.hosts.map(withRoomFor(CAPACITY.real)),
    },
    { start: new Date() },
  )
  capacities = new Map([
    ...FAKES.map((id) => [id, CAPACITY.fake] as const),
    ...cluster.hosts.map(({ id }) => [id, CAPACITY.real] as const),
  ])
  const ticking = setInterval(() => service.clock.advance(TICK_MS), TICK_MS)
  ends = [tendRemoteHosts(service.services), runReconcilers(service.services), () => clearInterval(ticking)]
}, 40 * 60_000)

afterAll(async () => {
  for (const end of ends ?? []) await end()
  for (const member of off) await runCommand(LAB, ['start', member])
  await service?.close()
  await cluster?.close()
  await client.close()
  await emptyLab()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 180_000)

/** The same host, which says that it has room for so many machines. */
const withRoomFor =
  (machines: number) =>
  (host: MachineHost): MachineHost => ({
    ...host,
    driver: {
      ...host.driver,
      inventory: async () => ({
        ...(await host.driver.inventory()),
        capacity: { vcpus: 64, memoryMb: machines * MB_EACH, diskGb: 100_000 },
      }),
    },
  })

const rows = async <R extends object>(text: string): Promise<R[]> =>
  (await service.services.db.query<R>(text)).rows

/** Checks the rules that have to hold at every moment. */
async function expectRules(): Promise<void> {
  const there = await rows<{ host_id: string; machines: number }>(
    `select host_id, sum(machines)::int as machines from (
       select host_id, 1 as machines from vps_machine where machine_gone_at is null
       union all select to_host, 1 from vps_move where to_host is not null) taken group by 1`,
  )
  for (const { host_id, machines } of there)
    expect(machines, host_id).toBeLessThanOrEqual(capacities.get(host_id)!)
  expect(
    await rows('select ipv4 from vps_machine where machine_gone_at is null group by 1 having count(*) > 1'),
  ).toEqual([])
  for (const { id } of await rows<{ id: string }>(
    `select id from vps_machine where machine_gone_at is null and host_id like 'lab-%'`,
  ))
    if ((await processesOf(id)).length > 1) await vi.waitUntil(() => isMovingOrOne(id), { timeout: 20_000 })
}

/** While a machine moves as it runs, there is the process that it leaves, and the one that waits for it. */
async function isMovingOrOne(id: string): Promise<boolean> {
  const moving = await rows<{ id: string }>('select id from vps_move where to_host is not null')
  return moving.some((move) => move.id === id) || (await processesOf(id)).length <= 1
}

async function buy(left: { orders: number }): Promise<void> {
  const { token } = await service.customer(BALANCE)
  const mine: string[] = []
  while (left.orders-- > 0) {
    const hostname = `web-${left.orders}`
    const body = { product: 'micro-ip', os_id: 1, region: 'lab', hostname }
    const { status, body: answer } = await service.ask('POST', '/orders', { token, body })
    expect([200, 503], JSON.stringify(answer)).toContain(status)
    if (status === 200) mine.push(answer.service_id)
    if (mine.length > 3 && below(2) === 0) {
      const [id] = mine.splice(below(mine.length), 1)
      const { body: shown } = await service.ask('GET', `/services/${id}?reveal=false`, { token })
      await service.ask('POST', `/services/${id}/cancel`, {
        token,
        body: { mode: 'immediate', confirm: shown.hostname },
      })
    }
    await sleep(below(6_000))
  }
}

const faults: Record<string, () => Promise<void>> = {
  'a host is drained, and opened later': async () => {
    const id = oneOf([...capacities.keys()])
    await setHostState(service.services.db, id, 'draining')
    await sleep(5_000 + below(10_000))
    await setHostState(service.services.db, id, 'open')
  },
  'a host is evacuated, and opened later': async () => {
    const id = oneOf([...capacities.keys()])
    await setHostState(service.services.db, id, 'evacuating')
    await sleep(20_000 + below(20_000))
    await setHostState(service.services.db, id, 'open')
  },
  'a fake host loses its power for a while': async () => {
    const { driver } = service.fakeHosts.get(oneOf(FAKES))!
    for (const id of driver.machines.keys()) driver.crash(id)
    driver.isAway = true
    await sleep(5_000 + below(10_000))
    driver.isAway = false
  },
  'a member of the cluster loses its power for a while': async () => {
    if (off.size > 0) return
    const member = oneOf(['1', '2', '3'])
    off.add(member)
    await runCommand(LAB, ['kill', member])
    await sleep(20_000 + below(20_000))
    await runCommand(LAB, ['start', member])
    off.delete(member)
  },
}

test(`behavior: ${ORDERS} orders while hosts drain, die and come back: every VPS ends where there is room, and is charged once or not at all`, async () => {
  const left = { orders: ORDERS }
  const isOver = new AbortController()
  const counts = new Map<string, number>()
  const trouble = async () => {
    while (!isOver.signal.aborted) {
      const what = oneOf(Object.keys(faults))
      counts.set(what, (counts.get(what) ?? 0) + 1)
      await faults[what]!()
      await sleep(below(5_000))
    }
  }
  const watch = async () => {
    while (!isOver.signal.aborted) {
      await expectRules()
      await sleep(1_000)
    }
  }
  const bought = Promise.all(Array.from({ length: BUYERS }, () => buy(left))).finally(() => isOver.abort())
  await Promise.all([bought, trouble(), trouble(), watch()])
  for (const id of capacities.keys()) await setHostState(service.services.db, id, 'open')
  await service.services.db.query('delete from vps_move where to_host is null')

  const unsettled = () =>
    rows(`select id, host_id, status, wanted, ssh_ready from vps where case
      when wanted = 'deleted' then machine_gone_at is null
      else status <> 'active' or not ssh_ready end`)
  await vi.waitUntil(async () => (await unsettled()).length === 0, { timeout: 20 * 60_000, interval: 2_000 })
  await expectRules()

  // Each machine that is wanted is on its host and on no other.
  const wanted = await rows<{ id: string; host_id: string }>(
    'select id, host_id from vps_machine where machine_gone_at is null order by id',
  )
  const found: { id: string; host_id: string }[] = []
  const orphans = new Set(
    (await rows<{ machine_id: string }>('select machine_id from orphan')).map(({ machine_id }) => machine_id),
  )
  for (const host of service.services.hosts.values())
    for (const id of (await host.driver.inventory()).machines)
      if (!orphans.has(id)) found.push({ id, host_id: host.id })
  expect(found.sort((a, b) => a.id.localeCompare(b.id))).toEqual(wanted)

  // A charge for each order that was delivered, and none for any other; nothing is held.
  const [money] = await rows<{ delivered: number; charges: number; held: string }>(
    `select (select count(distinct vps_id)::int from vps_period) as delivered,
       (select count(*)::int from ledger_transaction where kind = 'charge') as charges,
       (select coalesce(sum(held), 0)::text from customer_balance) as held`,
  )
  expect(money).toMatchObject({ charges: money!.delivered, held: '0' })
  const [ends] = await rows(
    `select count(*)::int as orders, count(*) filter (where status = 'active')::int as active,
       count(*) filter (where status = 'failed')::int as failed,
       count(*) filter (where host_id like 'lab-%')::int as on_the_cluster from vps`,
  )
  console.log({
    ...ends,
    ...money,
    refused: ORDERS - Number((ends as { orders: number }).orders),
    ...Object.fromEntries(counts),
  })
})
