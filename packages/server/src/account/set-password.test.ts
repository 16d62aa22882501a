import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'
import { recordFailure } from './failed-login-store.ts'

const TEN_MINUTES_MS = 600_000

let service: TestService
let email: string
let token: string
let count = 0
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_LOGIN: '1000/min', COINRACK_RATE_REGISTER: '1000/min' },
  })
})
afterAll(() => service.close())
beforeEach(async () => {
  email = `agent${++count}@rackmail.net`
  token = (await service.ask('POST', '/auth/register', { body: { email } })).body.token
})

const setPassword = (body: object, by = token) =>
  service.ask('POST', '/auth/set-password', { token: by, body })
const login = (password: string) => service.ask('POST', '/auth/login', { body: { email, password } })

test('default: the first one needs no other, at any time', async () => {
  service.clock.advance(TEN_MINUTES_MS * 100)
  const { status, body } = await setPassword({ password: 'password one' })
  expect(status).toBe(200)
  expect(body.account).toMatchObject({ email, has_password: true })
  expect((await login('password one')).status).toBe(200)
})

test('behavior: just after a login another needs no current one; the old one is gone', async () => {
  await setPassword({ password: 'password one' })
  service.clock.advance(TEN_MINUTES_MS)
  expect((await setPassword({ password: 'password two' })).status).toBe(200)
  expect((await login('password one')).status).toBe(401)
  expect((await login('password two')).status).toBe(200)
})

test('error: ten minutes after the login it needs the current one', async () => {
  await setPassword({ password: 'password one' })
  service.clock.advance(TEN_MINUTES_MS + 1)
  for (const body of [{ password: 'stolen it' }, { password: 'stolen it', current_password: 'a guess' }]) {
    expect(await setPassword(body)).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } })
  }
  expect((await login('password one')).status).toBe(200)
  expect((await setPassword({ password: 'password two', current_password: 'password one' })).status).toBe(200)
  expect((await login('password two')).status).toBe(200)
})

test('behavior: a fresh login is fresh by itself', async () => {
  await setPassword({ password: 'password one' })
  service.clock.advance(TEN_MINUTES_MS + 1)
  const { body } = await login('password one')
  expect((await setPassword({ password: 'password two' }, body.token)).status).toBe(200)
})

test('behavior: revoke_others ends every other token, and not this one', async () => {
  await setPassword({ password: 'password one' })
  const others = [(await login('password one')).body.token, (await login('password one')).body.token]
  await setPassword({ password: 'password two' })
  const statusOf = async (by: string) => (await service.ask('GET', '/account', { token: by })).status
  expect(await Promise.all(others.map(statusOf))).toEqual([200, 200])
  await setPassword({ password: 'password three', revoke_others: true })
  expect(await Promise.all(others.map(statusOf))).toEqual([401, 401])
  expect(await statusOf(token)).toBe(200)
})

test('error: ten wrong guesses of the current one in an hour, which close no login', async () => {
  await setPassword({ password: 'password one' })
  service.clock.advance(TEN_MINUTES_MS + 1)
  for (let guess = 0; guess < 9; guess++) {
    await recordFailure(service.services.db, `password:${email} from token`, service.clock.now())
  }
  const guess = await setPassword({ password: 'stolen it', current_password: 'a guess' })
  expect(guess).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } })
  const right = await setPassword({ password: 'stolen it', current_password: 'password one' })
  expect(right).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect((await login('password one')).status).toBe(200)
})
