import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'

const DAY_MS = 86_400_000

let service: TestService
beforeAll(async () => {
  const classes = ['REGISTER', 'ORDERS', 'REINSTALLS']
  service = await startTestService({
    features: ['retainedDisks', 'guestCommands'],
    env: Object.fromEntries(classes.map((name) => [`COINRACK_RATE_${name}`, '100000/min'])),
    driver: { capacity: { vcpus: 640, memoryMb: 64 * 1024, diskGb: 10_000 } },
  })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})

async function newVps(balance = 10_000_000n) {
  const { token, accountId } = await service.customer(balance)
  const order = { product: 'nano', os_id: 1, hostname: 'web' }
  const { service_id: id } = (await service.ask('POST', '/orders', { token, body: order })).body
  await service.reconcile()
  const ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
    service.ask(method, `/services/${id}${path}`, { token, ...(body ? { body } : {}) })
  return {
    id: id as string,
    token,
    accountId,
    ask,
    inside: () => service.driver.machines.get(id)!.inside,
    read: async (query = '?reveal=false') => (await ask('GET', query)).body,
    list: async () => (await ask('GET', '/snapshots')).body,
    balance: async () => (await service.ask('GET', '/balance', { token })).body.balance,
    /** As they were told, oldest first. */
    changes: async () =>
      (await service.ask('GET', '/events?limit=100', { token })).body
        .filter(({ type }: { type: string }) => type === 'vps.status_changed')
        .map(({ data }: { data: { from: string; to: string } }) => `${data.from} to ${data.to}`) as string[],
    reinstall: async (body: object = {}) => {
      const answer = await ask('POST', '/reinstall', { os_id: 2, confirm: 'DELETE', ...body })
      await service.reconcile()
      return answer
    },
    cancel: async () => {
      await ask('POST', '/cancel', { mode: 'immediate', confirm: 'web' })
      await service.reconcile()
    },
    restore: async (snapshot: { id: string }) => {
      const answer = await ask('POST', `/snapshots/${snapshot.id}/restore`, {})
      await service.reconcile()
      return answer
    },
  }
}

