import { allFeatures } from '@coinrack/compute/fake/driver.ts'
import { vpsFeatures } from '@coinrack/contract/features.ts'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createReadiness } from '../process/readiness.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { OFFER_MS } from './offer.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ driver: { features: allFeatures } })
})
afterAll(() => service.close())

/** The plans as they are now, not as they were a moment ago. */
const plans = async () => {
  service.clock.advance(OFFER_MS)
  return (await service.ask('GET', '/products')).body
}

test('default: the plans of the catalog, as a list, without a token', async () => {
  const listed = await plans()
  expect(listed.map(({ slug }: { slug: string }) => slug)).toEqual(
    service.services.catalog.plans.map(({ slug }) => slug),
  )
  expect(listed[0]).toEqual({
    slug: 'nano',
    name: 'Nano',
    description: expect.any(String),
    network: 'nat',
    vcpus: 1,
    memory_mb: 512,
    disk_gb: 10,
    transfer_gb: 500,
    snapshots: 2,
    price: '3.00',
    price_hourly: '0.0045',
    currency: 'USD',
    regions: ['local'],
    features: { local: vpsFeatures },
    available: true,
    os_images: [
      {
        os_id: 1,
        name: expect.any(String),
        distribution: 'debian',
        version: '12',
        arch: expect.any(String),
        available: true,
      },
      {
        os_id: 2,
        name: expect.any(String),
        distribution: 'debian',
        version: '13',
        arch: expect.any(String),
        available: true,
      },
    ],
  })
})

test('behavior: an hour never costs more than its part of the month', async () => {
  for (const { slug, price, price_hourly } of service.services.catalog.plans) {
    expect(price_hourly * 28n * 24n, slug).toBeGreaterThanOrEqual(price)
  }
})

test('behavior: asked for all the time, plans cost the database one look a second and the host none, and stay right', async () => {
  const { db } = service.services
  let queries = 0
  const query = db.query.bind(db)
  db.query = ((...args: Parameters<typeof query>) => {
    queries++
    return query(...args)
  }) as typeof db.query
  onTestFinished(async () => {
    db.query = query
    await service.hostSays()
  })
  await service.hostSays({ capacity: { vcpus: 16, memoryMb: 16_384, diskGb: 500 } })
  service.clock.advance(OFFER_MS)
  queries = 0
  await Promise.all(Array.from({ length: 20 }, () => service.ask('GET', '/products')))
  const once = queries
  for (let asked = 0; asked < 80; asked++) await service.ask('GET', '/products')
  expect(queries).toBe(once)
  expect(once).toBeLessThanOrEqual(3)
  await service.hostSays({ capacity: { vcpus: 16, memoryMb: 512, diskGb: 500 } })
  expect((await plans()).map(({ available }: { available: boolean }) => available)).toEqual(
    service.services.catalog.plans.map(({ memory_mb }) => memory_mb <= 512),
  )
})

test('error: a look that failed is not kept', async () => {
  const { db } = service.services
  const query = db.query.bind(db)
  db.query = (() => Promise.reject(new Error('The database does not answer'))) as unknown as typeof db.query
  service.clock.advance(OFFER_MS)
  const failed = await service.ask('GET', '/products').finally(() => {
    db.query = query
  })
  expect(failed).toMatchObject({ status: 500 })
  expect(await service.ask('GET', '/products')).toMatchObject({ status: 200 })
})

test('behavior: a host that does not answer gets no machine, and is open again once it does', async () => {
  const { driver } = service
  const { inventory } = driver
  driver.inventory = () => Promise.reject(new Error('The disk does not answer'))
  await service.observeHosts()
  const available = async () => (await plans()).some((plan: { available: boolean }) => plan.available)
  const parts = async () =>
    (await createReadiness(service.services)()).find(({ name }) => name === 'machines')
  expect([await available(), await parts()]).toEqual([
    false,
    { name: 'machines', ready: false, detail: expect.stringMatching(/^The disk does not answer$|^scripted/) },
  ])
  driver.inventory = inventory
  await service.observeHosts()
  expect([await available(), await parts()]).toEqual([true, { name: 'machines', ready: true }])
})

