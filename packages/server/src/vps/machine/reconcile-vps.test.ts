import type { VpsDriver } from '@coinrack/compute/ports/vps-driver.ts'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import type { Services } from '../../platform/services.ts'
import { startTestService, type TestService, withHost } from '../../process/testing.ts'
import { createVpsReconciler } from './reconcile-vps.ts'

/*
 * The reconciler killed at any step: each statement and each call of the driver fails once, before or after it had
 * its effect, and a new process goes on from there. Every order ends with one machine and one charge.
 */

/** One in so many steps of a story is tested, which the seed chooses; all of them in `npm run test:full`. */
const EVERY = process.env.COINRACK_TEST_FULL ? 1 : 9
const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))

class Killed extends Error {}

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    features: ['retainedDisks', 'guestCommands'],
    env: { COINRACK_RATE_REGISTER: '100000/min', COINRACK_RATE_ORDERS: '100000/min' },
  })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

/** Dies at the step of this number, counted over all that goes through it; from then on nothing works any more. */
function mortal(dieAt: number, when: 'before' | 'after') {
  const life = { steps: 0, isDead: false }
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    if (life.isDead) throw new Killed()
    life.steps++
    const last = life.steps === dieAt
    if (last && when === 'before') life.isDead = true
    if (life.isDead) throw new Killed()
    const result = await work().finally(() => {
      if (last) life.isDead = true
    })
    if (life.isDead) throw new Killed()
    return result
  }
  return { life, step }
}

function mortalServices(services: Services, step: ReturnType<typeof mortal>['step']): Services {
  const mortalPort = <T extends object>(port: T): T =>
    Object.fromEntries(
      Object.entries(port).map(([name, call]) => [
        name,
        typeof call === 'function'
          ? (...args: never[]) => step(() => (call as (...a: never[]) => Promise<unknown>)(...args))
          : call,
      ]),
    ) as unknown as T
  const db = {
    query: (...args: never[]) =>
      step(() => (services.db.query as (...a: never[]) => Promise<unknown>)(...args)),
    async connect() {
      const client = await services.db.connect()
      return {
        query: (text: never, ...rest: never[]) =>
          // A dead process ends its connection, which rolls back.
          String(text) === 'rollback'
            ? client.query('rollback')
            : step(() => (client.query as (...a: never[]) => Promise<unknown>)(text, ...rest)),
        release: () => client.release(),
      }
    },
  } as unknown as pg.Pool
  return {
    ...services,
    ...withHost(services, (host) => ({
      driver: mortalPort(host.driver),
      guests: mortalPort(host.guests),
      retainedDisks: mortalPort(host.retainedDisks),
    })),
    db,
  }
}

async function runLife(services: Services): Promise<void> {
  const reconciler = createVpsReconciler(services)
  for (let pass = 0; pass < 8; pass++) {
    try {
      await reconciler.pass()
    } catch (error) {
      if (!(error instanceof Killed)) throw error
    }
    await reconciler.idle()
  }
}

async function order(hostname = 'web') {
  const customer = await service.customer(10_000_000n)
  const { body } = await service.ask('POST', '/orders', {
    token: customer.token,
    body: { product: 'nano', os_id: 1, hostname },
  })
  return { ...customer, id: body.service_id as string, orderId: body.id as string }
}
const ask = (vps: { id: string; token: string }, path: string, body: object) =>
  service.ask('POST', `/services/${vps.id}/${path}`, { token: vps.token, body })
const statement = async (token: string): Promise<string[]> =>
  (await service.ask('GET', '/balance/transactions', { token })).body.map(
    ({ kind }: { kind: string }) => kind,
  )
const balanceOf = async (token: string) => {
  const { balance, held } = (await service.ask('GET', '/balance', { token })).body
  return [balance, held]
}
const read = async (vps: { id: string; token: string }) =>
  (await service.ask('GET', `/services/${vps.id}?reveal=false`, { token: vps.token })).body

