import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../testing.ts'
import { recordFailure } from './failed-login-store.ts'

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
const login = (email: string, given = password) =>
  service.ask('POST', '/auth/login', { body: { email, password: given } })
/** What does not differ from request to request. */
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

/** As if somebody had guessed so often: guessing in earnest takes its time. */
async function guessed(email: string, times: number) {
  for (let time = 0; time < times; time++) {
    await recordFailure(service.services.db, `password:${email}`, service.clock.now())
  }
}

test('error: after ten wrong passwords in an hour the right one has to wait; others do not', async () => {
  await register('carol@rackmail.net')
  await register('dora@rackmail.net')
  await guessed('carol@rackmail.net', 9)
  expect((await login('carol@rackmail.net', 'wrong password')).status).toBe(401)
  const refused = await login('carol@rackmail.net')
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect((await login('dora@rackmail.net')).status).toBe(200)
  service.clock.advance(HOUR_MS)
  expect((await login('carol@rackmail.net')).status).toBe(200)
})

test('behavior: an address that nobody has is counted as well', async () => {
  await guessed('ghost@rackmail.net', 9)
  expect((await login('ghost@rackmail.net')).status).toBe(401)
  expect((await login('ghost@rackmail.net')).status).toBe(429)
})

test('behavior: of eight guesses at the same moment no more are answered than are left', async () => {
  await register('fast@rackmail.net')
  await guessed('fast@rackmail.net', 7)
  const guesses = Array.from({ length: 8 }, (_, index) => login('fast@rackmail.net', `guess number ${index}`))
  const statuses = (await Promise.all(guesses)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([401, 401, 401, 429, 429, 429, 429, 429])
})
