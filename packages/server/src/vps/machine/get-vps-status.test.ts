import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

/** A VPS of a new customer, as far as its name lets it get. */
async function makeVps(hostname = 'web'): Promise<{ id: string; token: string; accountId: string }> {
  const customer = await service.customer(10_000_000n)
  const { body } = await service.ask('POST', '/orders', {
    token: customer.token,
    body: { product: 'nano', os_id: 1, hostname },
  })
  await service.reconcile()
  return { id: body.service_id, ...customer }
}
const read = (vps: { id: string; token: string }, query = '') =>
  service.ask('GET', `/services/${vps.id}${query}`, { token: vps.token })
const stored = async (id: string) =>
  (await service.services.db.query('select root_password, root_password_hash from vps where id = $1', [id]))
    .rows[0]!

describe('the root password', () => {
  test('default: in exactly one answer, and it is the one of the machine', async () => {
    const vps = await makeVps()
    const first = await read(vps)
    expect(first.headers['cache-control']).toBe('no-store')
    expect(first.body).toMatchObject({
      root_password: expect.stringMatching(/^[a-zA-Z2-9]{20}$/),
      password_available: false,
    })
    const again = await read(vps)
    expect(again.body).not.toHaveProperty('root_password')
    expect(again.body.password_available).toBe(false)

    const { rootPasswordHash } = service.driver.machines.get(vps.id)!.spec
    const salt = rootPasswordHash.split('$')[2]!
    const hash = execFileSync('openssl', ['passwd', '-6', '-salt', salt, first.body.root_password], {
      encoding: 'utf8',
    })
    expect(hash.trim()).toBe(rootPasswordHash)
  })

  test('behavior: of fifty reads at the same moment one gets it', async () => {
    const vps = await makeVps()
    const all = await Promise.all(Array.from({ length: 50 }, () => read(vps)))
    expect(all.every(({ status }) => status === 200)).toBe(true)
    expect(all.filter(({ body }) => body.root_password !== undefined)).toHaveLength(1)
    // An answer that was read after the password was gone does not say that it is there.
    expect(all.filter(({ body }) => body.password_available)).toHaveLength(0)
  })

  test('behavior: of fifty reads that wait for the machine one gets it', async () => {
    const vps = await makeVps('slow-boot-waited-for')
    const reads = Array.from({ length: 50 }, () => read(vps, '?wait=ssh_ready&timeout=20'))
    service.driver.finishBoot(vps.id)
    await service.reconcile()
    const all = await Promise.all(reads)
    expect(all.every(({ body }) => body.ssh_ready)).toBe(true)
    expect(all.filter(({ body }) => body.root_password !== undefined)).toHaveLength(1)
  })

  test('error: a token that is revoked while it waits gets nothing, and spends nothing', async () => {
    const vps = await makeVps('slow-boot-revoked')
    const child = (
      await service.ask('POST', '/tokens', { token: vps.token, body: { scopes: ['read', 'manage'] } })
    ).body
    const waiting = read({ ...vps, token: child.token }, '?wait=ssh_ready&timeout=20')
    await new Promise((resolve) => setTimeout(resolve, 200))
    await service.ask('DELETE', `/tokens/${child.details.id}`, { token: vps.token })
    service.driver.finishBoot(vps.id)
    await service.reconcile()
    const { status, body } = await waiting
    expect([status, body.code]).toEqual([401, 'unauthorized'])
    expect((await read(vps)).body).toHaveProperty('root_password')
  })

  test('behavior: not before SSH answers', async () => {
    const vps = await makeVps('slow-boot-web')
    expect((await read(vps)).body).not.toHaveProperty('root_password')
    expect((await read(vps)).body.password_available).toBe(true)
    service.driver.finishBoot(vps.id)
    await service.reconcile()
    expect((await read(vps)).body).toHaveProperty('root_password')
  })

  test('behavior: reveal=false leaves it for later', async () => {
    const vps = await makeVps()
    const kept = (await read(vps, '?reveal=false')).body
    expect(kept).not.toHaveProperty('root_password')
    expect(kept.password_available).toBe(true)
    const tool = await service.tool(
      'get_vps_status',
      { service_id: vps.id, reveal: false },
      { token: vps.token },
    )
    expect(tool.body).not.toHaveProperty('root_password')
    expect((await read(vps)).body).toHaveProperty('root_password')
  })

  test('behavior: a token without manage reads all but that, and does not spend it', async () => {
    const vps = await makeVps()
    const scopes = (to: string[]) =>
      service.services.db.query('update token set scopes = $2 where account_id = $1', [vps.accountId, to])
    await scopes(['read', 'order', 'billing'])
    const seen = (await read(vps)).body
    expect(seen).toMatchObject({ status: 'active', password_available: true })
    expect(seen).not.toHaveProperty('root_password')
    await scopes(['read', 'manage'])
    expect((await read(vps)).body).toHaveProperty('root_password')
  })

  test('behavior: in no list, and in no other answer', async () => {
    const vps = await makeVps()
    const password = service.services.sealer.open(
      (await stored(vps.id)).root_password,
      `root-password:${vps.id}`,
    )
    for (const path of ['/services', '/orders/list', '/balance/transactions', '/get-started']) {
      const { body } = await service.ask('GET', path, { token: vps.token })
      expect(JSON.stringify(body)).not.toContain(password)
    }
    const power = await service.ask('POST', `/services/${vps.id}/power`, {
      token: vps.token,
      body: { action: 'start' },
    })
    expect(JSON.stringify(power.body)).not.toContain(password)
    expect((await read(vps)).body.root_password).toBe(password)
  })

  test('behavior: sealed in the database until it was shown, then wiped; the host key is sealed as well', async () => {
    const vps = await makeVps()
    const before = await stored(vps.id)
    const { body } = await read(vps)
    expect(before.root_password.includes(body.root_password)).toBe(false)
    expect((await stored(vps.id)).root_password).toBeNull()
    const { rows } = await service.services.db.query(
      'select row_to_json(v)::text as text from vps v where id = $1',
      [vps.id],
    )
    expect(rows[0]!.text).not.toContain(body.root_password)
    const { rows: keys } = await service.services.db.query(
      'select ssh_host_private_key as key from vps where id = $1',
      [vps.id],
    )
    expect(keys[0]!.key.includes('OPENSSH')).toBe(false)
  })

  test('behavior: wiped unseen when the machine is deleted', async () => {
    const vps = await makeVps('web')
    await service.ask('POST', `/services/${vps.id}/cancel`, {
      token: vps.token,
      body: { mode: 'immediate', confirm: 'web' },
    })
    expect((await stored(vps.id)).root_password).toBeNull()
    expect((await read(vps)).body).toMatchObject({ status: 'deleted', password_available: false })
  })
})

