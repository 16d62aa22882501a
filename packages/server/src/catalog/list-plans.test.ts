import type { ImageStatus } from '@coinrack/compute/ports/vps-driver.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReadiness } from '../process/readiness.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { OFFER_MS } from './offer.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
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

test('behavior: asked for all the time, plans cost the driver and the database one look a second, and stay right', async () => {
  const { driver, db } = service.services
  const looks: Record<string, number> = { images: 0, capacity: 0, hasOwnNetworks: 0, query: 0 }
  const counted = (name: string, look: () => unknown) => () => {
    looks[name] = looks[name]! + 1
    return look()
  }
  let memoryMb = 16_384
  service.services.driver = {
    ...driver,
    images: counted('images', () => driver.images()) as typeof driver.images,
    hasOwnNetworks: counted('hasOwnNetworks', () => driver.hasOwnNetworks()) as typeof driver.hasOwnNetworks,
    capacity: counted('capacity', async () => ({
      vcpus: 16,
      memoryMb,
      diskGb: 500,
    })) as typeof driver.capacity,
  }
  const query = db.query.bind(db)
  db.query = ((...args: Parameters<typeof query>) => {
    looks.query = looks.query! + 1
    return query(...args)
  }) as typeof db.query
  try {
    service.clock.advance(OFFER_MS)
    await Promise.all(Array.from({ length: 20 }, () => service.ask('GET', '/products')))
    const once = { ...looks }
    for (let asked = 0; asked < 80; asked++) await service.ask('GET', '/products')
    expect(looks).toEqual(once)
    expect(looks).toEqual({ images: 1, capacity: 1, hasOwnNetworks: 1, query: expect.any(Number) })
    expect(looks.query).toBeLessThanOrEqual(3)
    memoryMb = 512
    expect((await plans()).map(({ available }: { available: boolean }) => available)).toEqual(
      service.services.catalog.plans.map(({ memory_mb }) => memory_mb <= 512),
    )
    expect(looks.capacity).toBe(2)
  } finally {
    service.services.driver = driver
    db.query = query
  }
})

test('error: a look that failed is not kept', async () => {
  const { driver } = service.services
  service.services.driver = {
    ...driver,
    capacity: async () => {
      throw new Error('The disk does not answer')
    },
  }
  service.clock.advance(OFFER_MS)
  expect(await service.ask('GET', '/products')).toMatchObject({ status: 500 })
  service.services.driver = driver
  expect(await service.ask('GET', '/products')).toMatchObject({ status: 200 })
})

test('behavior: a plan that does not fit the host is shown, and not available', async () => {
  const { driver } = service.services
  service.services.driver = { ...driver, capacity: async () => ({ vcpus: 2, memoryMb: 1024, diskGb: 500 }) }
  const available = (await plans()).filter((plan: { available: boolean }) => plan.available)
  service.services.driver = driver
  expect(available.map(({ slug }: { slug: string }) => slug)).toEqual(['nano', 'micro'])
})

test('behavior: an image that is not built is shown, and cannot be ordered yet', async () => {
  const { driver } = service.services
  service.services.driver = {
    ...driver,
    images: async () => [
      { slug: 'debian-12', state: 'ready' },
      { slug: 'debian-13', state: 'building', detail: 'Unpacking' },
    ],
  }
  const [plan] = await plans()
  const { token } = await service.customer(10_000_000n)
  const order = await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 2 } })
  service.services.driver = driver
  expect(plan.available).toBe(true)
  expect(plan.os_images.map(({ available }: { available: boolean }) => available)).toEqual([true, false])
  expect(order).toMatchObject({ status: 503, body: { code: 'capacity' } })
  expect(Number(order.headers['retry-after'])).toBeGreaterThan(0)
})

test('behavior: an image that the operator added is offered where its disk fits, and can be ordered', async () => {
  const { driver } = service.services
  const added = {
    slug: 'nova-42',
    osId: 1000,
    name: 'Nova 42',
    distribution: 'nova',
    version: '42',
    arch: 'x86_64' as const,
    diskGb: 12,
  }
  service.services.driver = {
    ...driver,
    images: async () => [...(await driver.images()), { slug: 'nova-42', state: 'ready', added }],
  }
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
    service.services.driver = driver
  }
})

test('behavior: the service is ready without one that the operator added', async () => {
  const { driver } = service.services
  const added = { slug: 'nova-42', osId: 1000, diskGb: 12 } as never
  const images: ImageStatus[] = [...(await driver.images()), { slug: 'nova-42', state: 'failed', added }]
  const parts = await createReadiness({
    ...service.services,
    driver: { ...driver, images: async () => images },
  })()
  expect(parts.map(({ name }) => name)).toContain('image debian-12')
  expect(parts.map(({ name }) => name)).not.toContain('image nova-42')
})

test('behavior: an order that takes the last room is seen by the next look', async () => {
  const { driver } = service.services
  const nano = service.services.catalog.plans[0]!
  const { rows } = await service.services.db.query<{ memory_mb: number }>(
    'select coalesce(sum(memory_mb), 0)::int as memory_mb from vps where machine_gone_at is null',
  )
  const memoryMb = rows[0]!.memory_mb + nano.memory_mb
  service.services.driver = { ...driver, capacity: async () => ({ vcpus: 16, memoryMb, diskGb: 500 }) }
  const isAvailable = async () => (await plans())[0].available
  try {
    expect(await isAvailable()).toBe(true)
    const { token } = await service.customer(10_000_000n)
    const order = await service.ask('POST', '/orders', { token, body: { product: nano.slug, os_id: 1 } })
    expect(order.status).toBe(200)
    expect(await isAvailable()).toBe(false)
  } finally {
    service.services.driver = driver
  }
})
