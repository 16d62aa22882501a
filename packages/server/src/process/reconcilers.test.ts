import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeChain } from '../chain/fake-chain.ts'
import { runReconcilers, tendMachines } from './reconcilers.ts'
import { startTestService, type TestService } from './testing.ts'

const LOOK_S = 12
/** A minute, of the service and of each chain that it watches. */
const MOST_QUERIES = 420
const MOST_QUESTIONS_TO_A_CHAIN = 80

let service: TestService
let ends: (() => Promise<void>)[]
let queries = 0
let questions = 0

beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_DEFAULT: '100000/s' } })
  const { services } = service
  // The background paces itself by the clock that it is given.
  services.clock = { now: () => new Date(service.clock.now().getTime() + performance.now()) }
  const [chain] = services.chains
  const { port } = fakeChain(chain!.settings)
  services.chains = [
    {
      settings: chain!.settings,
      port: {
        ...port,
        newest: () => {
          questions++
          return port.newest()
        },
      },
    },
  ]
  services.db.on('connect', (client: pg.PoolClient) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    Object.assign(client, {
      query: (...args: unknown[]) => {
        queries++
        return query(...args)
      },
    })
  })
  ends = [runReconcilers(services), tendMachines(services)]
})
afterAll(async () => {
  await Promise.all(ends.map((end) => end()))
  await service.close()
})

/** Statements and questions to the chain in a minute, from what is asked in some seconds of nothing. */
async function askedPerMinute() {
  await sleep(1_500)
  const before = { queries, questions }
  await sleep(LOOK_S * 1000)
  const perMinute = (count: number) => Math.round((count * 60) / LOOK_S)
  return { queries: perMinute(queries - before.queries), questions: perMinute(questions - before.questions) }
}

test('behavior: at rest, database and chain are left alone', async () => {
  const asked = await askedPerMinute()
  expect(asked.queries).toBeLessThan(MOST_QUERIES)
  expect(asked.questions).toBeLessThan(MOST_QUESTIONS_TO_A_CHAIN)
}, 30_000)

test('behavior: what begins while it rests is begun at once, and with a VPS that runs it rests again', async () => {
  const { token } = await service.customer(20_000_000n)
  const place = () => service.ask('POST', '/orders', { token, body: { product: 'nano', os_id: 1 } })
  let order = await place()
  // Nothing is placed on a host between an answer of it that was lost and the next.
  for (let time = 0; order.status === 503 && time < 4; time++) {
    await sleep(3_500)
    order = await place()
  }
  const path = `/services/${order.body.service_id}?wait=ssh_ready&timeout=3&reveal=false`
  expect(await service.ask('GET', path, { token })).toMatchObject({ body: { status: 'active' } })
  const asked = await askedPerMinute()
  expect(asked.queries).toBeLessThan(MOST_QUERIES)
}, 30_000)

test('behavior: a sandbox that begins while it rests is ended at its time', async () => {
  const { token } = await service.customer(20_000_000n)
  const made = await service.ask('POST', '/sandboxes', { token, body: { timeout: 1 } })
  expect(made).toMatchObject({ status: 200 })
  const begun = performance.now()
  const read = async () => (await service.ask('GET', `/sandboxes/${made.body.id}`, { token })).body
  while ((await read()).state !== 'ended' && performance.now() - begun < 10_000) await sleep(100)
  expect((await read()).state).toBe('ended')
  expect(performance.now() - begun).toBeLessThan(3_000)
}, 30_000)
