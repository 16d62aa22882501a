import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeSshKey, runInGuest, sshArguments } from '@coinrack/cli/ssh.ts'
import { waitForSsh } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { chargesOf, guestsOf, newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * A rush: thirty orders of the smallest plan at the same moment, each until a command ran inside by ssh.
 */

const ORDERS = 30

vi.setConfig({ testTimeout: 60 * 60_000 })

let service: RunningService
let folder: string

beforeAll(async () => {
  service = await startService({
    COINRACK_RATE_ORDERS: '1000/min',
    COINRACK_DISK_OVERCOMMIT: '10',
    COINRACK_INSTANT_VPS: 'on',
  })
  folder = await mkdtemp('/tmp/coinrack-rush-')
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 10 * 60_000)

/** While all begin at once, a login may take longer than `ssh` waits for it. */
async function asSoonAsItCan<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 10) throw error
    }
  }
}

test(`behavior: of ${ORDERS} orders at once none fails, and each is its buyer's own machine`, async () => {
  const customer = await newCustomer(service, '200')
  const key = await makeSshKey(folder)
  const begun = performance.now()
  const machines = await Promise.all(
    Array.from({ length: ORDERS }, async (_, number) => {
      const hostname = `rush-${number}`
      const { service_id } = await customer.orderVps({
        ...{ product: 'nano', os_id: 1, ssh_key: key.publicKey, hostname },
      })
      const { ssh } = await waitForSsh(customer, service_id!, { reveal: false })
      const own = join(folder, hostname)
      await mkdir(own)
      const answer = await asSoonAsItCan(async () =>
        runInGuest(await sshArguments(own, key, ssh), 'hostname'),
      )
      return { id: service_id!, hostname, answer, seconds: (performance.now() - begun) / 1000 }
    }),
  )
  const seconds = machines.map((machine) => machine.seconds).sort((a, b) => a - b)
  const at = (share: number) => seconds[Math.ceil(share * ORDERS) - 1]!.toFixed(1)
  console.log(
    `order to ssh of ${ORDERS} at once: p50 ${at(0.5)} s, p95 ${at(0.95)} s, first ${seconds[0]!.toFixed(1)} s`,
  )

  expect(machines.filter(({ answer, hostname }) => answer !== hostname)).toEqual([])
  for (const { id } of machines) expect(await guestsOf(id)).toBe(1)
  expect(await chargesOf(customer)).toEqual({ charges: ORDERS, held: 0n })
})