describe('waiting', () => {
  test('default: the answer comes when it is so, and not at the end of the time', async () => {
    const vps = await makeVps('slow-boot-wait')
    const begun = performance.now()
    const waiting = read(vps, '?wait=ssh_ready&timeout=50')
    setTimeout(async () => {
      service.driver.finishBoot(vps.id)
      await service.reconcile()
    }, 300)
    expect((await waiting).body).toMatchObject({
      status: 'active',
      ssh_ready: true,
      root_password: expect.any(String),
    })
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  test('behavior: after the time the answer says how far it is', async () => {
    const vps = await makeVps('slow-boot-never')
    const { status, body } = await read(vps, '?wait=ssh_ready&timeout=1')
    expect([status, body.status, body.ssh_ready]).toEqual([200, 'provisioning', false])
  })

  test('behavior: what will never be ends the wait', async () => {
    const vps = await makeVps('no-space')
    const begun = performance.now()
    expect((await read(vps, '?wait=ssh_ready&timeout=50')).body).toMatchObject({ status: 'failed' })
    expect(performance.now() - begun).toBeLessThan(5_000)
  })

  test('behavior: what is so already is answered at once', async () => {
    const vps = await makeVps()
    const begun = performance.now()
    expect((await read(vps, '?wait=active&timeout=50')).body.status).toBe('active')
    expect(performance.now() - begun).toBeLessThan(5_000)
  })

  test('behavior: closing the service ends the waits', async () => {
    const other = await startTestService()
    const { token } = await other.customer(10_000_000n)
    const order = await other.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
    const waiting = other.ask('GET', `/services/${order.body.service_id}?wait=ssh_ready&timeout=50`, {
      token,
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    const begun = performance.now()
    await other.services.changes.close()
    expect((await waiting).status).toBe(200)
    expect(performance.now() - begun).toBeLessThan(5_000)
    other.services.changes.close = async () => {}
    await other.close()
  })
})

test('default: metrics are numbers once they were observed', async () => {
  const vps = await makeVps()
  const metrics = async () => (await read(vps)).body.metrics
  let seconds = 0
  do {
    service.clock.advance(20_000)
    seconds += 20
    await service.reconcile()
    // A look that was not answered is made up for by the next.
  } while (seconds < 40 || ((await metrics()).uptime_s !== seconds && seconds < 200))
  expect(await metrics()).toMatchObject({ uptime_s: seconds, cpu_percent: null })
})

test('behavior: with a single VPS next_steps of the tool lead on', async () => {
  const vps = await makeVps('slow-boot-steps')
  const before = await service.tool('get_vps_status', { service_id: vps.id }, { token: vps.token })
  expect(before.body.next_steps[0]).toMatchObject({
    tool: 'get_vps_status',
    arguments: { service_id: vps.id, wait: 'ssh_ready', timeout: 50 },
  })
  service.driver.finishBoot(vps.id)
  await service.reconcile()
  const after = await service.tool('get_vps_status', { service_id: vps.id }, { token: vps.token })
  expect(after.body.next_steps[0].why).toContain(after.body.ssh.command)
})
