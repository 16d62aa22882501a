import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectBooksToBalance } from '../../ledger/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'

const generous = Object.fromEntries(
  ['REGISTER', 'ORDERS', 'PASSWORD_RESETS', 'REINSTALLS'].map((name) => [
    `COINRACK_RATE_${name}`,
    '100000/min',
  ]),
)

let service: TestService
let token: string
let id: string
beforeAll(async () => {
  service = await startTestService({ features: ['guestCommands', 'retainedDisks'], env: generous })
})
afterAll(async () => {
  await expectBooksToBalance(service.services.db)
  await service.close()
})
beforeEach(() => order('web'))

async function order(hostname: string, balance = 20_000_000n): Promise<void> {
  ;({ token } = await service.customer(balance))
  const body = { product: 'nano', os_id: 1, hostname }
  id = (await service.ask('POST', '/orders', { token, body })).body.service_id
  await service.reconcile()
}
const post = (path: string, body: object = {}) =>
  service.ask('POST', `/services/${id}/${path}`, { token, body })
const status = async (query = 'reveal=false') =>
  (await service.ask('GET', `/services/${id}?${query}`, { token })).body
const work = async (operation: { id: string }) =>
  (await service.ask('GET', `/operations/${operation.id}`, { token })).body
const callsOf = () => service.driver.calls.filter((call) => call.endsWith(id))
const machine = () => service.driver.machines.get(id)!
const power = async (action: string) => {
  const { body } = await post('power', { action })
  await service.reconcile()
  return body
}
const later = async (milliseconds = 10_000) => {
  service.clock.advance(milliseconds)
  await service.reconcile()
}

describe('operations', () => {
  test('default: it runs, and has ended when the VPS is as asked', async () => {
    const { body } = await post('power', { action: 'stop' })
    expect(body.operation).toMatchObject({ kind: 'stop', status: 'running', error: null, ended_at: null })
    expect(body.operation.id).toMatch(/^op_/)
    await service.reconcile()
    expect(await work(body.operation)).toMatchObject({ status: 'succeeded', ended_at: expect.any(String) })
  })

  test('behavior: what is so already has succeeded at once', async () => {
    expect((await post('power', { action: 'start' })).body.operation).toMatchObject({ status: 'succeeded' })
  })

  test('behavior: asked for twice before it is done, it is the same', async () => {
    const first = await post('power', { action: 'reboot' })
    const second = await post('power', { action: 'reset' })
    expect(second.body.operation.id).toBe(first.body.operation.id)
  })

  test('behavior: what a later wish made void was superseded, and says so', async () => {
    const stop = await post('power', { action: 'stop' })
    const start = await post('power', { action: 'start' })
    expect(await work(stop.body.operation)).toMatchObject({ status: 'superseded', error: /else was asked/ })
    expect(start.body.operation.status).toBe('succeeded')
  })

  test('behavior: a cancellation goes on until the machine is gone, and ends all else', async () => {
    const reboot = await post('power', { action: 'reboot' })
    const { body } = await post('cancel', { mode: 'immediate', confirm: 'web' })
    expect(body.operation).toMatchObject({ kind: 'cancel', status: 'running' })
    expect(await work(reboot.body.operation)).toMatchObject({
      status: 'failed',
      error: 'The VPS was deleted',
    })
    await service.reconcile()
    expect(await work(body.operation)).toMatchObject({ status: 'succeeded', progress: 'Deleted' })
    const again = await post('cancel', { mode: 'immediate', confirm: 'web' })
    expect(again.body.operation.status).toBe('succeeded')
  })

  test('behavior: a cancellation to the end of the period is done at once', async () => {
    expect((await post('cancel')).body.operation).toMatchObject({ status: 'succeeded' })
  })

  test('behavior: waiting for the end answers as soon as it has come', async () => {
    const { body } = await post('power', { action: 'stop' })
    const waiting = service.ask('GET', `/operations/${body.operation.id}?wait=done&timeout=20`, { token })
    await service.reconcile()
    expect((await waiting).body.status).toBe('succeeded')
  })

  test('error: of another account', async () => {
    const { body } = await post('power', { action: 'stop' })
    const stranger = await service.customer()
    const answer = await service.ask('GET', `/operations/${body.operation.id}`, { token: stranger.token })
    expect(answer).toMatchObject({ status: 403, body: { code: 'not_owner' } })
  })
})