test('behavior: a plan that does not fit the host is shown, and not available', async () => {
  await service.hostSays({ capacity: { vcpus: 2, memoryMb: 1024, diskGb: 500 } })
  const available = (await plans()).filter((plan: { available: boolean }) => plan.available)
  await service.hostSays()
  expect(available.map(({ slug }: { slug: string }) => slug)).toEqual(['nano', 'micro'])
})

test('behavior: an image that is not built is shown, and cannot be ordered yet', async () => {
  await service.hostSays({
    images: [
      { slug: 'debian-12', state: 'ready' },
      { slug: 'debian-13', state: 'building', detail: 'Unpacking' },
    ],
  })
  const [plan] = await plans()
  const { token } = await service.customer(10_000_000n)
  const order = await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 2 } })
  await service.hostSays()
  expect(plan.available).toBe(true)
  expect(plan.os_images.map(({ available }: { available: boolean }) => available)).toEqual([true, false])
  expect(order).toMatchObject({ status: 503, body: { code: 'capacity' } })
  expect(Number(order.headers['retry-after'])).toBeGreaterThan(0)
})

test('behavior: an image that the operator added is offered where its disk fits, and can be ordered', async () => {
  const added = {
    slug: 'nova-42',
    osId: 1000,
    name: 'Nova 42',
    distribution: 'nova',
    version: '42',
    arch: 'x86_64' as const,
    diskGb: 12,
  }
  const { images } = await service.driver.inventory()
  await service.hostSays({ images: [...images, { slug: 'nova-42', state: 'ready', added }] })
  const { token } = await service.customer(20_000_000n)
  const order = (product: string) => service.ask('POST', '/orders', { token, body: { product, os_id: 1000 } })
  try {
    const offering = (await plans()).filter(({ os_images }: { os_images: { os_id: number }[] }) =>
      os_images.some(({ os_id }) => os_id === 1000),
    )
    const fitting = service.services.catalog.plans.filter(({ disk_gb }) => disk_gb >= 12)
    expect(offering.map(({ slug }: { slug: string }) => slug)).toEqual(fitting.map(({ slug }) => slug))
    expect(fitting.length).toBeLessThan(service.services.catalog.plans.length)
    expect(await order('nano')).toMatchObject({ status: 422, body: { code: 'os_not_supported' } })
    expect(await order(fitting[0]!.slug)).toMatchObject({
      body: { service: { os: { os_id: 1000, name: 'Nova 42' } } },
    })
  } finally {
    await service.hostSays()
  }
})

test('behavior: the service is ready without one that the operator added', async () => {
  const added = { slug: 'nova-42', osId: 1000, diskGb: 12 } as never
  const { images } = await service.driver.inventory()
  await service.hostSays({ images: [...images, { slug: 'nova-42', state: 'failed', added }] })
  const parts = await createReadiness(service.services)()
  await service.hostSays()
  expect(parts.map(({ name }) => name)).toContain('image debian-12')
  expect(parts.map(({ name }) => name)).not.toContain('image nova-42')
})

test('behavior: an order that takes the last room is seen by the next look', async () => {
  const nano = service.services.catalog.plans[0]!
  const { rows } = await service.services.db.query<{ memory_mb: number }>(
    'select coalesce(sum(memory_mb), 0)::int as memory_mb from vps where machine_gone_at is null',
  )
  const memoryMb = rows[0]!.memory_mb + nano.memory_mb
  await service.hostSays({ capacity: { vcpus: 16, memoryMb, diskGb: 500 } })
  const isAvailable = async () => (await plans())[0].available
  try {
    expect(await isAvailable()).toBe(true)
    const { token } = await service.customer(10_000_000n)
    const order = await service.ask('POST', '/orders', { token, body: { product: nano.slug, os_id: 1 } })
    expect(order.status).toBe(200)
    expect(await isAvailable()).toBe(false)
  } finally {
    await service.hostSays()
  }
})
