import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RESERVED_DOMAINS: 'coinrack.dev' } })
})
afterAll(() => service.close())

let address = 0
const register = (body: object) =>
  service.ask('POST', '/auth/register', { body, address: `192.0.2.${++address}` })

test('default: an e-mail address is enough, and the token works at once', async () => {
  const { status, body } = await register({ email: 'ada@rackmail.net' })
  expect(status).toBe(200)
  expect(body).toEqual({
    token: expect.stringMatching(/^crk_[0-9A-Za-z]{46}$/),
    token_type: 'Bearer',
    token_expires_at: '2027-01-31T12:00:00.000Z',
    account: {
      id: expect.stringMatching(/^acc_[0-9a-z]{26}$/),
      email: 'ada@rackmail.net',
      first_name: null,
      last_name: null,
      has_password: false,
      email_verified: false,
      created_at: '2026-01-31T12:00:00.000Z',
    },
  })
  const me = await service.ask('GET', '/account', { token: body.token })
  expect(me.body).toMatchObject(body.account)
  expect(me.headers['x-token-expires-at']).toBe('2027-01-31T12:00:00.000Z')
  expect(me.headers['cache-control']).toBe('private, no-cache')
})

test('behavior: names are kept, trimmed; an empty one is none', async () => {
  const { body } = await register({ email: 'bob@rackmail.net', first_name: '  Bob ', last_name: '' })
  expect(body.account).toMatchObject({ first_name: 'Bob', last_name: null })
})

test('behavior: the token is stored nowhere as text, nor is the password', async () => {
  const { body } = await register({ email: 'eve@rackmail.net', password: 'correct horse battery' })
  const { rows } = await service.services.db.query(
    `select row_to_json(t)::text || row_to_json(a)::text as text from token t join account a on a.id = account_id`,
  )
  const stored = rows.map(({ text }) => text).join()
  expect(stored).not.toContain(body.token)
  expect(stored).not.toContain('correct horse')
  expect(body.account.has_password).toBe(true)
})

test.each(['/register', '/auth/register'])('default: %s answers the same', async (path) => {
  const email = `${path.replaceAll('/', '-')}@rackmail.net`
  const { status } = await service.ask('POST', path, { body: { email }, address: `192.0.2.${++address}` })
  expect(status).toBe(200)
})

test('error: an address that is taken, however it is written', async () => {
  await register({ email: 'carol@rackmail.net' })
  expect(await register({ email: 'Carol@RACKMAIL.net' })).toMatchObject({
    status: 409,
    body: { code: 'email_taken' },
  })
})

test('behavior: of ten registrations with one address at the same moment one succeeds', async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => register({ email: 'race@rackmail.net' })))
  expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
})

test("error: the operator's own domain is reserved", async () => {
  expect(await register({ email: 'ada@coinrack.dev' })).toMatchObject({
    status: 422,
    body: { code: 'reserved_email' },
  })
})

test('behavior: a new account has a balance of nothing', async () => {
  const { body } = await register({ email: 'dave@rackmail.net' })
  const { body: balance } = await service.ask('GET', '/balance', { token: body.token })
  expect(balance).toEqual({
    balance: '0.00',
    held: '0.00',
    total: '0.00',
    owed: '0.00',
    currency: 'USD',
    burn_per_hour: '0.00',
    runs_out_at: null,
  })
})