describe('before a reinstall', () => {
  test('default: the disk is kept for a day, with why and until when, beside those that count', async () => {
    const vps = await newVps()
    await vps.ask('POST', '/snapshots', { name: 'mine' })
    await service.reconcile()
    await vps.reinstall()
    // Snapshots inside the old disk went with it; the plan has room for two of the new one.
    expect(await vps.list()).toMatchObject([
      {
        reason: 'reinstall',
        status: 'ready',
        consistency: 'guest',
        expires_at: new Date(service.clock.now().getTime() + DAY_MS).toISOString(),
      },
    ])
    for (let mine = 0; mine < 2; mine++) {
      expect((await vps.ask('POST', '/snapshots', {})).status).toBe(200)
      await service.reconcile()
    }
    expect((await vps.ask('POST', '/snapshots', {})).body.code).toBe('snapshot_limit')
    expect(await vps.list()).toHaveLength(3)
    service.clock.advance(DAY_MS)
    await service.reconcile()
    expect(await vps.list()).toMatchObject([{ reason: null }, { reason: null }])
    expect(await service.retainedDisks.list(vps.id)).toEqual([])
  })

  test('default: restored, the system of before is there, with its host key and password', async () => {
    const vps = await newVps()
    const before = await vps.read()
    const { root_password: password } = await vps.read('')
    vps.inside().hostname = 'on the old disk'
    await vps.reinstall({ new_host_key: true })
    expect((await vps.read()).ssh).not.toEqual(before.ssh)
    const [snapshot] = await vps.list()
    const { status, body } = await vps.ask('POST', `/snapshots/${snapshot.id}/restore`, {})
    expect([status, body.snapshot.status]).toEqual([200, 'restoring'])
    expect(await vps.read()).toMatchObject({ status: 'reinstalling', ssh_ready: false })
    await service.reconcile()
    expect(await vps.read()).toMatchObject({ status: 'active', ssh: before.ssh, os: before.os })
    expect(vps.inside().hostname).toBe('on the old disk')
    expect(await vps.list()).toEqual([])
    // It was shown already, and the one of the disk in between is of no use any more.
    expect(password).toMatch(/^\w{20}$/)
    expect(await vps.read('')).not.toHaveProperty('root_password')
  })

  test('behavior: a password that was not shown yet is shown after the restore', async () => {
    const vps = await newVps()
    await vps.reinstall()
    const { root_password: between } = await vps.read('')
    await vps.restore((await vps.list())[0])
    const { root_password: first } = await vps.read('')
    expect(first).toMatch(/^\w{20}$/)
    expect(first).not.toBe(between)
  })

  test('behavior: the name of now is told to the system of then', async () => {
    const vps = await newVps()
    await vps.reinstall()
    await vps.ask('POST', '/hostname', { hostname: 'shop' })
    await service.reconcile()
    await vps.restore((await vps.list())[0])
    expect(vps.inside().hostname).toBe('shop')
  })

  test('behavior: of one that is off, it stays off', async () => {
    const vps = await newVps()
    await vps.reinstall()
    await vps.ask('POST', '/power', { action: 'stop' })
    await service.reconcile()
    await vps.restore((await vps.list())[0])
    expect(await vps.read()).toMatchObject({ status: 'stopped', os: { os_id: 1 } })
    expect((await vps.changes()).slice(-3)).toEqual([
      'stopped to reinstalling',
      'reinstalling to rebooting',
      'rebooting to stopped',
    ])
  })

  test('behavior: of three reinstalls the newest two can be taken back', async () => {
    const vps = await newVps()
    for (const os_id of [2, 1, 2]) {
      service.clock.advance(1_000)
      await vps.reinstall({ os_id })
    }
    const list = await vps.list()
    expect(list.map(({ status }: { status: string }) => status)).toEqual(['ready', 'ready'])
    expect(await service.retainedDisks.list(vps.id)).toHaveLength(2)
    await vps.restore(list[1])
    expect(await vps.read()).toMatchObject({ os: { os_id: 2 }, status: 'active' })
  })

  test('behavior: a reinstall that cannot be done can be taken back', async () => {
    const vps = await newVps()
    await vps.ask('POST', '/hostname', { hostname: 'no-space' })
    await service.reconcile()
    const { body } = await vps.ask('POST', '/reinstall', { os_id: 2, confirm: 'DELETE' })
    await service.reconcile()
    expect(await vps.read()).toMatchObject({ status: 'reinstalling' })
    await vps.restore((await vps.list())[0])
    const { body: work } = await service.ask('GET', `/operations/${body.operation.id}`, { token: vps.token })
    expect(work.status).toBe('failed')
    expect(service.driver.machines.get(vps.id)!.spec.image).toBe('debian-12')
  })

  test('error: a damaged one is refused, and the machine is as it was', async () => {
    const vps = await newVps()
    await vps.reinstall()
    vps.inside().hostname = 'not lost'
    const [snapshot] = await vps.list()
    service.retainedDisks.damage(vps.id, snapshot.id)
    await vps.restore(snapshot)
    expect(await vps.read()).toMatchObject({ status: 'active', os: { os_id: 2 } })
    expect(vps.inside().hostname).toBe('not lost')
    expect(await vps.list()).toMatchObject([{ status: 'damaged' }])
    expect((await vps.ask('POST', `/snapshots/${snapshot.id}/restore`)).body.code).toBe('snapshot_busy')
  })

  test('error: while another change is under way', async () => {
    const vps = await newVps()
    await vps.reinstall()
    const [snapshot] = await vps.list()
    await vps.ask('POST', '/power', { action: 'reboot' })
    expect((await vps.ask('POST', `/snapshots/${snapshot.id}/restore`)).body.code).toBe('service_busy')
    await service.reconcile()
    await vps.ask('POST', `/snapshots/${snapshot.id}/restore`)
    const again = await vps.ask('POST', `/snapshots/${snapshot.id}/restore`)
    expect(again.body.snapshot).toMatchObject({ status: 'restoring' })
    const reinstall = await vps.ask('POST', '/reinstall', { os_id: 2, confirm: 'DELETE' })
    expect(reinstall.body.code).toBe('service_busy')
    expect((await vps.ask('DELETE', `/snapshots/${snapshot.id}`)).body.code).toBe('snapshot_busy')
  })

  test('behavior: deleted when asked', async () => {
    const vps = await newVps()
    await vps.reinstall()
    await vps.ask('DELETE', `/snapshots/${(await vps.list())[0].id}`)
    await service.reconcile()
    expect(await vps.list()).toEqual([])
    expect(await service.retainedDisks.list(vps.id)).toEqual([])
  })
})

