import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { LOCAL_HOST } from '../../platform/machine-host.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf, joinHost } from '../life/testing.ts'
import { copyArtifact } from './copy-artifact.ts'
import { createPausedMover } from './move-paused.ts'

const MINUTE_MS = 60_000

let service: TestService
let buyer: Buyer
let one: Awaited<ReturnType<typeof joinHost>>
let two: typeof one
beforeAll(async () => {
  service = await startTestService()
  await service.services.db.query(`update host set state = 'draining' where id = $1`, [LOCAL_HOST])
})
beforeEach(async () => {
  buyer = await buyerOf(service, 50_000_000n)
  one = await joinHost(service, 'one')
  two = await joinHost(service, 'two')
  return async () => {
    await setState('one', 'open')
    await setState('two', 'open')
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

const setState = (id: string, state: string) =>
  service.services.db.query('update host set state = $2 where id = $1', [id, state])
const hostOf = async (id: string) => (await buyer.row(id)).host_id
const on = (host: string) => (host === 'one' ? one : two)
const other = (host: string) => (host === 'one' ? 'two' : 'one')
const look = () => {
  service.clock.advance(61_000)
  return service.reconcileSandboxes()
}
const movePaused = (copies = false) =>
  createPausedMover({
    ...service.services,
    config: { ...service.services.config, sandboxCopies: copies },
  }).pass()
const exec = async (id: string) => (await buyer.post(`/sandboxes/${id}/exec`, { command: 'true' })).status

async function snapshotOf(id: string): Promise<string> {
  const { status, body } = await buyer.post(`/sandboxes/${id}/snapshots`)
  expect([status, body.snapshot?.status]).toEqual([200, 'ready'])
  return body.snapshot.id
}

async function pausedSandbox(): Promise<{ id: string; host: string }> {
  const id = await buyer.sandbox({ mode: 'persistent' })
  service.clock.advance(10 * MINUTE_MS)
  await service.reconcileSandboxes()
  expect((await buyer.post(`/sandboxes/${id}/pause`)).body.state).toBe('paused')
  return { id, host: await hostOf(id) }
}

test('default: a sandbox from a snapshot is made where that is, and elsewhere when there is no room', async () => {
  const first = await buyer.sandbox()
  const home = await hostOf(first)
  const template = await snapshotOf(first)
  for (let made = 0; made < 4; made++) expect(await hostOf(await buyer.sandbox({ template }))).toBe(home)
  await setState(home, 'draining')
  const elsewhere = await buyer.sandbox({ template })
  expect(await hostOf(elsewhere)).toBe(other(home))
  expect(await exec(elsewhere)).toBe(200)
  expect(await on(other(home)).runtime.snapshots()).toMatchObject([{ id: template }])

  await buyer.ask('DELETE', `/sandbox-snapshots/${template}`)
  for (const { runtime } of [one, two]) expect(await runtime.snapshots()).toEqual([])
})

test('error: a snapshot whose only host is away is no template until it is back', async () => {
  const id = await buyer.sandbox()
  const home = await hostOf(id)
  const template = await snapshotOf(id)
  on(home).leave()
  expect(await buyer.create({ template })).toMatchObject({ status: 503, body: { code: 'capacity' } })
  on(home).comeBack()
  expect((await buyer.create({ template })).status).toBe(200)
})

test('error: a copy that is not what was written down when it was taken is not used', async () => {
  const id = await buyer.sandbox()
  const home = await hostOf(id)
  const template = await snapshotOf(id)
  await service.services.db.query(
    `update sandbox_snapshot set artifact = jsonb_set(artifact, '{files,0,sha256}', to_jsonb(repeat('0', 64))) where id = $1`,
    [template],
  )
  await setState(home, 'draining')
  const { status, body } = await buyer.create({ template })
  expect([status, body.state ?? body.code]).toEqual([503, 'capacity'])
  expect(await on(other(home)).runtime.snapshots()).toEqual([])
})

test('behavior: a deleted snapshot of a host that was away is removed when it is back', async () => {
  const id = await buyer.sandbox()
  const home = await hostOf(id)
  const template = await snapshotOf(id)
  on(home).leave()
  await buyer.ask('DELETE', `/sandbox-snapshots/${template}`)
  on(home).comeBack()
  await look()
  expect(await on(home).runtime.snapshots()).toEqual([])
})

test('default: what is paused on a host that drains moves, and goes on elsewhere with what it ran', async () => {
  const { id, host } = await pausedSandbox()
  const { ran_ms: before } = await buyer.row(id)
  await setState(host, 'draining')
  await movePaused()
  expect(await hostOf(id)).toBe(other(host))
  await look()
  expect(on(host).runtime.sandboxes.has(id)).toBe(false)
  expect(await on(host).runtime.snapshots()).toEqual([])
  expect(await buyer.show(id)).toMatchObject({ state: 'paused' })

  expect((await buyer.post(`/sandboxes/${id}/snapshots`)).body).toMatchObject({ code: 'sandbox_not_running' })
  expect((await buyer.post(`/sandboxes/${id}/resume`)).body).toMatchObject({ state: 'running' })
  expect(await exec(id)).toBe(200)
  service.clock.advance(MINUTE_MS)
  await service.reconcileSandboxes()
  expect((await buyer.row(id)).ran_ms - before).toBe(BigInt(MINUTE_MS))
  await look()
  for (const { runtime } of [one, two]) expect(await runtime.snapshots()).toEqual([])
})

test('behavior: one that was moved can be forked, and leaves nothing when it ends', async () => {
  const { id, host } = await pausedSandbox()
  await setState(host, 'draining')
  await movePaused()
  const fork = (await buyer.post(`/sandboxes/${id}/fork`)).body
  expect(fork).toMatchObject({ state: 'running', parent_id: id })
  await buyer.kill(id)
  await look()
  expect(await on(other(host)).runtime.snapshots()).toEqual([])
  expect(await exec(fork.id)).toBe(200)
})

test('behavior: one that is resumed while it is copied stays where it is', async () => {
  const { id, host } = await pausedSandbox()
  await setState(host, 'draining')
  const { runtime } = on(host)
  const take = runtime.takeSnapshot
  runtime.takeSnapshot = async (...given) => {
    const taken = await take(...given)
    expect((await buyer.post(`/sandboxes/${id}/resume`)).body.state).toBe('running')
    return taken
  }
  await movePaused()
  runtime.takeSnapshot = take
  expect(await buyer.row(id)).toMatchObject({ host_id: host, state: 'running' })
  await look()
  for (const each of [one, two]) expect(await each.runtime.snapshots()).toEqual([])
})

test('behavior: what has a copy goes on from it when its host is lost, and nothing is charged twice', async () => {
  const { id, host } = await pausedSandbox()
  await movePaused(true)
  expect(await hostOf(id)).toBe(host)
  const { charged } = await buyer.row(id)
  on(host).leave()
  for (let looks = 0; looks < 20; looks++) await look()
  expect(await hostOf(id)).toBe(other(host))
  expect((await buyer.post(`/sandboxes/${id}/resume`)).body).toMatchObject({ state: 'running' })
  expect((await buyer.row(id)).charged).toBe(charged)
  // The lost host comes back with what it had.
  on(host).comeBack()
  await look()
  expect(on(host).runtime.sandboxes.has(id)).toBe(false)
  expect(on(other(host)).runtime.sandboxes.has(id)).toBe(true)
  expect(await exec(id)).toBe(200)
})

test('behavior: a copy from before the last run is not used', async () => {
  const { id, host } = await pausedSandbox()
  await movePaused(true)
  expect((await buyer.post(`/sandboxes/${id}/resume`)).body).toMatchObject({ state: 'running' })
  await buyer.post(`/sandboxes/${id}/pause`)
  on(host).leave()
  for (let looks = 0; looks < 20; looks++) await look()
  expect(await buyer.row(id)).toMatchObject({ host_id: host, state: 'paused' })
  on(host).comeBack()
  await look()
  expect(await on(other(host)).runtime.snapshots()).toEqual([])
  expect((await buyer.post(`/sandboxes/${id}/resume`)).body).toMatchObject({ state: 'running' })
})

test('behavior: a copy that stands still, at either end, is given up, and can be made again', async () => {
  const id = await buyer.sandbox()
  const { services } = service
  const giver = services.sandboxes.get(await hostOf(id))!.artifacts
  const taker = services.sandboxes.get(other(await hostOf(id)))!.artifacts
  const artifact = await giver.describe(`snapshot:${await snapshotOf(id)}`)
  const silent = { read: async () => new Readable({ read() {} }) }
  const deaf = { ...taker, write: () => new Promise<void>(() => {}) }
  for (const copying of [
    copyArtifact(artifact, silent, taker, { stillMs: 100 }),
    copyArtifact(artifact, giver, deaf, { stillMs: 100 }),
  ])
    await expect(copying).rejects.toMatchObject({ code: 'guest_failed' })
  await Promise.all([copyArtifact(artifact, giver, taker), copyArtifact(artifact, giver, taker)])
  expect(await taker.list()).toContain(artifact.id)
})
