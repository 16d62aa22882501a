import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { recordEvent } from '../platform/record-event.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { type EventView, eventsAfter, forgetOldEvents } from './event-store.ts'
import { numberEvents } from './number-events.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_REGISTER: '1000/min' } })
})
afterAll(() => service.close())

/** So that a test tells its events apart. */
const paid = (amount: bigint) => ({ invoice_id: 'inv_0', amount })
const record = (accountId: string, amount: bigint, beforeCommit = async () => {}) =>
  inTransaction(service.services.db, async (tx) => {
    await recordEvent(tx, service.services, accountId, 'invoice.paid', paid(amount))
    await beforeCommit()
  })
const listed = async (token: string, query = '') =>
  (await service.ask('GET', `/events${query}`, { token })).body as EventView[]

describe('what is told', () => {
  test('default: an order, its machine and its end, in their order', async () => {
    const { token } = await service.customer(10_000_000n)
    const { body: order } = await service.ask('POST', '/orders', {
      token,
      body: { product: 'nano', os_id: 1 },
    })
    await service.reconcile()
    const { hostname } = order.service
    await service.ask('POST', `/services/${order.service_id}/cancel`, {
      token,
      body: { mode: 'immediate', confirm: hostname },
    })
    const events = await listed(token)
    const told = { service_id: order.service_id, hostname }
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['order.placed', { order_id: order.id, service_id: order.service_id, product: 'nano', total: '3.00' }],
      ['vps.status_changed', { ...told, from: 'provisioning', to: 'active' }],
      ['vps.ssh_ready', { ...told, ip: '127.0.0.1', ssh_port: order.service.ssh_port }],
      ['vps.status_changed', { ...told, from: 'active', to: 'deleted' }],
    ])
    expect(events.map(({ position }) => position)).toEqual([1, 2, 3, 4])
    expect(events[0]).toMatchObject({
      id: expect.stringMatching(/^evt_/),
      timestamp: service.clock.now().toISOString(),
    })
  })

  test('behavior: an order whose machine cannot be made', async () => {
    const { token } = await service.customer(10_000_000n)
    const body = { product: 'nano', os_id: 1, hostname: 'no-space-here' }
    const { body: order } = await service.ask('POST', '/orders', { token, body })
    await service.reconcile()
    service.clock.advance(3_600_000)
    await service.reconcile()
    const [, changed, failed] = await listed(token)
    expect(changed!.data).toMatchObject({ from: 'provisioning', to: 'failed' })
    expect(failed).toMatchObject({
      type: 'order.failed',
      data: { order_id: order.id, reason: 'The host had no room for the machine' },
    })
  })

  test('behavior: a power cycle is told step by step', async () => {
    const { token } = await service.customer(10_000_000n)
    const { body } = await service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
    await service.reconcile()
    for (const action of ['stop', 'start']) {
      await service.ask('POST', `/services/${body.service_id}/power`, { token, body: { action } })
      await service.reconcile()
    }
    const types = (await listed(token)).slice(3).map(({ type, data }) => `${type} ${data.to ?? ''}`)
    expect(types).toEqual(['vps.status_changed stopped', 'vps.status_changed active', 'vps.ssh_ready '])
  })

  test('behavior: what is rolled back was never told', async () => {
    const { token, accountId } = await service.customer()
    await expect(
      record(accountId, 1n, async () => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(await listed(token)).toEqual([])
  })
})

