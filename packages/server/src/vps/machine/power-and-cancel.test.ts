import { AsyncResource } from 'node:async_hooks'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { billVps } from '../billing/bill-vps.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let service: TestService
let token: string
let id: string
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_REGISTER: '1000/min' } })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})
beforeEach(async () => {
  await order('web')
})

async function order(hostname: string): Promise<void> {
  ;({ token } = await service.customer(10_000_000n))
  const body = { product: 'micro', os_id: 1, hostname }
  id = (await service.ask('POST', '/orders', { token, body })).body.service_id
  await service.reconcile()
}
const power = (action: string) => service.ask('POST', `/services/${id}/power`, { token, body: { action } })
const cancel = (body: object) => service.ask('POST', `/services/${id}/cancel`, { token, body })
const status = async () => (await service.ask('GET', `/services/${id}?reveal=false`, { token })).body
const balance = async () => (await service.ask('GET', '/balance', { token })).body
const starts = () => service.driver.machines.get(id)!.starts
const callsOf = () =>
  service.driver.calls.filter((call) => call.endsWith(id)).map((call) => call.split(' ')[0])

describe('power', () => {
  test('default: stop, then start', async () => {
    expect((await power('stop')).status).toBe(200)
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'stopped', ssh_ready: false })
    expect(service.driver.machines.get(id)!.startedAt).toBeUndefined()
    await power('start')
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'active', ssh_ready: true })
    expect(starts()).toBe(2)
  })

  test.each([
    ['stop', 'stop'],
    ['force_stop', 'force_stop'],
    ['reboot', 'reboot'],
    ['reset', 'reset'],
  ])('behavior: %s is told to the machine as that, once', async (action, call) => {
    await power(action)
    await service.reconcile()
    await service.reconcile()
    expect(callsOf().filter((name) => name !== 'ensure')).toEqual([call])
  })

  test('behavior: a machine that already is as wanted is left alone', async () => {
    const before = service.driver.calls.length
    expect((await power('start')).status).toBe(200)
    await service.reconcile()
    expect(service.driver.calls.length).toBe(before)
    await power('stop')
    await service.reconcile()
    const stopped = service.driver.calls.length
    expect((await power('stop')).status).toBe(200)
    await service.reconcile()
    expect(service.driver.calls.length).toBe(stopped)
    expect(await status()).toMatchObject({ status: 'stopped' })
  })

  test('behavior: rebooting until SSH answers again', async () => {
    const answer = await power('reboot')
    expect(answer.body.service).toMatchObject({ status: 'rebooting', ssh_ready: false })
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'active', ssh_ready: true })
    expect(starts()).toBe(2)
  })

  test('behavior: twenty wishes to reboot before it is done are one', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => power('reboot')))
    expect(all.every(({ status: code }) => code === 200)).toBe(true)
    await service.reconcile()
    expect(starts()).toBe(2)
    await power('reboot')
    await service.reconcile()
    expect(starts()).toBe(3)
  })

  test('behavior: stop after a wish to reboot stops it, and it is not rebooted later', async () => {
    await power('reboot')
    await power('stop')
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'stopped' })
    await power('start')
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'active' })
    expect(starts()).toBe(2)
  })

  test('behavior: start after a wish to stop that was not carried out yet changes nothing', async () => {
    await power('stop')
    await power('start')
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'active', ssh_ready: true })
    expect(starts()).toBe(1)
  })

  test('error: a reboot of one that is stopped', async () => {
    await power('stop')
    await service.reconcile()
    for (const action of ['reboot', 'reset']) {
      expect(await power(action)).toMatchObject({ status: 409, body: { code: 'service_busy' } })
    }
    expect(await status()).toMatchObject({ status: 'stopped' })
  })

  test('error: while it is made, and after it is gone', async () => {
    await order('slow-boot-web')
    expect(await power('stop')).toMatchObject({ status: 409, body: { code: 'service_busy' } })
    await cancel({ mode: 'immediate', confirm: 'slow-boot-web' })
    expect(await power('start')).toMatchObject({ status: 409, body: { code: 'service_busy' } })
  })

  test('behavior: one that crashed, and whose start was not answered, is started at the next pass', async () => {
    service.driver.crash(id)
    service.clock.advance(20_000)
    const { power: act } = service.driver
    service.driver.power = async () => {
      service.driver.power = act
      throw new Error('read ECONNRESET')
    }
    await service.reconcile()
    if (service.mode !== undefined) await service.settle()
    expect(starts()).toBe(2)
    expect(await status()).toMatchObject({ status: 'active', ssh_ready: true })
  })

  test('behavior: a machine that crashed is started again; a stopped one is not', async () => {
    service.driver.crash(id)
    service.clock.advance(20_000)
    await service.settle()
    expect(await status()).toMatchObject({ status: 'active', ssh_ready: true })
    expect(starts()).toBe(2)
    await power('stop')
    await service.reconcile()
    service.clock.advance(20_000)
    await service.reconcile()
    expect(starts()).toBe(2)
  })
})