describe('hostname', () => {
  test('default: told to the machine', async () => {
    const { body } = await post('hostname', { hostname: 'Shop.My-Domain.net' })
    expect(body.service.hostname).toBe('shop.my-domain.net')
    await service.reconcile()
    expect(await work(body.operation)).toMatchObject({ kind: 'set_hostname', status: 'succeeded' })
    expect(machine().inside.hostname).toBe('shop.my-domain.net')
  })

  test('behavior: waits while the VPS is off, or its agent is gone', async () => {
    await power('stop')
    const { body } = await post('hostname', { hostname: 'night' })
    await service.reconcile()
    expect(await work(body.operation)).toMatchObject({ status: 'running', progress: /to be started/ })
    service.guests.silence(id, true)
    await power('start')
    expect(await work(body.operation)).toMatchObject({ status: 'running', progress: /does not answer/ })
    expect(machine().inside.hostname).toBe('web')
    service.guests.silence(id, false)
    await service.settle()
    expect(await work(body.operation)).toMatchObject({ status: 'succeeded' })
    expect(machine().inside.hostname).toBe('night')
  })

  test('behavior: of two wishes the later holds', async () => {
    await post('hostname', { hostname: 'first' })
    await post('hostname', { hostname: 'second' })
    await service.reconcile()
    expect(machine().inside.hostname).toBe('second')
  })

  test('behavior: the name that it has already is no wish', async () => {
    expect((await post('hostname', { hostname: 'web' })).body.operation.status).toBe('succeeded')
  })

  test.each(['', '-a', 'a_b', 'a..b', `${'a'.repeat(64)}`, 'a b', 'a\n127.0.0.1 bank'])(
    'error: %j is no name',
    async (hostname) => {
      expect(await post('hostname', { hostname })).toMatchObject({
        status: 422,
        body: { code: 'invalid_input' },
      })
    },
  )

  test('error: while it is made', async () => {
    await order('slow-boot-web')
    expect(await post('hostname', { hostname: 'a' })).toMatchObject({
      status: 409,
      body: { code: 'service_busy' },
    })
  })
})