type Vps = Awaited<ReturnType<typeof order>>
interface Story {
  name: string
  prepare(): Promise<Vps>
  expect(vps: Vps): Promise<void>
}
/** The password of the row is the one inside, and nothing more is wished of the machine. */
async function expectToldAll(vps: Vps, hostname: string) {
  const { rows } = await service.services.db.query(
    'select hostname_pending, next_root_password, root_password_hash from vps where id = $1',
    [vps.id],
  )
  expect(rows[0]).toMatchObject({ hostname_pending: false, next_root_password: null })
  expect(service.driver.machines.get(vps.id)!.inside).toEqual({
    hostname,
    rootPasswordHash: rows[0]!.root_password_hash,
  })
}
const expectWork = async (vps: Vps, kinds: string[]) => {
  const { rows } = await service.services.db.query(
    'select kind, status from vps_operation where service_id = $1 order by kind',
    [vps.id],
  )
  expect(rows).toEqual(kinds.map((kind) => ({ kind, status: 'succeeded' })))
}
/** The snapshots that the service took by itself. */
const kept = async (vps: Vps) =>
  (await service.ask('GET', `/services/${vps.id}/snapshots`, { token: vps.token })).body
const ready = async () => {
  const vps = await order()
  await service.reconcile()
  return vps
}
const stories: Story[] = [
  {
    name: 'reinstall: one wiped disk, one new machine, nothing charged',
    async prepare() {
      const vps = await ready()
      await ask(vps, 'reinstall', { os_id: 2, confirm: 'DELETE' })
      return vps
    },
    async expect(vps) {
      expect(await read(vps)).toMatchObject({ status: 'active', ssh_ready: true, password_available: true })
      const machine = service.driver.machines.get(vps.id)!
      expect([machine.spec.image, machine.starts]).toEqual(['debian-13', 1])
      expect(await statement(vps.token)).toEqual(['charge', 'hold', 'adjustment'])
      await expectToldAll(vps, 'web')
      await expectWork(vps, ['reinstall'])
      expect(await kept(vps)).toMatchObject([{ reason: 'reinstall', status: 'ready', consistency: 'guest' }])
      expect(await service.retainedDisks.list(vps.id)).toHaveLength(1)
    },
  },
  {
    name: 'back to before a reinstall: the old disk, and nothing kept',
    async prepare() {
      const vps = await ready()
      await ask(vps, 'reinstall', { os_id: 2, confirm: 'DELETE' })
      await service.reconcile()
      const [snapshot] = await kept(vps)
      await ask(vps, `snapshots/${snapshot.id}/restore`, {})
      return vps
    },
    async expect(vps) {
      expect(await read(vps)).toMatchObject({ status: 'active', ssh_ready: true, os: { os_id: 1 } })
      expect(service.driver.machines.get(vps.id)!.spec.image).toBe('debian-12')
      expect(await kept(vps)).toEqual([])
      expect(await service.retainedDisks.list(vps.id)).toEqual([])
      await expectToldAll(vps, 'web')
    },
  },
  {
    name: 'a cancelled one brought back: its disk, and one more charge',
    async prepare() {
      const vps = await ready()
      await ask(vps, 'cancel', { mode: 'immediate', confirm: 'web' })
      await service.reconcile()
      const [snapshot] = await kept(vps)
      await ask(vps, `snapshots/${snapshot.id}/restore`, {})
      return vps
    },
    async expect(vps) {
      expect(await read(vps)).toMatchObject({ status: 'active', ssh_ready: true })
      expect(await statement(vps.token)).toEqual(['charge', 'refund', 'charge', 'hold', 'adjustment'])
      expect(await service.retainedDisks.list(vps.id)).toEqual([])
    },
  },
  {
    name: 'change of plan: the new size after one boot, one charge',
    async prepare() {
      const vps = await ready()
      await ask(vps, 'change-plan', { target_plan: 'micro', confirm: true })
      return vps
    },
    async expect(vps) {
      expect(await read(vps)).toMatchObject({ status: 'active', ssh_ready: true, product: 'micro' })
      const { spec, starts } = service.driver.machines.get(vps.id)!
      expect(spec).toMatchObject({ memoryMb: 1024, diskGb: 20 })
      expect(starts).toBe(2)
      expect(await balanceOf(vps.token)).toEqual(['5.00', '0.00'])
      await expectWork(vps, ['change_plan'])
    },
  },
  {
    name: 'name and password of one that runs: told by its agent',
    async prepare() {
      const vps = await ready()
      await ask(vps, 'hostname', { hostname: 'shop' })
      await ask(vps, 'reset-password', {})
      return vps
    },
    async expect(vps) {
      await expectToldAll(vps, 'shop')
      expect(service.driver.machines.get(vps.id)!.starts).toBe(1)
      await expectWork(vps, ['reset_password', 'set_hostname'])
    },
  },
  {
    name: 'password of one whose agent is gone: taken over by the next boot',
    async prepare() {
      const vps = await ready()
      service.guests.silence(vps.id, true)
      await ask(vps, 'reset-password', {})
      await service.reconcile()
      await ask(vps, 'power', { action: 'reset' })
      return vps
    },
    async expect(vps) {
      await expectToldAll(vps, 'web')
      await expectWork(vps, ['reboot', 'reset_password'])
    },
  },
  {
    name: 'from order to ready: one machine, one charge',
    prepare: () => order(),
    async expect(vps) {
      expect(await read(vps)).toMatchObject({ status: 'active', ssh_ready: true, password_available: true })
      expect(service.driver.machines.get(vps.id)!.starts).toBe(1)
      expect(await statement(vps.token)).toEqual(['charge', 'hold', 'adjustment'])
      expect(await balanceOf(vps.token)).toEqual(['7.00', '0.00'])
    },
  },
  {
    name: 'an order that fails: no machine, all given back',
    prepare: () => order('no-space'),
    async expect(vps) {
      expect(await read(vps)).toMatchObject({ status: 'failed', password_available: false })
      expect(service.driver.machines.has(vps.id)).toBe(false)
      expect(await statement(vps.token)).toEqual(['hold_release', 'hold', 'adjustment'])
      expect(await balanceOf(vps.token)).toEqual(['10.00', '0.00'])
    },
  },
  {
    name: 'stop: it is stopped and stays so',
    async prepare() {
      const vps = await order()
      await service.reconcile()
      await ask(vps, 'power', { action: 'stop' })
      return vps
    },
    async expect(vps) {
      expect(await read(vps)).toMatchObject({ status: 'stopped', ssh_ready: false })
      expect(service.driver.machines.get(vps.id)!.startedAt).toBeUndefined()
    },
  },
  {
    name: 'reboot: it runs again, and was started once more',
    async prepare() {
      const vps = await order()
      await service.reconcile()
      await ask(vps, 'power', { action: 'reboot' })
      return vps
    },
    async expect(vps) {
      expect(await read(vps)).toMatchObject({ status: 'active', ssh_ready: true })
      expect(service.driver.machines.get(vps.id)!.starts).toBe(2)
    },
  },
  {
    name: 'immediate cancel: the machine is gone, credited once',
    async prepare() {
      const vps = await order()
      await service.reconcile()
      await ask(vps, 'cancel', { mode: 'immediate', confirm: 'web' })
      return vps
    },
    async expect(vps) {
      expect(await read(vps)).toMatchObject({ status: 'deleted' })
      expect(service.driver.machines.has(vps.id)).toBe(false)
      expect(await statement(vps.token)).toEqual(['refund', 'charge', 'hold', 'adjustment'])
      const { rows } = await service.services.db.query('select machine_gone_at from vps where id = $1', [
        vps.id,
      ])
      expect(rows[0]!.machine_gone_at).not.toBeNull()
    },
  },
]