describe('cancel', () => {
  test('default: end_of_period keeps it to the end of the paid time, and gives nothing back', async () => {
    const { body } = await cancel({})
    expect(body).toMatchObject({ credited: '0.00', balance: '5.00' })
    expect(body.service).toMatchObject({ status: 'active', billing: { cancel_at_period_end: true } })
    const { billing } = await status()
    service.clock.advance(new Date(billing.paid_until).getTime() - service.clock.now().getTime() - 1)
    await billVps(service.services)
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'active' })
    service.clock.advance(1)
    await billVps(service.services)
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'deleted', ssh_ready: false })
    expect(service.driver.machines.has(id)).toBe(false)
    expect((await balance()).balance).toBe('5.00')
    await billVps(service.services)
  })

  test('error: immediate without a confirmation, or with another name', async () => {
    for (const confirm of [undefined, '', 'WEB', false, 'other']) {
      const answer = await cancel({ mode: 'immediate', confirm })
      expect(answer).toMatchObject({ status: 422, body: { code: 'confirmation_required' } })
      expect(answer.body.message).toContain('web')
    }
    expect(await status()).toMatchObject({ status: 'active' })
  })

  test.each([
    ['at once', 0, '4.9925'],
    ['after 59 minutes', 59 * 60_000, '4.9925'],
    ['after an hour and a second', HOUR_MS + 1000, '4.985'],
    ['after a day', DAY_MS, '4.82'],
    ['after 27 days', 27 * DAY_MS, '0.14'],
    ['after 27 days and 19 hours, when the hours cost the month', 27 * DAY_MS + 19 * HOUR_MS, '0.00'],
  ])('default: immediate %s credits what was not used', async (_when, used, credited) => {
    service.clock.advance(used)
    const { status: code, body } = await cancel({ mode: 'immediate', confirm: 'web' })
    expect(code).toBe(200)
    expect(body.credited).toBe(credited)
    expect(Number(body.balance)).toBeCloseTo(5 + Number(credited), 6)
    expect(body.service).toMatchObject({ status: 'deleted', ssh_ready: false })
    await service.reconcile()
    expect(service.driver.machines.has(id)).toBe(false)
  })

  test('behavior: while it is made the whole price is given back, and nothing is charged later', async () => {
    await order('slow-boot-web')
    expect(await balance()).toMatchObject({ balance: '5.00', held: '5.00' })
    const { body } = await cancel({ mode: 'immediate', confirm: 'slow-boot-web' })
    expect(body).toMatchObject({ credited: '5.00', balance: '10.00' })
    service.driver.finishBoot(id)
    await service.reconcile()
    expect(await balance()).toMatchObject({ balance: '10.00', held: '0.00' })
    expect(await status()).toMatchObject({ status: 'deleted' })
    expect(service.driver.machines.has(id)).toBe(false)
  })

  test('behavior: end_of_period while it is made counts from when it was delivered', async () => {
    await order('slow-boot-web')
    await cancel({})
    await billVps(service.services)
    service.driver.finishBoot(id)
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'active', billing: { cancel_at_period_end: true } })
  })

  test('behavior: twenty at the same moment credit once', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => cancel({ mode: 'immediate', confirm: 'web' })),
    )
    expect(all.every(({ status: code }) => code === 200)).toBe(true)
    expect(all.filter(({ body }) => body.credited !== '0.00')).toHaveLength(1)
    expect((await balance()).balance).toBe('9.9925')
  })

  test('behavior: of cancel and delivery at the same moment the money is right, whoever is first', async () => {
    for (let round = 0; round < 10; round++) {
      await order('slow-boot-web')
      service.driver.finishBoot(id)
      await Promise.all([service.reconcile(), cancel({ mode: 'immediate', confirm: 'slow-boot-web' })])
      await service.reconcile()
      expect(['10.00', '9.9925']).toContain((await balance()).balance)
      expect(await balance()).toMatchObject({ held: '0.00' })
      expect(await status()).toMatchObject({ status: 'deleted' })
      expect(service.driver.machines.has(id)).toBe(false)
    }
  })

  test('behavior: a cancel while the reconciler writes down what it saw is not overwritten', async () => {
    await power('stop')
    await service.reconcile()
    await power('start')
    const { db } = service.services
    const connect = db.connect.bind(db) as (...given: unknown[]) => Promise<pg.PoolClient>
    let cancelled = false
    // It is the customer who cancels, and no part of the transaction that waits for it.
    const customerCancels = AsyncResource.bind(() => cancel({ mode: 'immediate', confirm: 'web' }))
    // Between its look and its writing: the customer cancels.
    db.connect = (async (...given: unknown[]) => {
      const client = await connect(...given)
      if (given.length > 0) return client
      const query = client.query.bind(client) as (text: string, ...rest: unknown[]) => Promise<unknown>
      client.query = (async (text: string, ...rest: unknown[]) => {
        if (!cancelled && text.startsWith('update vps_machine set status')) {
          cancelled = true
          await customerCancels()
        }
        return query(text, ...rest)
      }) as typeof client.query
      return client
    }) as typeof db.connect
    await service.reconcile()
    db.connect = connect as typeof db.connect
    await service.reconcile()
    expect(cancelled).toBe(true)
    expect(await status()).toMatchObject({ status: 'deleted', ssh_ready: false })
    expect(service.driver.machines.has(id)).toBe(false)
  })

  test('behavior: a deleted one stays readable, and is cancelled again without effect', async () => {
    await cancel({ mode: 'immediate', confirm: 'web' })
    await service.reconcile()
    const again = await cancel({ mode: 'immediate' })
    expect(again.body).toMatchObject({ credited: '0.00', service: { status: 'deleted' } })
    expect(await status()).toMatchObject({ id, status: 'deleted', hostname: 'web' })
  })
})