describe('before an immediate cancellation', () => {
  test('default: brought back for the price of a month, with its disk, at its address', async () => {
    const vps = await newVps()
    const before = await vps.read()
    vps.inside().hostname = 'still here'
    await vps.cancel()
    expect(await vps.read()).toMatchObject({ status: 'deleted' })
    expect(service.driver.machines.has(vps.id)).toBe(false)
    const balance = Number(await vps.balance())
    const [snapshot] = await vps.list()
    expect(snapshot).toMatchObject({ reason: 'cancel', status: 'ready' })
    service.clock.advance(3_600_000)
    expect((await vps.restore(snapshot)).status).toBe(200)
    const after = await vps.read()
    expect(after).toMatchObject({
      status: 'active',
      ssh: before.ssh,
      billing: { cancel_at_period_end: false },
    })
    expect(Date.parse(after.billing.paid_until) - service.clock.now().getTime()).toBeGreaterThan(27 * DAY_MS)
    expect(Number(await vps.balance())).toBeCloseTo(balance - Number(before.billing.price))
    expect(vps.inside().hostname).toBe('still here')
    // And it ends as it did before.
    await vps.cancel()
    expect(Number(await vps.balance())).toBeGreaterThan(balance - 0.1)
    expect(await vps.list()).toMatchObject([{ reason: 'cancel', status: 'ready' }])
  })

  test('behavior: another port where the old one has been given away', async () => {
    const vps = await newVps()
    const { ssh_port: port } = await vps.read()
    await vps.cancel()
    const other = await newVps()
    await service.services.db.query('update vps_machine set ssh_port = $2 where id = $1', [other.id, port])
    await vps.restore((await vps.list())[0])
    const after = await vps.read()
    expect(after).toMatchObject({ status: 'active', ssh_ready: true })
    expect(after.ssh_port).not.toBe(port)
  })

  test.each([
    ['before the machine went: it was the machine', 0, true],
    ['since then: it is something else', 1, false],
  ])('behavior: a port that the host said to be used %s', async (_when, laterMs, isSame) => {
    const vps = await newVps()
    const { ssh_port: port } = await vps.read()
    const seen = () => service.hostSays({ usedPorts: [port] })
    await seen()
    await vps.cancel()
    service.clock.advance(laterMs)
    if (laterMs > 0) await seen()
    await vps.restore((await vps.list())[0])
    expect((await vps.read()).ssh_port === port).toBe(isSame)
    await service.hostSays()
  })

  test('error: a balance that does not cover it, and a token that may not order; nothing happens', async () => {
    const vps = await newVps(3_000_000n)
    service.clock.advance(20 * DAY_MS)
    await vps.cancel()
    const [snapshot] = await vps.list()
    const refused = await vps.restore(snapshot)
    expect([refused.status, refused.body.code]).toEqual([402, 'insufficient_balance'])
    await service.credit(vps.accountId, 10_000_000n)
    const scopes = (list: string[]) =>
      service.services.db.query('update token set scopes = $2 where account_id = $1', [vps.accountId, list])
    await scopes(['read', 'manage'])
    expect((await vps.restore(snapshot)).body).toMatchObject({ code: 'scope_missing', scope: 'order' })
    expect(await vps.read()).toMatchObject({ status: 'deleted' })
    await scopes(['read', 'manage', 'order'])
    expect((await vps.restore(snapshot)).status).toBe(200)
    expect(await vps.read()).toMatchObject({ status: 'active' })
  })

  test('error: before the machine is gone', async () => {
    const vps = await newVps()
    await vps.ask('POST', '/cancel', { mode: 'immediate', confirm: 'web' })
    const [snapshot] = await vps.list()
    expect(snapshot).toMatchObject({ status: 'creating' })
    expect((await vps.ask('POST', `/snapshots/${snapshot.id}/restore`)).body.code).toBe('service_busy')
    await service.reconcile()
  })

  test('error: a damaged one costs nothing', async () => {
    const vps = await newVps()
    await vps.cancel()
    const balance = await vps.balance()
    const [snapshot] = await vps.list()
    service.retainedDisks.damage(vps.id, snapshot.id)
    await vps.restore(snapshot)
    expect(await vps.read()).toMatchObject({ status: 'deleted' })
    expect((await vps.changes()).slice(-2)).toEqual(['deleted to reinstalling', 'reinstalling to deleted'])
    expect(await vps.balance()).toBe(balance)
    expect(await vps.list()).toMatchObject([{ status: 'damaged' }])
  })

  test('behavior: a day later it is gone, also when it was damaged', async () => {
    const vps = await newVps()
    await vps.cancel()
    const [snapshot] = await vps.list()
    service.clock.advance(DAY_MS)
    await service.reconcile()
    expect(await vps.list()).toEqual([])
    expect(await service.retainedDisks.list(vps.id)).toEqual([])
    expect((await vps.restore(snapshot)).body.code).toBe('not_found')
  })

  test('behavior: on a full host a cancellation goes on without, and a reinstall does not', async () => {
    const vps = await newVps()
    service.driver.machines.get(vps.id)!.spec.hostname = 'full-host'
    const { destroy } = service.driver
    service.driver.destroy = async (id) => {
      await destroy(id)
      service.driver.destroy = destroy
      throw new Error('read ECONNRESET')
    }
    await vps.reinstall()
    expect(await vps.read()).toMatchObject({ status: 'reinstalling' })
    expect(service.driver.machines.has(vps.id)).toBe(true)
    await vps.cancel()
    expect(service.driver.machines.has(vps.id)).toBe(false)
    expect(await vps.list()).toMatchObject([
      { status: 'failed', failure_reason: 'The host had no room for it' },
    ])
  })

  test('behavior: nothing is kept of one that was never delivered', async () => {
    const { token } = await service.customer(10_000_000n)
    const order = { product: 'nano', os_id: 1, hostname: 'slow-boot' }
    const { service_id: id } = (await service.ask('POST', '/orders', { token, body: order })).body
    await service.ask('POST', `/services/${id}/cancel`, {
      token,
      body: { mode: 'immediate', confirm: 'slow-boot' },
    })
    await service.reconcile()
    expect((await service.ask('GET', `/services/${id}/snapshots`, { token })).body).toEqual([])
  })

  test('behavior: in the middle of a restore, the disk that is being put back stays kept', async () => {
    const vps = await newVps()
    vps.inside().hostname = 'first'
    await vps.reinstall()
    const [snapshot] = await vps.list()
    await vps.ask('POST', `/snapshots/${snapshot.id}/restore`, {})
    await vps.cancel()
    expect(await vps.list()).toMatchObject([{ id: snapshot.id, status: 'ready' }])
    expect((await vps.restore(snapshot)).status).toBe(200)
    expect(await vps.read()).toMatchObject({ status: 'active', os: { os_id: 1 } })
    expect(vps.inside().hostname).toBe('first')
  })

  test('behavior: right after a reinstall was asked for, the disk of before is the one that is kept', async () => {
    const vps = await newVps()
    vps.inside().hostname = 'of its owner'
    await vps.ask('POST', '/reinstall', { os_id: 2, confirm: 'DELETE' })
    await vps.cancel()
    const list = await vps.list()
    expect(list).toMatchObject([{ reason: 'reinstall', status: 'ready' }])
    await vps.restore(list[0])
    expect(vps.inside().hostname).toBe('of its owner')
    expect(await vps.read()).toMatchObject({ status: 'active', os: { os_id: 1 } })
  })
})
