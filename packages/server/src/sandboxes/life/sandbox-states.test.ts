import { SandboxError } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from './testing.ts'

let service: TestService
let buyer: Buyer
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_SANDBOXES: '10000/min' } })
  buyer = await buyerOf(service)
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

const python = async (id: string, code: string) =>
  (await buyer.post(`/sandboxes/${id}/run`, { code, context: 'python' })).body
const forEver = { timeout: 86_400, idle_timeout: 0 }

describe('pause_sandbox and resume_sandbox', () => {
  test('default: it costs nothing meanwhile, and goes on where it was', async () => {
    const id = await buyer.sandbox(forEver)
    await python(id, 'x = 41')
    service.clock.advance(60_000)
    const { status, body } = await buyer.post(`/sandboxes/${id}/pause`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ state: 'paused', reason: 'asked', cost: '0.000275', seconds: 60 })
    expect((await buyer.balance()).held).toBe('0.00')
    expect(service.runtime.sandboxes.get(id)?.state).toBe('paused')
    const work = await buyer.post(`/sandboxes/${id}/exec`, { command: 'true' })
    expect([work.status, work.body.code]).toEqual([409, 'sandbox_not_running'])
    service.clock.advance(3_600_000)
    await service.reconcileSandboxes()
    const resumed = (await buyer.post(`/sandboxes/${id}/resume`, { timeout: 600 })).body
    expect(resumed).toMatchObject({ state: 'running', reason: null, cost: '0.000275', timeout: 600 })
    expect((await python(id, 'x + 1')).results[0].data['text/plain']).toBe('42')
    expect((await buyer.balance()).held).toBe('0.000275')
    await buyer.kill(id)
    expect(
      (await buyer.events()).filter(({ data }) => data.sandbox_id === id).map(({ type }) => type),
    ).toEqual(
      expect.arrayContaining(['sandbox.started', 'sandbox.paused', 'sandbox.resumed', 'sandbox.ended']),
    )
  })

  test('behavior: asked again, nothing more is done', async () => {
    const id = await buyer.sandbox(forEver)
    await buyer.post(`/sandboxes/${id}/pause`)
    expect((await buyer.post(`/sandboxes/${id}/pause`)).status).toBe(200)
    await buyer.post(`/sandboxes/${id}/resume`)
    expect((await buyer.post(`/sandboxes/${id}/resume`)).status).toBe(200)
    expect((await buyer.balance()).held).toBe('0.000275')
    await buyer.kill(id)
  })

  test('error: what was kept is damaged: it stays paused, and nothing is held', async () => {
    const id = await buyer.sandbox({ ...forEver, env: { FAKE: 'damaged' } })
    await buyer.post(`/sandboxes/${id}/pause`)
    const { status, body } = await buyer.post(`/sandboxes/${id}/resume`)
    expect([status, body.code]).toEqual([409, 'sandbox_damaged'])
    expect(await buyer.show(id)).toMatchObject({ state: 'paused' })
    expect((await buyer.balance()).held).toBe('0.00')
    await buyer.kill(id)
  })

  test('error: what cannot be paused runs on', async () => {
    const id = await buyer.sandbox({ ...forEver, env: { FAKE: 'fail-pause-9' } })
    const { status, body } = await buyer.post(`/sandboxes/${id}/pause`)
    expect([status, body.code]).toEqual([409, 'sandbox_unreachable'])
    expect(await buyer.show(id)).toMatchObject({ state: 'running' })
    await buyer.kill(id)
  })

  test('behavior: what cannot be paused when its time is over, ends', async () => {
    const id = await buyer.sandbox({ mode: 'persistent', timeout: 60, env: { FAKE: 'fail-pause-9' } })
    service.clock.advance(60_000)
    for (let turn = 0; turn < 3; turn++) await service.reconcileSandboxes()
    expect(await buyer.show(id)).toMatchObject({ state: 'ended', reason: 'timeout' })
  })
})