/** Long since dead machines of other tests would be steps of every pass. */
const forgetOthers = () =>
  service.services.db.query('update vps_machine set machine_gone_at = coalesce(machine_gone_at, $1)', [
    service.clock.now(),
  ])

test.each(stories)(
  'behavior: killed anywhere, $name',
  async ({ prepare, expect: expectIt }) => {
    console.log(`COINRACK_TEST_SEED=${seed}`)
    for (const [index, when] of (['before', 'after'] as const).entries()) {
      for (let dieAt = 1 + ((seed + index) % EVERY); ; dieAt += EVERY) {
        await forgetOthers()
        service.clock.advance(60_000)
        const vps = await prepare()
        const { life, step } = mortal(dieAt, when)
        await runLife(mortalServices(service.services, step))
        // A machine that is steady again is not looked at at once.
        await service.settle()
        await expectIt(vps).catch((error) => {
          throw new Error(`Killed ${when} step ${dieAt}: ${error.message}`, { cause: error })
        })
        if (!life.isDead) {
          // All steps were died at: fewer would mean that the faults did not bite.
          expect(dieAt).toBeGreaterThan(4)
          break
        }
      }
    }
  },
  300_000,
)

test('behavior: two reconcilers at the same moment make one machine and one charge', async () => {
  await forgetOthers()
  const orders = await Promise.all(Array.from({ length: 5 }, () => order()))
  await Promise.all([runLife(service.services), runLife(service.services), runLife(service.services)])
  await service.reconcile()
  for (const vps of orders) {
    expect(await read(vps)).toMatchObject({ status: 'active' })
    expect(service.driver.machines.get(vps.id)!.starts).toBe(1)
    expect(await statement(vps.token)).toEqual(['charge', 'hold', 'adjustment'])
  }
})