describe('reading', () => {
  test('behavior: page after page, and nobody else sees them', async () => {
    const [one, other] = [await service.customer(), await service.customer()]
    for (let n = 1n; n <= 5n; n++) await record(one.accountId, n * 1_000_000n)
    const first = await service.ask('GET', '/events?limit=2', { token: one.token })
    expect(first.body.map(({ data }: EventView) => data.amount)).toEqual(['1.00', '2.00'])
    expect(first.headers.link).toContain('cursor=2')
    expect((await listed(one.token, '?cursor=2&limit=2')).map(({ position }) => position)).toEqual([3, 4])
    expect((await listed(one.token, '?cursor=5')).length).toBe(0)
    expect(await listed(other.token)).toEqual([])
    const tool = await service.tool('list_events', { cursor: '3' }, { token: one.token })
    expect(tool.body.items.map(({ position }: EventView) => position)).toEqual([4, 5])
  })

  test('behavior: waits for the next one', async () => {
    const { token, accountId } = await service.customer()
    const waiting = listed(token, '?timeout=20')
    await sleep(200)
    await record(accountId, 7n)
    await numberEvents(service.services)
    expect((await waiting).map(({ data }) => data.amount)).toEqual(['0.000007'])
  })

  test('error: a cursor that is none', async () => {
    const { token } = await service.customer()
    expect((await service.ask('GET', '/events?cursor=evt_1', { token })).body.code).toBe('invalid_input')
  })
})

describe('numbers', () => {
  test('behavior: who began first and commits last is numbered last, and is not missed', async () => {
    const { accountId } = await service.customer()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = record(accountId, 1n, () => held)
    await sleep(50)
    await record(accountId, 2n)
    await numberEvents(service.services)
    const seen = await eventsAfter(service.services.db, accountId, 0, 10)
    release()
    await slow
    await numberEvents(service.services)
    const rest = await eventsAfter(service.services.db, accountId, seen.at(-1)!.position, 10)
    expect([seen, rest].map((events) => events.map(({ data }) => data.amount))).toEqual([
      ['0.000002'],
      ['0.000001'],
    ])
  })

  test('behavior: under concurrent commits a reader that follows misses none, sees none twice, and no gap', async () => {
    const { db } = service.services
    const accounts = [await service.customer(), await service.customer()].map(({ accountId }) => accountId)
    const WRITERS = 8
    const EACH = 40
    let writing = true
    const seen = new Map(accounts.map((id) => [id, [] as EventView[]]))
    const readers = accounts.map(async (id) => {
      const mine = seen.get(id)!
      for (;;) {
        const last = !writing
        await numberEvents(service.services)
        mine.push(...(await eventsAfter(db, id, mine.at(-1)?.position ?? 0, 7)))
        if (last && mine.length >= (WRITERS * EACH) / 2) return
      }
    })
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let n = 0; n < EACH; n++) {
        const amount = BigInt(writer * 1000 + n)
        await record(accounts[n % 2]!, amount, () => sleep((writer * 7 + n * 3) % 11))
      }
    })
    await Promise.all(writers)
    writing = false
    await Promise.all(readers)
    for (const [index, id] of accounts.entries()) {
      const mine = seen.get(id)!
      expect(mine.map(({ position }) => position)).toEqual(mine.map((_, n) => n + 1))
      const wanted = Array.from({ length: WRITERS * EACH }, (_, n) => [Math.floor(n / EACH), n % EACH])
        .filter(([, n]) => n! % 2 === index)
        .map(([writer, n]) => writer! * 1000 + n!)
      const found = mine.map(({ data }) => Number(String(data.amount).replace('.', '')))
      const micro = found.map(
        (value, n) => value * 10 ** (6 - String(mine[n]!.data.amount).split('.')[1]!.length),
      )
      expect(micro.toSorted((a, b) => a - b)).toEqual(wanted)
    }
  })

  test('behavior: old events are forgotten, and their numbers not given again', async () => {
    const { token, accountId } = await service.customer()
    await record(accountId, 1n)
    expect(await listed(token)).toHaveLength(1)
    const { db, clock } = service.services
    await forgetOldEvents(db, new Date(clock.now().getTime() + 30 * 86_400_000), 30)
    expect(await listed(token)).toHaveLength(1)
    await forgetOldEvents(db, new Date(clock.now().getTime() + 30 * 86_400_000 + 1), 30)
    expect(await listed(token)).toEqual([])
    await record(accountId, 2n)
    expect((await listed(token)).map(({ position }) => position)).toEqual([2])
  })
})
