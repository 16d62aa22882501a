import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Services } from '../../platform/services.ts'
import { startTestService, type TestService, withHost } from '../../process/testing.ts'
import { createSnapshotReconciler } from './reconcile-snapshots.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    features: ['memorySnapshots'],
    env: {
      COINRACK_RATE_REGISTER: '100000/min',
      COINRACK_RATE_ORDERS: '100000/min',
      COINRACK_RATE_DEFAULT: '1000000/min',
    },
  })
})
afterAll(() => service.close())

async function newVps(hostname = 'web') {
  const { token } = await service.customer(10_000_000n)
  const body = { product: 'nano', os_id: 1, hostname }
  const { service_id: id } = (await service.ask('POST', '/orders', { token, body })).body
  await service.reconcile()
  return {
    id: id as string,
    inside: () => service.snapshots.stateOf(id),
    ask: (method: 'GET' | 'POST' | 'DELETE', path = '', body?: object) =>
      service.ask(method, `/services/${id}/snapshots${path}`, { token, ...(body ? { body } : {}) }),
    power: (action: string) => service.ask('POST', `/services/${id}/power`, { token, body: { action } }),
    cancel: () =>
      service.ask('POST', `/services/${id}/cancel`, {
        token,
        body: { mode: 'immediate', confirm: hostname },
      }),
    read: async () => (await service.ask('GET', `/services/${id}?reveal=false`, { token })).body,
  }
}
type TestVps = Awaited<ReturnType<typeof newVps>>

async function taken(vps: TestVps, input: object = {}): Promise<string> {
  const { body } = await vps.ask('POST', '', input)
  await service.reconcile()
  return body.snapshot.id
}

test('default: taken, listed, gone back to, deleted', async () => {
  const vps = await newVps()
  vps.inside().file = 'before'
  const { status, body } = await vps.ask('POST', '', { name: 'before upgrade' })
  expect(status).toBe(200)
  expect(body.snapshot).toMatchObject({ status: 'creating', name: 'before upgrade', include_memory: false })
  await service.reconcile()
  const list = await vps.ask('GET')
  expect(list.body).toMatchObject([{ id: body.snapshot.id, status: 'ready', consistency: 'guest' }])
  vps.inside().file = 'after'
  const restored = await vps.ask('POST', `/${body.snapshot.id}/restore`, {})
  expect(restored.body.snapshot).toMatchObject({ status: 'restoring' })
  await service.reconcile()
  expect(vps.inside().file).toBe('before')
  expect((await vps.ask('GET')).body).toMatchObject([{ status: 'ready' }])
  await vps.ask('DELETE', `/${body.snapshot.id}`)
  await service.reconcile()
  expect((await vps.ask('GET')).body).toEqual([])
  expect(await service.snapshots.list(vps.id)).toEqual([])
})

test('default: with memory, what ran then runs', async () => {
  const vps = await newVps()
  vps.inside().program = 7
  const id = await taken(vps, { include_memory: true })
  vps.inside().program = undefined
  await vps.power('stop')
  await service.reconcile()
  await vps.ask('POST', `/${id}/restore`)
  await service.reconcile()
  expect(vps.inside().program).toBe(7)
  expect(await vps.read()).toMatchObject({ status: 'active', ssh_ready: true })
})

test('behavior: waiting for a list that is settled ends when the work does', async () => {
  const vps = await newVps()
  await vps.ask('POST')
  const waiting = vps.ask('GET', '?wait=settled&timeout=20')
  await service.reconcile()
  expect((await waiting).body).toMatchObject([{ status: 'ready' }])
})

test('error: one more than the plan has', async () => {
  const vps = await newVps()
  const first = await taken(vps)
  await taken(vps)
  const refused = await vps.ask('POST')
  expect([refused.status, refused.body.code]).toEqual([409, 'snapshot_limit'])
  await vps.ask('DELETE', `/${first}`)
  await service.reconcile()
  expect((await vps.ask('POST')).status).toBe(200)
})

test('behavior: of many wishes at the same moment one is in work, and the plan is kept to', async () => {
  const vps = await newVps()
  const answers = await Promise.all(Array.from({ length: 8 }, () => vps.ask('POST')))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ body }) => body.code === 'snapshot_busy')).toHaveLength(7)
})

test('error: an unknown snapshot, and one of another machine', async () => {
  const [one, other] = [await newVps(), await newVps()]
  const id = await taken(one)
  for (const unknown of [id, `snp_${'0'.repeat(26)}`, 'x', "' or 1=1 --"]) {
    const path = `/${encodeURIComponent(unknown)}`
    expect((await other.ask('POST', `${path}/restore`)).body.code).toBe('not_found')
    expect((await other.ask('DELETE', path)).body.code).toBe('not_found')
  }
  expect((await one.ask('GET')).body).toHaveLength(1)
})

