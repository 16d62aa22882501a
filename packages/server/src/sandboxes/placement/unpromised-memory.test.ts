import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from '../life/testing.ts'
import { unpromisedMemory } from './unpromised-memory.ts'

let service: TestService
let buyer: Buyer
beforeAll(async () => {
  service = await startTestService()
  buyer = await buyerOf(service, 50_000_000n)
})
afterAll(() => service.close())

test('default: all of the host, less what sandboxes that run and machines were promised', async () => {
  const { services } = service
  const { memoryMb } = await services.sandboxes.get(LOCAL_HOST)!.runtime.capacity()
  expect(await unpromisedMemory(services)).toBe(memoryMb)
  const id = await buyer.sandbox({ mode: 'persistent' })
  expect(await unpromisedMemory(services)).toBe(memoryMb - 512)
  await buyer.post(`/sandboxes/${id}/pause`)
  expect(await unpromisedMemory(services)).toBe(memoryMb)
  const plan = services.catalog.plans.find(({ slug }) => slug === 'nano')!
  expect((await buyer.post('/orders', { product: 'nano', os_id: 1 })).status).toBe(200)
  expect(await unpromisedMemory(services)).toBe(memoryMb - plan.memory_mb)
})