describe('fork_sandbox', () => {
  test('default: both go on from there, apart', async () => {
    const id = await buyer.sandbox({ ...forEver, metadata: { run: '1' } })
    await python(id, 'x = 1')
    const { status, body } = await buyer.post(`/sandboxes/${id}/fork`)
    expect(status).toBe(200)
    const child = body.id
    expect(body).toMatchObject({
      state: 'running',
      parent_id: id,
      metadata: { run: '1' },
      cost: '0.00',
    })
    await python(child, 'x = x + 1')
    expect((await python(child, 'x')).results[0].data['text/plain']).toBe('2')
    expect((await python(id, 'x')).results[0].data['text/plain']).toBe('1')
    expect((await buyer.balance()).held).toBe('0.00055')
    await buyer.kill(id)
    await buyer.kill(child)
  })

  test('error: it cannot be forked: nothing is held or left', async () => {
    const id = await buyer.sandbox({ ...forEver, env: { FAKE: 'fail-fork' } })
    const { status, body } = await buyer.post(`/sandboxes/${id}/fork`)
    expect([status, body.code]).toEqual([503, 'capacity'])
    expect((await buyer.balance()).held).toBe('0.000275')
    await buyer.kill(id)
    const over = await buyer.post(`/sandboxes/${id}/fork`)
    expect([over.status, over.body.code]).toEqual([409, 'sandbox_not_running'])
  })
})

describe('snapshots', () => {
  test('default: a template of new sandboxes, which outlives its own', async () => {
    const id = await buyer.sandbox({ ...forEver, tariff: 'small' })
    await python(id, 'x = 7')
    const { status, body } = await buyer.post(`/sandboxes/${id}/snapshots`, { name: 'seven' })
    expect(status).toBe(200)
    const { snapshot } = body
    expect(snapshot).toMatchObject({ name: 'seven', status: 'ready', tariff: 'small', sandbox_id: id })
    await buyer.kill(id)
    expect((await buyer.ask('GET', '/sandbox-snapshots')).body).toEqual([snapshot])
    const copy = await buyer.create({ ...forEver, template: snapshot.id })
    expect(copy.body).toMatchObject({ tariff: 'small', template: snapshot.id })
    expect((await python(copy.body.id, 'x')).results[0].data['text/plain']).toBe('7')
    await buyer.kill(copy.body.id)
    const other = await buyer.create({ template: snapshot.id, tariff: 'micro' })
    expect([other.status, other.body.code]).toEqual([422, 'unknown_template'])
    const stranger = await buyerOf(service)
    expect((await stranger.create({ template: snapshot.id })).body.code).toBe('unknown_template')
    expect((await buyer.ask('DELETE', `/sandbox-snapshots/${snapshot.id}`)).body).toEqual({
      deleted: snapshot.id,
    })
    expect((await buyer.ask('GET', '/sandbox-snapshots')).body).toEqual([])
    expect(await service.runtime.snapshots()).toEqual([])
  })

  test('error: it cannot be kept', async () => {
    const id = await buyer.sandbox({ ...forEver, env: { FAKE: 'fail-snapshot' } })
    const { status, body } = await buyer.post(`/sandboxes/${id}/snapshots`)
    expect([status, body.code]).toEqual([409, 'sandbox_unreachable'])
    await buyer.kill(id)
  })
})