test('error: the memory of a stopped machine', async () => {
  const vps = await newVps()
  await vps.power('stop')
  await service.reconcile()
  expect((await vps.ask('POST', '', { include_memory: true })).body.code).toBe('service_busy')
  const id = await taken(vps)
  expect((await vps.ask('GET')).body).toMatchObject([{ id, consistency: 'off' }])
  expect((await vps.read()).status).toBe('stopped')
})

test('error: a damaged one is refused, says so, and nothing is lost', async () => {
  const vps = await newVps()
  const id = await taken(vps)
  service.snapshots.damage(vps.id, id)
  vps.inside().file = 'not lost'
  await vps.ask('POST', `/${id}/restore`)
  await service.reconcile()
  expect(vps.inside().file).toBe('not lost')
  const [shown] = (await vps.ask('GET')).body
  expect(shown).toMatchObject({
    status: 'damaged',
    failure_reason: expect.stringContaining('cannot be read'),
  })
  const again = await vps.ask('POST', `/${id}/restore`)
  expect([again.status, again.body.code]).toEqual([409, 'snapshot_busy'])
  expect((await vps.ask('DELETE', `/${id}`)).status).toBe(200)
})

test('behavior: what fails some times is tried again, and then given up, with nothing left', async () => {
  const some = await newVps('fail-snapshot-2')
  await taken(some)
  expect((await some.ask('GET')).body).toMatchObject([{ status: 'ready', failure_reason: null }])
  const always = await newVps('fail-snapshot-9')
  const id = await taken(always)
  expect((await always.ask('GET')).body).toMatchObject([{ status: 'failed' }])
  expect(await service.snapshots.list(always.id)).toEqual([])
  expect((await always.ask('DELETE', `/${id}`)).status).toBe(200)
})

test('behavior: snapshots go with their machine', async () => {
  const vps = await newVps()
  await taken(vps)
  await vps.ask('POST')
  await vps.cancel()
  await service.reconcile()
  const { rows } = await service.services.db.query(
    'select status from vps_snapshot where vps_id = $1 and reason is null',
    [vps.id],
  )
  expect(rows).toEqual([{ status: 'deleted' }, { status: 'deleted' }])
  expect((await vps.ask('POST')).body.code).toBe('service_busy')
})

/** How many steps each life has, from looking for work until after it is written down. */
const STEPS = 8

class Killed extends Error {}

/** The services as a process has them that dies at one step: nothing works from then on. */
function mortal(dieAt: number, when: 'before' | 'after') {
  const life = { steps: 0, isDead: false }
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    if (life.isDead) throw new Killed()
    const isLast = ++life.steps === dieAt
    if (isLast) life.isDead = true
    if (isLast && when === 'before') throw new Killed()
    const result = await work()
    if (isLast) throw new Killed()
    return result
  }
  const { snapshots } = service
  const { db } = service.services
  const services: Services = {
    ...service.services,
    ...withHost(service.services, () => ({
      snapshots: {
        take: (...args) => step(() => snapshots.take(...args)),
        restore: (...args) => step(() => snapshots.restore(...args)),
        remove: (...args) => step(() => snapshots.remove(...args)),
        list: (...args) => snapshots.list(...args),
      },
    })),
    db: {
      query: (...args: never[]) => step(() => (db.query as (...a: never[]) => Promise<unknown>)(...args)),
    } as unknown as pg.Pool,
  }
  return { life, services }
}

async function runLife(services: Services): Promise<void> {
  const reconciler = createSnapshotReconciler(services)
  for (let pass = 0; pass < 3; pass++) {
    await reconciler.pass().catch((error) => {
      if (!(error instanceof Killed)) throw error
    })
    await reconciler.idle()
  }
}

const stories: { name: string; begin(vps: TestVps): Promise<unknown>; end: string[]; file: string }[] = [
  { name: 'a snapshot that is taken', begin: (vps) => vps.ask('POST'), end: ['ready'], file: 'after' },
  {
    name: 'one that is restored',
    async begin(vps) {
      vps.inside().file = 'before'
      const id = await taken(vps)
      vps.inside().file = 'after'
      await vps.ask('POST', `/${id}/restore`)
    },
    end: ['ready'],
    file: 'before',
  },
  {
    name: 'one that is deleted',
    begin: async (vps) => vps.ask('DELETE', `/${await taken(vps)}`),
    end: [],
    file: 'after',
  },
]

test.each(stories)('behavior: killed at any step, $name comes to its end', async ({ begin, end, file }) => {
  for (const when of ['before', 'after'] as const) {
    for (let dieAt = 1; dieAt <= STEPS; dieAt++) {
      const vps = await newVps()
      vps.inside().file = 'after'
      await begin(vps)
      const { life, services } = mortal(dieAt, when)
      await runLife(services)
      await service.reconcile()
      const statuses = (await vps.ask('GET')).body.map(({ status }: { status: string }) => status)
      expect([when, dieAt, statuses]).toEqual([when, dieAt, end])
      expect(vps.inside().file).toBe(file)
      expect(await service.snapshots.list(vps.id)).toHaveLength(end.length)
      expect(life.isDead).toBe(true)
    }
  }
})