describe('reset-password', () => {
  test('default: the new one holds inside, and exactly one read shows it', async () => {
    const first = (await status('reveal=true')).root_password
    const { body } = await post('reset-password')
    expect(JSON.stringify(body)).not.toContain('root_password"')
    await service.reconcile()
    expect(await work(body.operation)).toMatchObject({ kind: 'reset_password', status: 'succeeded' })
    const reads = await Promise.all(Array.from({ length: 10 }, () => status('reveal=true')))
    const shown = reads.flatMap(({ root_password }) => root_password ?? [])
    expect(shown).toHaveLength(1)
    expect(shown[0]).not.toBe(first)
    const { rows } = await service.services.db.query('select root_password_hash from vps where id = $1', [id])
    expect(machine().inside.rootPasswordHash).toBe(rows[0]!.root_password_hash)
  })

  test('behavior: while it is on its way the present one is shown, not the one to be', async () => {
    service.guests.silence(id, true)
    const { body } = await post('reset-password')
    await later()
    expect(await work(body.operation)).toMatchObject({ status: 'running', progress: /next boot/ })
    const before = (await status('reveal=true')).root_password
    expect(before).toMatch(/^\w{20}$/)
    await power('reboot')
    await service.settle()
    expect(await work(body.operation)).toMatchObject({ status: 'succeeded' })
    const after = (await status('reveal=true')).root_password
    expect(after).toMatch(/^\w{20}$/)
    expect(after).not.toBe(before)
  })

  test('behavior: off, it is taken over by the next start', async () => {
    await power('stop')
    service.guests.silence(id, true)
    const { body } = await post('reset-password')
    await service.reconcile()
    expect(await work(body.operation)).toMatchObject({ status: 'running' })
    await power('start')
    await service.settle()
    expect(await work(body.operation)).toMatchObject({ status: 'succeeded' })
  })

  test('behavior: a boot that took an earlier one over is not mistaken for one that took this', async () => {
    service.guests.silence(id, true)
    await post('reset-password')
    await power('reboot')
    const { body } = await post('reset-password')
    await later()
    expect(await work(body.operation)).toMatchObject({ status: 'running' })
    await power('reset')
    await later()
    expect(await work(body.operation)).toMatchObject({ status: 'succeeded' })
  })

  test('behavior: a boot that took it, and of which nobody heard, is known to have taken it', async () => {
    service.guests.silence(id, true)
    const { body } = await post('reset-password')
    await service.settle()
    const { power: act, observe } = service.driver
    let before: Awaited<ReturnType<typeof observe>> | undefined
    service.driver.power = async (...given) => {
      before ??= await observe(id)
      await act(...given)
      service.driver.power = act
      throw new Error('read ECONNRESET')
    }
    // It is looked at once more as it was when the boot began.
    service.driver.observe = async (machine) => {
      const seen = before ?? (await observe(machine))
      if (before) service.driver.observe = observe
      return seen
    }
    await power('reboot')
    await service.settle()
    expect(await work(body.operation)).toMatchObject({ status: 'succeeded' })
    expect(machine().starts).toBe(2)
  })

  test('behavior: the agent that comes back takes it at once', async () => {
    service.guests.silence(id, true)
    const { body } = await post('reset-password')
    await later()
    service.guests.silence(id, false)
    await service.settle()
    expect(await work(body.operation)).toMatchObject({ status: 'succeeded' })
    expect(machine().starts).toBe(1)
  })

  test('behavior: the tool reveal_password is the read that shows it', async () => {
    const { body } = await service.tool('reveal_password', { service_id: id }, { token })
    expect(body.root_password).toMatch(/^\w{20}$/)
    const again = await service.tool('reveal_password', { service_id: id }, { token })
    expect(again.body).not.toHaveProperty('root_password')
  })

  test('error: too often', async () => {
    const strict = await startTestService()
    const { token: own } = await strict.customer(10_000_000n)
    const body = { product: 'nano', os_id: 1 }
    const vps = (await strict.ask('POST', '/orders', { token: own, body })).body.service_id
    await strict.reconcile()
    const reset = () => strict.ask('POST', `/services/${vps}/reset-password`, { token: own, body: {} })
    for (let turn = 0; turn < 5; turn++) expect((await reset()).status).toBe(200)
    expect(await reset()).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    await strict.close()
  })
})

