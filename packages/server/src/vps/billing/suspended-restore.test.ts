import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { buyerOf, DAY_MS, forgetVps, goTo, HOUR_MS } from './testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ features: ['retainedDisks'] })
})
afterEach(() => forgetVps(service))
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

/**
 * An hourly VPS without auto-renew that is about to get back its disk of before the reinstall; nothing of that was done
 * yet.
 */
async function restoring() {
  const buyer = await buyerOf(service, 10_000_000n)
  const id = await buyer.order({ billing_cycle: 'hourly', auto_renew: false })
  service.driver.machines.get(id)!.inside.hostname = 'on the old disk'
  await buyer.post(`/services/${id}/reinstall`, { os_id: 2, confirm: 'DELETE' })
  await service.reconcile()
  const list = async () =>
    (await service.ask('GET', `/services/${id}/snapshots`, { token: buyer.token })).body
  const [kept] = await list()
  expect((await buyer.post(`/services/${id}/snapshots/${kept.id}/restore`, {})).status).toBe(200)
  const suspend = async () => {
    await goTo(service, new Date((await buyer.vps(id)).billing.paid_until))
    expect(await buyer.vps(id)).toMatchObject({ status: 'suspended', ssh_ready: false })
  }
  return { buyer, id, list, keptId: kept.id as string, suspend }
}

/** How far it is when the paid time ends. */
const steps = {
  'before anything was done': async () => {},
  'after the machine was taken away': async (id: string) => {
    await service.driver.destroy(id)
    await service.services.db.query('update vps_machine set done_disk = wanted_disk where id = $1', [id])
  },
  'after the disk was moved': async (id: string, keptId: string) => {
    await steps['after the machine was taken away'](id)
    await service.retainedDisks.putBack(id, keptId)
  },
}

for (const [name, step] of Object.entries(steps) as [string, (id: string, keptId: string) => Promise<void>][])
  test(`behavior: suspended ${name}, it has its disk when it is paid again`, async () => {
    const { buyer, id, keptId, suspend } = await restoring()
    await step(id, keptId)
    await suspend()
    expect((await buyer.renew(id)).status).toBe(200)
    await service.reconcile()
    expect(await buyer.vps(id)).toMatchObject({ status: 'active', ssh_ready: true })
    expect(service.driver.machines.get(id)!.inside.hostname).toBe('on the old disk')
  })

test('behavior: suspended and then deleted, the disk is given up as any other kept one', async () => {
  const { buyer, id, keptId, list, suspend } = await restoring()
  await suspend()
  await goTo(service, new Date(service.clock.now().getTime() + 3 * DAY_MS))
  expect((await buyer.vps(id)).status).toBe('deleted')
  await goTo(service, new Date(service.clock.now().getTime() + HOUR_MS))
  expect(await list()).toEqual([])
  expect(await service.retainedDisks.list(id)).not.toContain(keptId)
})
