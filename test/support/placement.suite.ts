import { DriverError, type VpsDriver } from '@coinrack/compute/ports/vps-driver.ts'
import { setHostState } from '@coinrack/server/hosts/host-store.ts'
import { type Hosts, LOCAL_HOST } from '@coinrack/server/platform/machine-host.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { createVpsReconciler } from '@coinrack/server/vps/machine/reconcile-vps.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chances } from './chances.ts'

interface Size {
  orders: number
  hosts: number
}

const REGIONS = ['east', 'west']
/** A host has the second system, ports for machines, and addresses for them, or lacks some of these. */
const IMAGES = [['debian-12'], ['debian-12', 'debian-13']]
const OS_IDS = { 'debian-12': 1, 'debian-13': 2 }
const PLANS = {
  nano: { memoryMb: 512, network: 'nat' },
  micro: { memoryMb: 1024, network: 'nat' },
  'micro-ip': { memoryMb: 1024, network: 'dedicated' },
} as const
/** How many addresses two hosts have together, where they have any. */
const ADDRESSES = 12
const MOST_AT_ONCE = 12
const DAY_MS = 86_400_000

const poolOf = (host: number) => Math.floor(host / 2)
/** The addresses of a pool, which no other pool has. */
const rangeOf = (pool: number) => ({ from: `198.18.${pool}.1`, to: `198.18.${pool}.${ADDRESSES}` })

/**
 * Orders at random, alone and many at once, on hosts that die, drain, come back, fill up and lose machines at random, beside
 * processes that are killed in the middle of what they do. After each step no place is given twice and no host beyond what it
 * has; an order alone is refused only when no host could take it; at the end no machine is left that belongs to no VPS.
 */