describe('reinstall', () => {
  const reinstall = (body: object = {}) => post('reinstall', { os_id: 2, confirm: 'DELETE', ...body })

  test('default: another system on a new disk; address, port and host key stay', async () => {
    const before = await status()
    const old = (await status('reveal=true')).root_password
    const { body } = await reinstall()
    expect(body.service).toMatchObject({ status: 'reinstalling', ssh_ready: false, os: { os_id: 2 } })
    expect(body.operation).toMatchObject({ kind: 'reinstall', status: 'running' })
    expect(await status('reveal=true')).not.toHaveProperty('root_password')
    await service.reconcile()
    expect(await work(body.operation)).toMatchObject({ status: 'succeeded' })
    const after = await status()
    expect(after).toMatchObject({
      id,
      status: 'active',
      ssh_ready: true,
      ssh: before.ssh,
      billing: before.billing,
    })
    const fresh = (await status('reveal=true')).root_password
    expect(fresh).toMatch(/^\w{20}$/)
    expect(fresh).not.toBe(old)
    expect(machine().spec).toMatchObject({ image: 'debian-13', sshAddress: { port: before.ssh_port } })
    // A call that was not answered is repeated, and no other comes between.
    const inTurn = callsOf().filter((call, at, calls) => call !== calls[at - 1])
    expect(inTurn.filter((call) => call === `destroy ${id}`)).toHaveLength(1)
  })

  test('behavior: a new host key when it is asked for, and the key of the order unless another is sent', async () => {
    const before = await status()
    await reinstall({ new_host_key: true, confirm: 'web' })
    await service.reconcile()
    expect((await status()).ssh.known_hosts).not.toEqual(before.ssh.known_hosts)
  })

  test('behavior: wishes for the old disk are over with it', async () => {
    service.guests.silence(id, true)
    const reset = await post('reset-password')
    await post('hostname', { hostname: 'fresh' })
    await reinstall({ confirm: 'fresh' })
    service.guests.silence(id, false)
    await service.reconcile()
    expect(machine().inside.hostname).toBe('fresh')
    expect((await work(reset.body.operation)).status).toBe('succeeded')
    expect(await status()).toMatchObject({ status: 'active', password_available: true })
  })

  test('behavior: of one that is off, and of one that is being reinstalled', async () => {
    await power('stop')
    const first = await reinstall()
    const second = await reinstall({ os_id: 1 })
    expect(second.body.operation.id).toBe(first.body.operation.id)
    await service.reconcile()
    expect(await status()).toMatchObject({ status: 'active', os: { os_id: 1 } })
  })

  test('behavior: what cannot be made is said, and tried on', async () => {
    await post('hostname', { hostname: 'no-space' })
    const { body } = await reinstall({ confirm: 'no-space' })
    await service.reconcile()
    expect(await work(body.operation)).toMatchObject({ status: 'failed', error: /no room/ })
    expect(await status()).toMatchObject({ status: 'reinstalling' })
    expect((await post('power', { action: 'stop' })).body.code).toBe('service_busy')
    const again = await reinstall({ confirm: 'no-space' })
    expect(again.body.operation.id).not.toBe(body.operation.id)
    const end = await post('cancel', { mode: 'immediate', confirm: 'no-space' })
    await service.reconcile()
    expect(await work(end.body.operation)).toMatchObject({ status: 'succeeded' })
  })

  test.each([
    ['no confirmation', { confirm: undefined }, 422, 'confirmation_required'],
    ['another name', { confirm: 'web2' }, 422, 'confirmation_required'],
    ['another name before a bad system', { confirm: 'delete', os_id: 99 }, 422, 'confirmation_required'],
    ['an unknown system', { os_id: 99 }, 422, 'os_not_supported'],
    ['a bad key', { ssh_key: 'ssh-ed25519 AAAA' }, 422, 'invalid_ssh_key'],
  ])('error: %s, and nothing is lost', async (_what, change, code, word) => {
    const calls = callsOf().length
    expect(await reinstall(change)).toMatchObject({ status: code, body: { code: word } })
    await service.reconcile()
    expect(callsOf().length).toBe(calls)
    expect(await status()).toMatchObject({ status: 'active', os: { os_id: 1 }, password_available: true })
  })

  test('error: what is wrong with the input is said before what the VPS is at', async () => {
    await order('slow-boot-web')
    expect((await reinstall({ os_id: 99 })).body.code).toBe('os_not_supported')
    expect((await reinstall()).body.code).toBe('service_busy')
  })
})

