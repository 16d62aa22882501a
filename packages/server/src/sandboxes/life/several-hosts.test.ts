import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf, joinHost } from './testing.ts'

const MINUTE_MS = 60_000
/** micro-USD an hour. */
const MICRO = 16_500n
const TEN = { vcpus: 10, memoryMb: 10 * 512, diskGb: 1000 }

let service: TestService
let buyer: Buyer
let one: Awaited<ReturnType<typeof joinHost>>
let two: typeof one
beforeAll(async () => {
  service = await startTestService()
  // Its own computer takes none here.
  await service.services.db.query(`update host set state = 'draining' where id = $1`, [LOCAL_HOST])
})
beforeEach(async () => {
  buyer = await buyerOf(service, 50_000_000n)
  one = await joinHost(service, 'one', { capacity: TEN })
  two = await joinHost(service, 'two', { capacity: TEN })
  return async () => {
    for (const { id } of (await buyer.ask('GET', '/sandboxes?limit=100')).body) await buyer.kill(id)
    await service.reconcileSandboxes()
    await one.close()
    await two.close()
  }
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

const hostOf = async (id: string) => (await buyer.row(id)).host_id
const on = (host: string) => (host === 'one' ? one : two)
const look = () => {
  service.clock.advance(31_000)
  return service.reconcileSandboxes()
}

test('default: they are spread over the hosts until all are full, whoever asks at the same moment', async () => {
  const replies = await Promise.all(Array.from({ length: 24 }, () => buyer.create()))
  const made = replies.filter(({ status }) => status === 200)
  expect(made).toHaveLength(20)
  expect(replies.find(({ status }) => status !== 200)).toMatchObject({ body: { code: 'capacity' } })
  expect([one.runtime.sandboxes.size, two.runtime.sandboxes.size]).toEqual([10, 10])
})

test('behavior: none is placed on a host that drains, has no such template, or no networks', async () => {
  const none = await joinHost(service, 'none', {
    templates: [{ name: 'base', state: 'building' }],
    hasNetworks: false,
  })
  await service.services.db.query(`update host set state = 'draining' where id = 'one'`)
  const hosts = new Set<string>()
  for (let made = 0; made < 6; made++) hosts.add(await hostOf(await buyer.sandbox()))
  expect([...hosts]).toEqual(['two'])
  await service.services.db.query(`update host set state = 'open' where id = 'one'`)
  await none.close()
})

test('behavior: commands and forks reach the host that the sandbox is on', async () => {
  const ids = await Promise.all([1, 2, 3, 4, 5, 6].map(() => buyer.sandbox()))
  for (const id of ids) {
    const { body } = await buyer.post(`/sandboxes/${id}/exec`, { command: 'echo there > ~/is; cat ~/is' })
    expect(body).toMatchObject({ stdout: 'there\n' })
    const fork = (await buyer.post(`/sandboxes/${id}/fork`)).body.id
    expect(await hostOf(fork)).toBe(await hostOf(id))
  }
})

test('behavior: while a host is away its sandboxes cannot be reached, cost nothing, and go on afterwards', async () => {
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  const host = on(await hostOf(id))
  service.clock.advance(10 * MINUTE_MS)
  await service.reconcileSandboxes()
  const before = await buyer.row(id)
  host.leave()
  const refused = await buyer.post(`/sandboxes/${id}/exec`, { command: 'true' })
  expect(refused).toMatchObject({ status: 503, body: { code: 'sandboxes_unavailable', retry_after: 15 } })
  for (let looks = 0; looks < 20; looks++) await look()
  host.comeBack()
  await service.reconcileSandboxes()
  const after = await buyer.row(id)
  expect(after).toMatchObject({ state: 'running', reason: null })
  // At most the time since the last look, when it left.
  expect(Number(after.ran_ms - before.ran_ms)).toBeLessThan(MINUTE_MS)
  expect((await buyer.post(`/sandboxes/${id}/exec`, { command: 'true' })).status).toBe(200)
})

test('behavior: what ran on a host that is lost ends, and is paid to when it was seen last; paused ones wait', async () => {
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  const host = on(await hostOf(id))
  let paused = await buyer.sandbox({ mode: 'persistent' })
  while ((await hostOf(paused)) !== (await hostOf(id))) paused = await buyer.sandbox({ mode: 'persistent' })
  await buyer.post(`/sandboxes/${paused}/pause`)
  service.clock.advance(60 * MINUTE_MS)
  await service.reconcileSandboxes()
  const { charged } = await buyer.row(id)
  host.leave()
  for (let looks = 0; looks < 40; looks++) await look()
  expect(await buyer.show(id)).toMatchObject({ state: 'ended', reason: 'host_lost' })
  expect((await buyer.row(id)).charged - charged).toBeLessThanOrEqual(MICRO / 60n)
  const told = (await buyer.events()).filter(({ data }) => data.sandbox_id === id).at(-1)
  expect(told).toMatchObject({ type: 'sandbox.ended', data: { reason: 'host_lost' } })
  expect(await buyer.show(paused)).toMatchObject({ state: 'paused' })

  host.comeBack()
  await look()
  expect(host.runtime.sandboxes.has(id)).toBe(false)
  expect((await buyer.post(`/sandboxes/${paused}/resume`)).body).toMatchObject({ state: 'running' })
  expect((await buyer.row(id)).charged - charged).toBeLessThanOrEqual(MICRO / 60n)
})

test('behavior: one whose host is away ends when its owner says so, and nothing is charged later', async () => {
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  const host = on(await hostOf(id))
  host.leave()
  expect((await buyer.kill(id)).body).toMatchObject({ state: 'ended', reason: 'asked' })
  const { charged } = await buyer.row(id)
  service.clock.advance(60 * MINUTE_MS)
  host.comeBack()
  await look()
  expect(host.runtime.sandboxes.has(id)).toBe(false)
  expect((await buyer.row(id)).charged).toBe(charged)
})

test('behavior: a host that is lost while it makes one leaves nothing to pay', async () => {
  one.runtime.ensure = two.runtime.ensure = async () => {
    throw new SandboxError('host_unreachable', 'the connection is gone')
  }
  const { body } = await buyer.create()
  expect(body).toMatchObject({ state: 'starting' })
  one.leave()
  two.leave()
  for (let looks = 0; looks < 4; looks++) await look()
  expect(await buyer.show(body.id)).toMatchObject({ state: 'failed', cost: '0.00' })
  expect(await buyer.balance()).toMatchObject({ held: '0.00' })
})

test('behavior: a host is not believed about sandboxes of another', async () => {
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  const name = await hostOf(id)
  const liar = on(name === 'one' ? 'two' : 'one')
  const honest = liar.runtime.observe
  service.clock.advance(60 * MINUTE_MS)
  // Its own host reports a minute; the other would have it run for all of the hour, or ended.
  on(name).runtime.observe = async () => new Map([[id, { state: 'running', ranMs: MINUTE_MS }]])
  for (const state of ['running', 'ended', 'paused'] as const) {
    liar.runtime.observe = async () => new Map([[id, { state, ranMs: 1e12 }]])
    await look()
    expect(await buyer.row(id)).toMatchObject({
      state: 'running',
      wanted: 'running',
      ran_ms: BigInt(MINUTE_MS),
    })
  }
  expect(on(name).runtime.sandboxes.has(id)).toBe(true)
  expect(liar.runtime.calls.filter((call) => call.startsWith('destroy'))).not.toEqual([])
  liar.runtime.observe = honest
})

test('behavior: a host that never answers delays nothing on the others', async () => {
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  const mute = on((await hostOf(id)) === 'one' ? 'two' : 'one')
  mute.runtime.observe = () => new Promise(() => {})
  mute.runtime.capacity = () => new Promise(() => {})
  await service.reconcileSandboxes()
  const other = await buyer.sandbox()
  expect(await hostOf(other)).toBe(await hostOf(id))
})

test('behavior: a host that destroys nothing, and says that all of it runs, is paid for nothing after the end', async () => {
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  const host = on(await hostOf(id))
  const destroy = host.runtime.destroy
  host.runtime.destroy = async () => {
    throw new SandboxError('guest_failed', 'I will not')
  }
  service.clock.advance(10 * MINUTE_MS)
  expect((await buyer.kill(id)).body).toMatchObject({ state: 'ended', reason: 'asked' })
  const { charged } = await buyer.row(id)
  expect(charged).toBe(MICRO / 6n)
  for (let looks = 0; looks < 5; looks++) await look()
  expect(host.runtime.sandboxes.has(id)).toBe(true)
  expect((await buyer.row(id)).charged).toBe(charged)
  expect(await buyer.balance()).toMatchObject({ held: '0.00' })
  host.runtime.destroy = destroy
  await look()
  expect(host.runtime.sandboxes.has(id)).toBe(false)
})

test('behavior: one on a host that never answers ends when its owner says so', async () => {
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  const { runtime } = on(await hostOf(id))
  const { observe, destroy } = runtime
  runtime.observe = () => new Promise(() => {})
  runtime.destroy = () => new Promise(() => {})
  expect((await buyer.kill(id)).body).toMatchObject({ state: 'ended' })
  expect((await buyer.post(`/sandboxes/${id}/exec`, { command: 'true' })).status).toBe(409)
  Object.assign(runtime, { observe, destroy })
})
