import { afterAll, beforeAll, expect, test } from 'vitest'
import { sha256 } from '../platform/sealer.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { recordFailure } from './failed-login-store.ts'
import { forgetOldClients } from './known-client-store.ts'

const HOUR_MS = 3_600_000
const password = 'correct horse battery'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_LOGIN: '1000/min', COINRACK_RATE_REGISTER: '1000/min' },
  })
})
afterAll(() => service.close())

const register = async (email: string) =>
  (await service.ask('POST', '/auth/register', { body: { email, password } })).body
const login = (email: string, given = password, address = '127.0.0.1') =>
  service.ask('POST', '/auth/login', { body: { email, password: given }, address })
/** The part of an answer that does not differ from request to request. */
const sameOf = ({ status, body: { request_id: _id, ...body } }: Awaited<ReturnType<typeof login>>) => ({
  status,
  body,
})

test('default: a new token for the same account, and the old one stays good', async () => {
  const first = await register('ada@rackmail.net')
  const { status, body } = await login('Ada@Rackmail.net')
  expect(status).toBe(200)
  expect(body.account).toEqual(first.account)
  expect(body.token).not.toBe(first.token)
  for (const token of [first.token, body.token]) {
    expect((await service.ask('GET', '/account', { token })).body.id).toBe(first.account.id)
  }
})

test('error: a wrong password, an unknown address and an account without a password get one answer', async () => {
  await register('bob@rackmail.net')
  await service.ask('POST', '/auth/register', { body: { email: 'none@rackmail.net' } })
  const wrong = sameOf(await login('bob@rackmail.net', 'wrong horse battery'))
  expect(wrong).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } })
  expect(sameOf(await login('nobody@rackmail.net'))).toEqual(wrong)
  expect(sameOf(await login('none@rackmail.net'))).toEqual(wrong)
  expect(sameOf(await login('not an address'))).toEqual(wrong)
})

/** As if strangers, or one client, had guessed so often: guessing in earnest takes its time. */
async function guessed(email: string, times: number, client?: string) {
  const subject = client === undefined ? `password:${email}` : `password:${email} from ${client}`
  for (let time = 0; time < times; time++) {
    await recordFailure(service.services.db, subject, service.clock.now())
  }
}
const NEW = '198.51.100.7'

test('error: after ten wrong passwords of a client in an hour it has to wait; other clients and accounts do not', async () => {
  await register('carol@rackmail.net')
  await register('dora@rackmail.net')
  await guessed('carol@rackmail.net', 9, '127.0.0.1')
  expect((await login('carol@rackmail.net', 'wrong password')).status).toBe(401)
  const refused = await login('carol@rackmail.net')
  expect(refused).toMatchObject({
    status: 429,
    body: { code: 'rate_limited', next_steps: [{ tool: 'request_login_code' }] },
  })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await login('dora@rackmail.net')).status).toBe(200)
  expect((await login('carol@rackmail.net', password, NEW)).status).toBe(200)
  service.clock.advance(HOUR_MS)
  expect((await login('carol@rackmail.net')).status).toBe(200)
})

test('default: ten wrong passwords of strangers close out strangers alone: clients of an earlier login, codes and tokens go on', async () => {
  const email = 'erin@rackmail.net'
  const { token } = await register(email)
  await guessed(email, 10)
  expect((await login(email, password, NEW)).status).toBe(429)
  expect((await login(email)).status).toBe(200)
  service.clock.advance(11 * 60_000)
  const changed = await service.ask('POST', '/auth/set-password', {
    token,
    body: { password: 'another password', current_password: password },
  })
  expect(changed.status).toBe(200)
  await service.ask('POST', '/auth/otp/request', { body: { email }, address: NEW })
  const code = /\b\d{6}\b/.exec(service.mails.at(-1)!.text)![0]
  const verified = await service.ask('POST', '/auth/otp/verify', { body: { email, code }, address: NEW })
  expect(verified.status).toBe(200)
})

test('behavior: a client is known for ninety days after its last login', async () => {
  const email = 'fred@rackmail.net'
  await register(email)
  const day = 24 * HOUR_MS
  service.clock.advance(91 * day)
  await forgetOldClients(service.services.db, service.clock.now())
  await guessed(email, 10)
  expect((await login(email)).status).toBe(429)
  service.clock.advance(HOUR_MS)
  expect((await login(email)).status).toBe(200)
  await guessed(email, 10)
  expect((await login(email)).status).toBe(200)
})

test('behavior: an address that nobody has is counted as well', async () => {
  await guessed('ghost@rackmail.net', 9)
  expect((await login('ghost@rackmail.net')).status).toBe(401)
  expect((await login('ghost@rackmail.net', password, NEW)).status).toBe(429)
})

test('behavior: addresses that are none are counted one by one', async () => {
  await guessed(`invalid ${sha256('no address').toString('hex')}`, 10)
  expect((await login('no address')).status).toBe(429)
  expect((await login('another that is none')).status).toBe(401)
})

test('behavior: of eight guesses at the same moment no more are answered than are left', async () => {
  await register('fast@rackmail.net')
  await guessed('fast@rackmail.net', 7, '127.0.0.1')
  const guesses = Array.from({ length: 8 }, (_, index) => login('fast@rackmail.net', `guess number ${index}`))
  const statuses = (await Promise.all(guesses)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([401, 401, 401, 429, 429, 429, 429, 429])
})