export function placementSuite({ orders, hosts }: Size): void {
  const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const chance = chances(seed)
  /** A whole number from 0 up to, but not, the argument. */
  const below = (end: number) => Math.floor(chance.next().value! * end)
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]!

  let service: TestService
  let token: string
  const isDead = new Set<string>()
  /** Hosts that make no machine, though they say that they have room. */
  const isFull = new Set<string>()
  /** Memory of each host, in MB. */
  const capacities = new Map<string, number>()

  beforeAll(async () => {
    service = await startTestService({
      env: {
        COINRACK_RATE_ORDERS: '1000000/min',
        COINRACK_RATE_DEFAULT: '1000000/min',
        // Plans with an address are sold.
        COINRACK_ADDRESS_POOL: '198.18.0.0/29',
      },
      driver: { capacity: { vcpus: 0, memoryMb: 0, diskGb: 0 } },
      hosts: Array.from({ length: hosts }, (_, index) => ({
        id: `host-${index}`,
        region: oneOf(REGIONS),
        driver: {
          capacity: { vcpus: 64, memoryMb: 512 * (4 + below(40)), diskGb: 100_000 },
          images: oneOf(IMAGES).map((slug) => ({ slug, state: 'ready' as const })),
          features: { ownAddresses: below(2) === 0, portForwarding: below(4) > 0 },
        },
        network: { addressPool: [rangeOf(poolOf(index))], sharedPool: `pool-${poolOf(index)}` },
      })),
    })
    token = (await service.customer(10_000_000_000n)).token
    for (const { id, driver } of service.fakeHosts.values()) {
      const { ensure } = driver
      driver.ensure = async (spec) => {
        if (isFull.has(id)) throw new DriverError('no_space', 'The disk is full')
        return ensure(spec)
      }
    }
    for (const { id, driver } of service.fakeHosts.values())
      capacities.set(id, (await driver.inventory()).capacity.memoryMb)
  })
  afterAll(() => service?.close())

  const rows = async <R extends object>(text: string): Promise<R[]> =>
    (await service.services.db.query<R>(text)).rows

  async function order() {
    const [image, plan, region] = [
      oneOf(Object.keys(OS_IDS)) as keyof typeof OS_IDS,
      oneOf(Object.keys(PLANS)) as keyof typeof PLANS,
      oneOf([undefined, ...REGIONS]),
    ]
    const body = { product: plan, os_id: OS_IDS[image], ...(region && { region }) }
    const place = async () => service.ask('POST', '/orders', { token, body })
    return { image, region, ...PLANS[plan], place }
  }

  /** Whether some host could take it: counted anew, of what the hosts themselves say. */
  async function couldBePlaced({
    image,
    region,
    memoryMb,
    network,
  }: Awaited<ReturnType<typeof order>>): Promise<boolean> {
    const taken = await takenOfHosts()
    const addresses = await addressesOfPools()
    const draining = new Set(
      (await rows<{ id: string }>(`select id from host where state = 'draining'`)).map(({ id }) => id),
    )
    for (const host of service.fakeHosts.values()) {
      if (draining.has(host.id) || isDead.has(host.id) || (region && host.region !== region)) continue
      const { images, features } = await host.driver.inventory()
      if (!images.some(({ slug }) => slug === image)) continue
      if (network === 'nat' && !features.portForwarding) continue
      const { sharedPool } = service.services.hosts.get(host.id)!.network
      const hasAddress = features.ownAddresses && (addresses.get(sharedPool!) ?? 0) < ADDRESSES
      if (network === 'dedicated' && !hasAddress) continue
      if ((taken.get(host.id) ?? 0) + memoryMb <= capacities.get(host.id)!) return true
    }
    return false
  }

  const takenOfHosts = async () =>
    new Map(
      (
        await rows<{ host_id: string; memory_mb: number }>(
          'select host_id, sum(memory_mb)::int as memory_mb from vps where machine_gone_at is null group by 1',
        )
      ).map(({ host_id, memory_mb }) => [host_id, memory_mb]),
    )

  /** How many addresses of each pool are taken. */
  const addressesOfPools = async () =>
    new Map(
      (
        await rows<{ pool: string; taken: number }>(
          `select 'pool-' || split_part(ipv4, '.', 3) as pool, count(*)::int as taken from vps
           where machine_gone_at is null and ipv4 is not null group by 1`,
        )
      ).map(({ pool, taken }) => [pool, taken]),
    )

  async function expectPlaces() {
    const taken = await takenOfHosts()
    for (const [id, memoryMb] of taken) {
      expect(memoryMb, id).toBeLessThanOrEqual(capacities.get(id)!)
    }
    expect(
      await rows(
        'select host_id, ssh_host, ssh_port from vps where machine_gone_at is null group by 1, 2, 3 having count(*) > 1',
      ),
    ).toEqual([])
    const wrong = (
      await rows<{ host_id: string; region: string; image: string }>(
        'select host_id, region, image from vps where machine_gone_at is null',
      )
    ).filter(({ host_id, region }) => service.services.hosts.get(host_id)!.region !== region)
    expect(wrong).toEqual([])
  }

  const events: (() => Promise<unknown>)[] = [
    async () => {
      const host = oneOf([...service.fakeHosts.keys()].filter((id) => id !== LOCAL_HOST))
      const { driver } = service.fakeHosts.get(host)!
      const { inventory } = driver
      if (isDead.has(host)) return
      isDead.add(host)
      driver.inventory = async () => {
        if (isDead.has(host)) throw new Error('It is away')
        driver.inventory = inventory
        return driver.inventory()
      }
    },
    async () => {
      for (const id of isDead) if (below(2) === 0) isDead.delete(id)
    },
    async () => setHostState(service.services.db, `host-${below(hosts)}`, oneOf(['open', 'draining'])),
    async () => {
      const live = await rows<{ id: string; hostname: string }>(
        `select id, hostname from vps where wanted <> 'deleted' and status = 'active' order by id`,
      )
      for (let count = below(10); count > 0 && live.length > 0; count--) {
        const { id, hostname } = oneOf(live)
        await service.ask('POST', `/services/${id}/cancel`, {
          token,
          body: { mode: 'immediate', confirm: hostname },
        })
      }
    },
    async () => {
      const id = `host-${below(hosts)}`
      if (!isFull.delete(id)) isFull.add(id)
    },
    async () => service.reconcile(),
    // A process that is killed in the middle of what it does with machines.
    async () => {
      const reconciler = createVpsReconciler({ ...service.services, hosts: mortalHosts(1 + below(12)) })
      await reconciler.pass()
      await reconciler.end()
    },
  ]

  /** The same hosts, limited to a number of calls together: the last call is done, and its answer is lost. */
  function mortalHosts(calls: number): Hosts {
    let left = calls
    const mortal = (driver: VpsDriver) =>
      new Proxy(driver, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name)
          if (typeof value !== 'function') return value
          return async (...args: unknown[]) => {
            if (--left < 0) throw new Error('Killed')
            const answer = await value.apply(target, args)
            if (left === 0) throw new Error('Killed')
            return answer
          }
        },
      })
    return new Map([...service.fakeHosts].map(([id, host]) => [id, { ...host, driver: mortal(host.driver) }]))
  }

  test(
    `behavior: ${orders} orders on ${hosts} hosts that come and go`,
    async () => {
      console.log(`COINRACK_TEST_SEED=${seed}`)
      let [asked, refused] = [0, 0]
      while (asked < orders) {
        await oneOf(events)()
        await service.observeHosts()
        if (below(3) === 0) {
          const count = 1 + below(MOST_AT_ONCE)
          const all = await Promise.all(Array.from({ length: count }, async () => (await order()).place()))
          asked += count
          for (const { status, body } of all) {
            if (status !== 200) expect(['capacity', 'os_not_supported']).toContain(body.code)
          }
        } else {
          const wanted = await order()
          const isPossible = await couldBePlaced(wanted)
          const { status, body } = await wanted.place()
          asked++
          if (!isPossible) refused++
          expect([status === 200, body.code], JSON.stringify(wanted)).toEqual([
            isPossible,
            isPossible ? undefined : 'capacity',
          ])
        }
        await expectPlaces()
      }
      console.log(`${asked} orders, ${refused} of those alone without a place`)

      isDead.clear()
      isFull.clear()
      await service.observeHosts()
      for (let pass = 0; pass < 3; pass++) await service.reconcile()
      const machine = [...service.fakeHosts.values()].find(({ driver }) => driver.machines.size > 0)!
      const [first] = machine.driver.machines.values()
      for (const { id, driver } of service.fakeHosts.values())
        driver.adopt(`vps_${id.padEnd(26, '0')}`, first!)
      await service.observeHosts()
      service.clock.advance(DAY_MS + 1)
      await service.observeHosts()
      const known = new Set(
        (
          await rows<{ at: string }>(
            `select host_id || ' ' || id as at from vps where machine_gone_at is null`,
          )
        ).map(({ at }) => at),
      )
      const left = [...service.fakeHosts.values()].flatMap(({ id, driver }) =>
        [...driver.machines.keys()].map((machine) => `${id} ${machine}`),
      )
      expect(left.filter((at) => !known.has(at))).toEqual([])
    },
    30 * 60_000,
  )
}