describe('commands and files', () => {
  const files = (query: string) => service.ask('GET', `/services/${id}/files?${query}`, { token })
  const put = (body: object, query = '') =>
    service.ask('PUT', `/services/${id}/files${query}`, { token, body })

  test('default: a command', async () => {
    const body = { command: 'echo "$A"; cat >&2; exit 2', env: { A: 'b' }, input: 'in' }
    expect(await post('exec', body)).toMatchObject({
      status: 200,
      body: { stdout: 'b\n', stderr: 'in', exit_code: 2, timed_out: false, truncated: false },
    })
    expect((await post('exec', { command: 'sleep 9', timeout: 0.2 })).body).toMatchObject({
      exit_code: null,
      timed_out: true,
    })
  })

  test('behavior: repeated with its key, it does not run again; at the same moment it is refused', async () => {
    const once = () =>
      service.ask('POST', `/services/${id}/exec`, {
        token,
        body: { command: 'sleep 0.3; echo x >>runs; wc -l <runs' },
        headers: { 'idempotency-key': `once-${id}` },
      })
    const [one, other] = await Promise.all([once(), once()])
    expect([one.status, other.status].sort()).toEqual([200, 409])
    const replayed = await once()
    expect(replayed.body.stdout.trim()).toBe('1')
    expect(replayed.headers['idempotent-replayed']).toBe('true')
  })

  test('default: text and bytes, in and out', async () => {
    const text = 'first\nzweite Zeile: ü\n'
    expect((await put({ content: text }, '?path=/root/text')).body).toEqual({
      path: '/root/text',
      size: Buffer.byteLength(text),
    })
    expect((await files('path=/root/text')).body).toMatchObject({ content: text, eof: true })
    expect((await files('path=/root/text&offset=6&length=6')).body).toMatchObject({
      content: 'zweite',
      offset: 6,
      length: 6,
      eof: false,
    })
    const bytes = Buffer.from([0xff, 0xfe, 0, 1])
    await put({ path: '/root/bytes', content_base64: bytes.toString('base64') })
    expect((await files('path=/root/bytes')).body).toMatchObject({
      content_base64: bytes.toString('base64'),
    })
    await put({ path: '/root/bytes', content: 'end', offset: 4 })
    expect((await files('path=/root/bytes')).body.size).toBe(7)
  })

  test('behavior: 5 MB at once by REST, and the same tools by their other names', async () => {
    const content_base64 = Buffer.alloc(5_000_000, 'x').toString('base64')
    expect((await put({ path: '/root/large', content_base64 })).body).toMatchObject({ size: 5_000_000 })
    expect((await files('path=/root/large')).body.content).toHaveLength(5_000_000)
    const written = await service.tool(
      'upload_file',
      { service_id: id, path: '/root/t', content: 'x' },
      { token },
    )
    expect(written.body).toMatchObject({ size: 1 })
    const read = await service.tool('download_file', { service_id: id, path: '/root/t' }, { token })
    expect(read.body).toMatchObject({ content: 'x' })
  })

  test.each([
    ['both forms', { path: '/root/a', content: 'a', content_base64: 'YQ==' }],
    ['neither form', { path: '/root/a' }],
    ['a relative path', { path: 'a', content: 'a' }],
    ['a path with NUL', { path: '/a\u0000b', content: 'a' }],
    ['no base64', { path: '/root/a', content_base64: '%%%' }],
    ['too much text', { path: '/root/a', content: 'ü'.repeat(2_500_001) }],
  ])('error: %s', async (_what, body) => {
    expect(await put(body)).toMatchObject({ status: 422, body: { code: 'invalid_input' } })
  })

  test('error: a body beyond what a file needs', async () => {
    expect(await put({ path: '/root/a', content: 'x'.repeat(9_000_000) })).toMatchObject({
      status: 413,
      body: { code: 'body_too_large', message: /8 MiB/ },
    })
  })

  test('error: no such file, and a folder that is not there', async () => {
    expect(await files('path=/root/none')).toMatchObject({ status: 404, body: { code: 'file_not_found' } })
    expect(await put({ path: '/no/such/file', content: '' })).toMatchObject({
      body: { code: 'file_refused' },
    })
  })

  test('error: nobody inside, and a VPS that is off', async () => {
    service.guests.silence(id, true)
    expect(await post('exec', { command: 'true' })).toMatchObject({
      status: 409,
      body: { code: 'guest_unreachable' },
    })
    await power('stop')
    expect(await post('exec', { command: 'true' })).toMatchObject({
      status: 409,
      body: { code: 'service_busy' },
    })
    expect((await files('path=/etc/hostname')).body.code).toBe('service_busy')
  })

  test('behavior: commands hold no connection of the database', async () => {
    const long = Array.from({ length: 30 }, () => post('exec', { command: 'sleep 1' }))
    const begun = performance.now()
    expect((await status()).id).toBe(id)
    expect(performance.now() - begun).toBeLessThan(900)
    expect((await Promise.all(long)).every(({ status: code }) => code === 200)).toBe(true)
  })
})
