import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, waitForSsh } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { chances } from './support/chances.ts'
import { chargesOf, guestsOf, newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * SIGKILL of the service at random moments between order and ready: each order ends with one machine and one charge.
 */

const KILLS = 10
/** The time that an order takes without a kill, measured first, is the span in which kills come. */
const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))

vi.setConfig({ testTimeout: 60 * 60_000 })

let service: RunningService
let customer: Client

beforeAll(async () => {
  service = await startService({ COINRACK_RATE_ORDERS: '1000/min' })
  customer = await newCustomer(service, '100')
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
}, 180_000)

async function order(): Promise<string> {
  const { service_id } = await customer.orderVps({ product: 'nano', os_id: 1 })
  return service_id!
}

async function cancel(serviceId: string): Promise<void> {
  const { hostname } = await customer.getVpsStatus({ service_id: serviceId, reveal: false })
  await customer.cancelService({ service_id: serviceId, mode: 'immediate', confirm: hostname })
  await vi.waitUntil(async () => (await guestsOf(serviceId)) === 0, { timeout: 60_000, interval: 200 })
}

test(`behavior: killed ${KILLS} times between order and ready, every order ends with one machine and one charge`, async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  const begun = performance.now()
  const first = await order()
  await waitForSsh(customer, first)
  const spanMs = performance.now() - begun
  await cancel(first)

  const chance = chances(seed)
  for (let kill = 1; kill <= KILLS; kill++) {
    const before = await chargesOf(customer)
    const serviceId = await order()
    const afterMs = chance.next().value! * spanMs
    await sleep(afterMs)
    await service.kill()
    await service.start()
    await waitForSsh(customer, serviceId)
    const after = await chargesOf(customer)
    console.log(`kill ${kill} after ${(afterMs / 1000).toFixed(1)} s of ${(spanMs / 1000).toFixed(1)} s`)
    expect(await guestsOf(serviceId)).toBe(1)
    expect(after).toEqual({ charges: before.charges + 1, held: 0n })
    await cancel(serviceId)
  }
})
