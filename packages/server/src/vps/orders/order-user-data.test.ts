import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'

const script = '#!/bin/sh\necho "the secret is 42"\n'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_REGISTER: '100000/min', COINRACK_RATE_ORDERS: '100000/min' },
  })
})
afterAll(() => service.close())

const order = (token: string, change: object = {}) =>
  service.ask('POST', '/orders', {
    token,
    body: { product: 'nano', os_id: 1, hostname: 'web', user_data: script, ...change },
  })
const specOf = (id: string) => service.driver.machines.get(id)!.spec
/** The user data that the database has. */
async function stored(): Promise<Buffer[]> {
  const { rows } = await service.services.db.query<{ user_data: Buffer }>(
    `select user_data from vps_order where user_data is not null
     union all select user_data from vps where user_data is not null`,
  )
  return rows.map(({ user_data }) => user_data)
}

test('default: the machine gets it, and nobody else: sealed meanwhile, and then forgotten', async () => {
  const { token } = await service.customer(10_000_000n)
  const { status, body } = await order(token)
  expect(status).toBe(200)
  expect(JSON.stringify(body)).not.toContain('secret')
  const [sealed, ...others] = await stored()
  expect(others).toEqual([])
  expect(sealed!.includes('secret')).toBe(false)
  await service.reconcile()
  expect(specOf(body.service_id).userData).toBe(script)
  expect(await stored()).toEqual([])
})

test('behavior: a reinstall has what comes with it, and not what came before', async () => {
  const { token } = await service.customer(10_000_000n)
  const { service_id: id } = (await order(token)).body
  await service.reconcile()
  const reinstall = async (change: object) => {
    const body = { os_id: 1, confirm: 'DELETE', ...change }
    const answer = await service.ask('POST', `/services/${id}/reinstall`, { token, body })
    await service.reconcile()
    return answer.body.code
  }
  await reinstall({})
  expect(specOf(id).userData).toBeUndefined()
  await reinstall({ user_data: '#cloud-config\nruncmd: [ls]\n' })
  expect(specOf(id).userData).toBe('#cloud-config\nruncmd: [ls]\n')
  expect(await reinstall({ user_data: 'ls' })).toBe('invalid_user_data')
  expect(await stored()).toEqual([])
})

test('behavior: with other user data it is another order; with the same, the same', async () => {
  const { token, accountId } = await service.customer()
  const first = (await order(token)).body.order_id
  expect((await order(token)).body.order_id).toBe(first)
  const others = [{ user_data: '#!/bin/sh\n' }, { user_data: undefined }]
  for (const other of others) expect((await order(token, other)).body.order_id).not.toBe(first)
  expect(await stored()).toHaveLength(2)
  await service.credit(accountId, 3_000_000n)
  const { body } = await order(token)
  expect(body.id).toBe(first)
  await service.reconcile()
  expect(specOf(body.service_id).userData).toBe(script)
  expect(await stored()).toHaveLength(1)
})

test('behavior: what fails or is cancelled leaves none', async () => {
  const { token } = await service.customer(10_000_000n)
  const before = (await stored()).length
  await order(token, { hostname: 'no-space' })
  const { service_id: id } = (await order(token, { hostname: 'slow-boot' })).body
  await service.ask('POST', `/services/${id}/cancel`, {
    token,
    body: { mode: 'immediate', confirm: 'slow-boot' },
  })
  await service.reconcile()
  expect(await stored()).toHaveLength(before)
})

test.each([
  ['text that cloud-init would pass over', 'echo hi', 'invalid_user_data'],
  ['nothing', '', 'invalid_user_data'],
  ['YAML that does not parse', '#cloud-config\nruncmd: [ls\n', 'invalid_user_data'],
  ['a NUL', '#!/bin/sh\n\0', 'invalid_input'],
  ['more than 64 KiB', `#!/bin/sh\n${'x'.repeat(65_536)}`, 'invalid_input'],
  ['more than 64 KiB of bytes', `#!/bin/sh\n${'ä'.repeat(33_000)}`, 'invalid_input'],
])('error: %s', async (_what, user_data, code) => {
  const { token } = await service.customer(10_000_000n)
  for (const change of [{}, { dry_run: true }]) {
    const { status, body } = await order(token, { user_data, ...change })
    expect([status, body.code]).toEqual([422, code])
    expect(body.fix).toEqual(expect.any(String))
  }
  const { body: balance } = await service.ask('GET', '/balance', { token })
  expect(balance).toMatchObject({ balance: '10.00', held: '0.00' })
})

test('behavior: exactly 64 KiB is taken', async () => {
  const { token } = await service.customer(10_000_000n)
  const user_data = '#!/bin/sh\n'.padEnd(65_536, 'x')
  const { body } = await order(token, { user_data })
  await service.reconcile()
  expect(specOf(body.service_id).userData).toBe(user_data)
})
