import { scrypt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { promisify } from 'node:util'
import type pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeToken } from '../account/token.ts'
import { smtpMailer } from '../platform/mailer.ts'
import { handlers, paidHandlers } from '../process/handlers.ts'
import { type Reply, startTestService, type TestService } from '../process/testing.ts'
import { createDispatch } from './dispatch.ts'
import { createRateLimiter } from './rate-limiter.ts'

/*
 * Requests without a token never keep customers waiting: while strangers send as many as they can, a customer reads its
 * balance as fast as ever.
 */

const PROMISED_MS = 200
const MAIL_SERVER_MS = 15_000

let service: TestService
let token: string
beforeAll(async () => {
  service = await startTestService({
    hashingWaitMs: 2_000,
    env: {
      COINRACK_RATE_LOGIN: '1000/min',
      COINRACK_RATE_REGISTER: '1000/min',
      COINRACK_RATE_DEFAULT: '10000/min',
    },
  })
  token = (await service.customer(10_000_000n)).token
  await readBalance()
})
afterAll(() => service.close())

async function readBalance(): Promise<number> {
  const begun = performance.now()
  const { status } = await service.ask('GET', '/balance', { token })
  expect(status).toBe(200)
  return performance.now() - begun
}

/** The 95th percentile of the milliseconds that a read of the balance takes, one after the other until the end. */
async function p95Until(end: Promise<unknown>): Promise<number> {
  const took: number[] = []
  let ended = false
  void end.finally(() => {
    ended = true
  })
  while (!ended || took.length < 20) took.push(await readBalance())
  return took.sort((a, b) => a - b)[Math.ceil(took.length * 0.95) - 1]!
}

const statusesOf = (replies: Reply[]) => Map.groupBy(replies, ({ status }) => status)

test('behavior: twenty codes that a mail server takes 15 s for do not keep a customer waiting', async () => {
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    setTimeout(() => socket.destroy(), MAIL_SERVER_MS).unref()
  })
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { mailer } = service.services
  service.services.mailer = smtpMailer(
    `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    'a@rackmail.net',
  )
  onTestFinished(() => {
    service.services.mailer = mailer
    for (const socket of sockets) socket.destroy()
    silent.close()
  })

  const codes = Array.from({ length: 20 }, (_, index) =>
    service.ask('POST', '/auth/otp/request', { body: { email: `attack${index}@rackmail.net` } }),
  )
  while (sockets.size < 20) await new Promise((resolve) => setTimeout(resolve, 20))
  const p95 = await p95Until(new Promise((resolve) => setTimeout(resolve, 1_000)))
  for (const socket of sockets) socket.destroy()
  expect(p95).toBeLessThan(PROMISED_MS)
  const replies = await Promise.all(codes)
  expect([...statusesOf(replies).keys()]).toEqual([503])
  expect(replies[0]!.body.code).toBe('mail_unavailable')
})

test('behavior: 24 log-ins do not keep a customer waiting; those that wait too long are told when to come again', async () => {
  // The same processors, as busy as the attack may make them, without the service: what this machine needs by itself.
  const derive = promisify(scrypt) as (...args: unknown[]) => Promise<Buffer>
  const derivation = () => derive('password', 'salt', 32, { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 })
  const beside = await p95Until(Promise.all([derivation(), derivation()]))

  const logins = Array.from({ length: 24 }, (_, index) =>
    service.ask('POST', '/auth/login', {
      body: { email: `attack${index}@rackmail.net`, password: 'a guess like any other' },
    }),
  )
  const p95 = await p95Until(Promise.all(logins))
  expect(p95).toBeLessThan(Math.max(PROMISED_MS, 3 * beside))
  const statuses = statusesOf(await Promise.all(logins))
  expect([...statuses.keys()].sort()).toEqual([401, 503])
  for (const { body, headers } of statuses.get(503)!) {
    expect(body).toMatchObject({ code: 'overloaded', fix: expect.stringContaining('retry_after') })
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  }
})

/** The most connections that were in use at the same moment until the end. */
async function mostInUse(work: () => Promise<unknown>): Promise<number> {
  const { db } = service.services
  let most = 0
  const count = () => {
    most = Math.max(most, db.totalCount - db.idleCount + db.waitingCount)
  }
  db.on('acquire', count)
  try {
    await work()
  } finally {
    db.off('acquire', count)
  }
  return most
}

const SHARE = 6
const LOOKUPS = 4
const MANY = Array.from({ length: 200 }, (_, index) => index)

test.each<[string, number, (index: number) => Promise<unknown>]>([
  [
    'tokens that nobody has',
    SHARE + LOOKUPS,
    (index: number) =>
      service.ask('GET', '/balance', {
        token: makeToken(service.services.random),
        address: `203.0.${index}.1`,
      }),
  ],
  [
    'previews that there are none of',
    LOOKUPS,
    (index: number) => service.app.inject(`/preview/sbx${'0'.repeat(23)}${100 + index}/8000/`),
  ],
  [
    'links to consoles that nobody was given',
    LOOKUPS,
    (index: number) => service.app.inject(`/console/${'A'.repeat(40)}${100 + index}`),
  ],
  ['whether the service is ready', 1, () => service.app.inject('/readyz')],
])(
  'behavior: a flood that asks for %s takes no more than its share of the connections',
  async (_what, share, ask) => {
    expect(await mostInUse(() => Promise.all(MANY.map((index) => ask(index))))).toBeLessThanOrEqual(share)
  },
)

test('behavior: a token that was good is looked up beside the share, until it is not good any more', async () => {
  const { services } = service
  const { db } = services
  let inShare = 0
  const query = (...statement: Parameters<pg.Pool['query']>) => {
    inShare++
    return db.query(...statement)
  }
  const limiter = createRateLimiter(services)
  const strangers = { db, lookups: { query } as unknown as pg.Pool, limiter }
  const dispatch = createDispatch(services, { handlers, paidHandlers }, limiter, strangers)
  const { token: used } = await service.customer()
  const statusOf = async (name: 'getBalance' | 'logout') => {
    const request = { token: used, address: '127.0.0.1', idempotencyKey: undefined, resourceId: undefined }
    return (await dispatch(name, { ...request, input: () => ({}), requestId: 'req', asTool: false })).status
  }
  expect([await statusOf('getBalance'), await statusOf('getBalance'), inShare]).toEqual([200, 200, 1])
  expect([await statusOf('logout'), await statusOf('getBalance'), inShare]).toEqual([200, 401, 1])
  expect([await statusOf('getBalance'), inShare]).toEqual([401, 2])
})
