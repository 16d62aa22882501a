import { createHook } from 'node:async_hooks'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createApp } from '../process/app.ts'
import { createMetrics } from '../process/metrics.ts'
import { createReadiness } from '../process/readiness.ts'
import { type Reply, startTestService, type TestService } from '../process/testing.ts'
import { recordFailure } from './failed-login-store.ts'

/*
 * Answers must not tell which accounts exist: neither by text and status, nor by the time that they take. Time itself
 * is not measured, for it depends on the load of the machine; what takes it is counted: key derivations and statements.
 */

let derivations = 0
// The kind that Node gives each scrypt: https://nodejs.org/api/async_hooks.html#type
const counter = createHook({
  init(_id, type) {
    if (type === 'SCRYPTREQUEST') derivations++
  },
})

const password = 'correct horse battery'
const known = 'known@rackmail.net'
const withoutPassword = 'none@rackmail.net'
const proven = 'proven@rackmail.net'
const unknown = 'unknown@rackmail.net'

let service: TestService
beforeAll(async () => {
  counter.enable()
  service = await startTestService({
    env: { COINRACK_RATE_LOGIN: '1000/min', COINRACK_RATE_REGISTER: '1000/min' },
  })
  await service.ask('POST', '/auth/register', { body: { email: known, password } })
  await service.ask('POST', '/auth/register', { body: { email: withoutPassword } })
  await service.ask('POST', '/auth/otp/request', { body: { email: proven } })
  const code = /\b\d{6}\b/.exec(service.mails.at(-1)!.text)![0]
  const { status } = await service.ask('POST', '/auth/otp/verify', { body: { email: proven, code } })
  expect(status).toBe(200)
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => {
  counter.disable()
  return service.close()
})

/** The content of an answer and its cost: key derivations, statements, mails. */
async function workOf(path: string, body: object) {
  const statements: string[] = []
  const { query } = pg.Client.prototype
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: Parameters<typeof query>
  ) {
    const [statement] = args as unknown as [string | { text: string }]
    statements.push(typeof statement === 'string' ? statement : statement.text)
    return query.apply(this, args)
  } as typeof query)
  const before = { derivations, mails: service.mails.length }
  const reply = await service.ask('POST', path, { body })
  vi.restoreAllMocks()
  const { request_id: _id, ...said } = reply.body
  return {
    status: reply.status,
    said,
    headers: Object.keys(reply.headers).sort(),
    statements,
    derivations: derivations - before.derivations,
    mails: service.mails.length - before.mails,
  }
}

test('default: a wrong password takes one derivation and the same statements, whoever is meant', async () => {
  const works = []
  for (const email of [known, withoutPassword, proven, unknown, 'not an address']) {
    works.push(await workOf('/auth/login', { email, password: 'wrong horse battery' }))
  }
  expect(works[0]).toMatchObject({ status: 401, derivations: 1 })
  expect(works[0]!.statements.length).toBeGreaterThan(4)
  for (const work of works) expect(work).toEqual(works[0])
})

test('behavior: nor do they differ once the guesses of an hour are used up', async () => {
  const works = []
  for (const email of ['known', 'unknown'].map((name) => `blocked-${name}@rackmail.net`)) {
    if (email.includes('-known')) {
      await service.ask('POST', '/auth/register', { body: { email, password } })
    }
    for (let guess = 0; guess < 10; guess++) {
      await recordFailure(service.services.db, `password:${email} from 127.0.0.1`, service.clock.now())
    }
    works.push(await workOf('/auth/login', { email, password }))
  }
  expect(works[0]).toMatchObject({ status: 429, derivations: 1 })
  expect(works[1]).toEqual(works[0])
})

test('default: a code is sent by the same statements, whoever is meant', async () => {
  const works = []
  for (const email of [known, withoutPassword, proven, unknown]) {
    works.push(await workOf('/auth/otp/request', { email }))
  }
  expect(works[0]).toMatchObject({ status: 200, derivations: 0, mails: 1 })
  for (const work of works) expect(work).toEqual(works[0])
})

test('default: a wrong code is refused by the same statements, whoever is meant', async () => {
  const works = []
  for (const email of [known, withoutPassword, proven, unknown]) {
    const code = /\b\d{6}\b/.exec(service.mails.findLast(({ to }) => to === email)!.text)![0]
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0')
    works.push(await workOf('/auth/otp/verify', { email, code: wrong }))
  }
  expect(works[0]).toMatchObject({ status: 401, derivations: 0 })
  for (const work of works) expect(work).toEqual(works[0])
})

test('behavior: guesses on two replicas at the same moment are counted together', async () => {
  const db = new pg.Pool(service.services.db.options)
  const services = { ...service.services, db }
  const replica = createApp(services, createReadiness(services), createMetrics())
  const there = async (path: string, payload: object) =>
    (await replica.inject({ method: 'POST', url: `/api/v1/eqvps${path}`, payload })).statusCode
  const here = async (path: string, body: object): Promise<Reply['status']> =>
    (await service.ask('POST', path, { body })).status
  const onBoth = async (path: string, inputs: object[]) =>
    (
      await Promise.all(inputs.map((input, index) => (index % 2 ? here(path, input) : there(path, input))))
    ).sort()

  const email = 'two-replicas@rackmail.net'
  for (let time = 0; time < 8; time++)
    await recordFailure(service.services.db, `password:${email} from 127.0.0.1`, service.clock.now())
  const passwords = Array.from({ length: 4 }, (_, index) => ({ email, password: `guess number ${index}` }))
  expect(await onBoth('/auth/login', passwords)).toEqual([401, 401, 429, 429])

  const requests = Array.from({ length: 8 }, () => ({ email }))
  expect(await onBoth('/auth/otp/request', requests)).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
  const code = /\b\d{6}\b/.exec(service.mails.findLast(({ to }) => to === email)!.text)![0]
  const others = Array.from({ length: 8 }, (_, by) =>
    String((Number(code) + by + 1) % 1_000_000).padStart(6, '0'),
  )
  await onBoth(
    '/auth/otp/verify',
    others.map((each) => ({ email, code: each })),
  )
  expect(await here('/auth/otp/verify', { email, code })).toBe(401)
  await replica.close()
  await db.end()
})