test('behavior: one machine that hangs does not keep the others waiting', async () => {
  await forgetOthers()
  const { driver } = service
  const hanging = await order('hangs')
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const services = {
    ...service.services,
    ...withHost(service.services, () => ({
      driver: {
        ...driver,
        ensure: async (spec) => {
          if (spec.id === hanging.id) await held
          return driver.ensure(spec)
        },
      },
    })),
  }
  const reconciler = createVpsReconciler(services)
  const others = await Promise.all([order(), order()])
  for (let pass = 0; pass < 30; pass++) {
    await reconciler.pass()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  for (const vps of others) expect(await read(vps)).toMatchObject({ status: 'active' })
  expect(await read(hanging)).toMatchObject({ status: 'provisioning' })
  release()
  await reconciler.idle()
  await service.reconcile()
  expect(await read(hanging)).toMatchObject({ status: 'active' })
})

/** A reconciler, and what it asks the host: the id of a machine, or `all`. */
function listening() {
  const asked: string[] = []
  const { driver } = service
  const observe: VpsDriver['observe'] = (id) => {
    asked.push(id)
    return driver.observe(id)
  }
  const observeAll: VpsDriver['observeAll'] = () => {
    asked.push('all')
    return driver.observeAll()
  }
  const reconciler = createVpsReconciler({
    ...service.services,
    ...withHost(service.services, () => ({ driver: { ...driver, observe, observeAll } })),
  })
  const pass = async () => {
    await reconciler.pass()
    await reconciler.idle()
  }
  return { asked, pass }
}

test('behavior: steady machines are looked at now and then, not at every pass, and all by one question', async () => {
  await forgetOthers()
  await Promise.all([order(), order(), order()])
  await service.reconcile()
  const { asked, pass } = listening()
  for (let passes = 0; passes < 10; passes++) {
    await pass()
    service.clock.advance(1000)
  }
  expect(asked).toEqual(['all'])
})

test('behavior: one pass does all that is due, and what waits comes before what is only looked at', async () => {
  await forgetOthers()
  const steady = await Promise.all(Array.from({ length: 12 }, () => order()))
  await service.reconcile()
  const { asked, pass } = listening()
  await pass()
  expect(asked).toEqual(['all'])

  service.clock.advance(15_000)
  const waiting = await order()
  asked.length = 0
  for (const { id } of steady) service.driver.crash(id)
  await pass()
  expect(asked[0]).toBe(waiting.id)
  expect(asked.filter((each) => each === 'all')).toHaveLength(1)
  await pass()
  for (const { id } of [...steady, waiting]) expect((await service.driver.observe(id)).state).toBe('running')
})

test('behavior: a machine that its host leaves out of an answer about all is asked for before it is made again', async () => {
  await forgetOthers()
  const vps = await order()
  await service.reconcile()
  const { driver } = service
  const ensured = () => driver.calls.filter((call) => call === `ensure ${vps.id}`).length
  const before = ensured()
  const { observeAll } = driver
  driver.observeAll = async () => new Map()
  try {
    service.clock.advance(15_000)
    await service.reconcile()
  } finally {
    driver.observeAll = observeAll
  }
  expect(driver.machines.get(vps.id)!.starts).toBe(1)
  expect(ensured()).toBe(before)
})

test('behavior: after a clock set back by an hour a machine that crashed is started again', async () => {
  const vps = await order()
  await service.reconcile()
  service.clock.advance(-3_600_000)
  service.driver.crash(vps.id)
  await service.reconcile()
  if (service.mode !== undefined) await service.settle()
  service.clock.advance(3_600_000)
  expect(service.driver.machines.get(vps.id)!.starts).toBe(2)
})
