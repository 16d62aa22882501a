import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const plans = async () => (await service.ask('GET', '/products')).body

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