describe('set_sandbox_network', () => {
  test('default: while it runs', async () => {
    const id = await buyer.sandbox(forEver)
    const network = { allow_internet: false, allow_out: ['pypi.org'], deny_out: [] }
    const { status, body } = await buyer.ask('PUT', `/sandboxes/${id}/network`, network)
    expect([status, body?.network]).toEqual([200, network])
    expect(service.runtime.sandboxes.get(id)?.network).toEqual({
      allowInternet: false,
      allowOut: ['pypi.org'],
      denyOut: [],
    })
    await buyer.kill(id)
  })

  test('error: a host that has no networks', async () => {
    const other = await startTestService({ sandboxes: { hasNetworks: false } })
    const poor = await buyerOf(other)
    const { body } = await poor.create()
    expect(body.network.allow_internet).toBe(false)
    const refused = await poor.create({ network: { allow_internet: true } })
    expect([refused.status, refused.body.code]).toEqual([503, 'network_unavailable'])
    for (const network of [{ allow_out: ['pypi.org'] }, { deny_out: ['pypi.org'] }]) {
      const { status, body } = await poor.create({ network: { allow_internet: false, ...network } })
      expect([status, body.code]).toEqual([503, 'network_unavailable'])
    }
    await other.close()
  })

  test('error: a host that has networks no more, for what was made when it had', async () => {
    const hasNetworks = vi.spyOn(service.runtime, 'hasNetworks').mockResolvedValue(true)
    const ensure = vi
      .spyOn(service.runtime, 'ensure')
      .mockRejectedValue(new SandboxError('unsupported', 'scripted'))
    const { status, body } = await buyer.create({
      network: { allow_internet: false, allow_out: ['pypi.org'] },
    })
    expect([status, body.code]).toEqual([503, 'network_unavailable'])
    expect((await buyer.balance()).held).toBe('0.00')
    ensure.mockRestore()
    hasNetworks.mockRestore()
  })

  test('behavior: names are kept in one form', async () => {
    const id = await buyer.sandbox({
      ...forEver,
      network: { allow_internet: false, allow_out: ['PyPI.org.', '*.Bücher.example'] },
    })
    const { body } = await buyer.ask('GET', `/sandboxes/${id}`)
    expect(body.network.allow_out).toEqual(['pypi.org', '*.xn--bcher-kva.example'])
    await buyer.kill(id)
  })
})

describe('room on the host', () => {
  test('error: no more than it has; what is paused or over has left its memory', async () => {
    const other = await startTestService({
      sandboxes: { capacity: { vcpus: 1, memoryMb: 1024, diskGb: 100 } },
    })
    const owner = await buyerOf(other)
    const first = await owner.sandbox(forEver)
    await owner.sandbox(forEver)
    const third = await owner.create()
    expect([third.status, third.body.code]).toEqual([503, 'capacity'])
    await owner.post(`/sandboxes/${first}/pause`)
    const second = await owner.sandbox(forEver)
    const full = await owner.post(`/sandboxes/${first}/resume`)
    expect([full.status, full.body.code]).toEqual([503, 'capacity'])
    await owner.kill(second)
    expect((await owner.post(`/sandboxes/${first}/resume`)).status).toBe(200)
    await expectBooksToBalance(other.services.db)
    await other.close()
  })
})

test('behavior: memory and processors that are promised twice hold twice as many', async () => {
  const other = await startTestService({
    sandboxes: { capacity: { vcpus: 0.5, memoryMb: 1024, diskGb: 100 } },
    env: { COINRACK_SANDBOX_OVERCOMMIT: '2' },
  })
  const owner = await buyerOf(other)
  for (let count = 0; count < 4; count++) await owner.sandbox()
  expect((await owner.create()).body.code).toBe('capacity')
  await other.close()
})

test('error: what a VPS has taken of the host no sandbox gets, and the other way round', async () => {
  const capacity = { vcpus: 8, memoryMb: 1024, diskGb: 100 }
  const other = await startTestService({ sandboxes: { capacity }, driver: { capacity } })
  const owner = await buyerOf(other, 50_000_000n)
  const order = () => owner.post('/orders', { product: 'nano', os_id: 1 })
  expect((await order()).status).toBe(200)
  const id = await owner.sandbox()
  expect((await owner.create()).body.code).toBe('capacity')
  expect((await order()).body.code).toBe('capacity')
  await owner.kill(id)
  expect((await order()).status).toBe(200)
  await other.close()
})

test('behavior: what is left on the host of one that is gone, goes', async () => {
  const id = await buyer.sandbox(forEver)
  const row = await buyer.row(id)
  await buyer.kill(id)
  await service.runtime.ensure({
    id,
    template: row.template,
    vcpus: row.vcpus,
    memoryMb: row.memory_mb,
    diskGb: row.disk_gb,
  })
  service.clock.advance(30_000)
  await service.reconcileSandboxes()
  expect(service.runtime.sandboxes.has(id)).toBe(false)
})
