import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { basePath } from '@coinrack/contract/index.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTransaction } from '../database/transaction.ts'
import { createDispatch } from '../dispatch/dispatch.ts'
import { createRateLimiter } from '../dispatch/rate-limiter.ts'
import { recordEvent } from '../platform/record-event.ts'
import { callerOf } from '../process/app.ts'
import { handlers, paidHandlers } from '../process/handlers.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { registerRest } from '../transport/rest.ts'
import { createServer } from '../transport/server.ts'
import { registerEventStream } from './event-stream.route.ts'
import { numberEvents } from './number-events.ts'

let service: TestService
let url: string
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_REGISTER: '1000/min' } })
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}${basePath}/events`
})
afterAll(() => service.close())

async function happen(accountId: string, amount: bigint) {
  await inTransaction(service.services.db, (tx) =>
    recordEvent(tx, service.services, accountId, 'invoice.paid', { invoice_id: 'inv_0', amount }),
  )
  await numberEvents(service.services)
}

/** A client of the stream, which keeps the blocks that it was sent. */
async function connect(token: string, headers: Record<string, string> = {}, at = url) {
  const stop = new AbortController()
  const response = await fetch(at, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}`, ...headers },
    signal: stop.signal,
  })
  let text = ''
  const read = async () => {
    for await (const part of response.body!) text += Buffer.from(part).toString()
  }
  const over = read().catch(() => {})
  const blocks = () => text.split('\n\n').slice(0, -1)
  return {
    response,
    over,
    blocks,
    stop: () => stop.abort(),
    async until(count: number) {
      for (let tries = 0; blocks().length < count && tries < 200; tries++) await sleep(25)
      return blocks()
    },
  }
}
const positions = (blocks: string[]) => blocks.map((block) => Number(/^id: (\d+)$/m.exec(block)?.[1]))

describe('GET /events, streamed', () => {
  test('default: begins now, and tells each event as it stands in the list', async () => {
    const { token, accountId } = await service.customer()
    await happen(accountId, 1n)
    const stream = await connect(token)
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream')
    expect(await stream.until(1)).toEqual(['retry: 2000\nid: 1'])
    await happen(accountId, 2n)
    const [, told] = await stream.until(2)
    const { body } = await service.ask('GET', '/events?cursor=1', { token })
    expect(told).toBe(`id: 2\nevent: invoice.paid\ndata: ${JSON.stringify(body[0])}`)
    stream.stop()
  })

  test('behavior: resumes after Last-Event-ID, with all that happened meanwhile', async () => {
    const { token, accountId } = await service.customer()
    for (let n = 1n; n <= 250n; n++) await happen(accountId, n)
    const stream = await connect(token, { 'last-event-id': '3' })
    const blocks = await stream.until(248)
    expect(positions(blocks)).toEqual([3, ...Array.from({ length: 247 }, (_, n) => n + 4)])
    stream.stop()
  })

  test('behavior: ends when the token is revoked, before another event is told', async () => {
    const { token, accountId } = await service.customer()
    const stream = await connect(token)
    await stream.until(1)
    await service.services.db.query('update token set revoked_at = now() where account_id = $1', [accountId])
    await happen(accountId, 1n)
    await stream.over
    expect(stream.blocks()).toHaveLength(1)
  })

  test('error: without a good token, and with an id that is none', async () => {
    const { token } = await service.customer()
    expect((await connect('crk_nonsense')).response.status).toBe(401)
    expect((await connect(token, { 'last-event-id': 'x' })).response.status).toBe(422)
  })

  test('error: more streams than an account may have open; one that ends makes room', async () => {
    const { token } = await service.customer()
    const streams = []
    for (let n = 0; n < 10; n++) streams.push(await connect(token))
    expect((await connect(token)).response.status).toBe(429)
    streams[0]!.stop()
    let again = 429
    for (let tries = 0; again === 429 && tries < 100; tries++) {
      await sleep(25)
      const next = await connect(token)
      again = next.response.status
      next.stop()
    }
    expect(again).toBe(200)
    for (const { stop } of streams) stop()
  })

  test('error: a token that is revoked while its stream is asked for', async () => {
    const { token, accountId } = await service.customer()
    const app = createServer(service.services, [])
    const limiter = createRateLimiter(service.services)
    const { db } = service.services
    const strangers = { db, lookups: db, limiter }
    const dispatch = createDispatch(service.services, { handlers, paidHandlers }, limiter, strangers)
    const revoking: typeof dispatch = async (...asked) => {
      const answer = await dispatch(...asked)
      await service.services.db.query('update token set revoked_at = now() where account_id = $1', [
        accountId,
      ])
      return answer
    }
    registerEventStream(app, service.services, { dispatch: revoking, callerOf })
    app.register((scope) => registerRest(scope, dispatch), { prefix: basePath })
    const reply = await app.inject({
      url: `${basePath}/events`,
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    })
    expect([reply.statusCode, reply.json().code]).toEqual([401, 'unauthorized'])
  })

  test('behavior: a heartbeat while nothing happens, and the end of the service ends it', async () => {
    const { token } = await service.customer()
    const app = createServer(service.services, [])
    const limiter = createRateLimiter(service.services)
    const { db } = service.services
    const strangers = { db, lookups: db, limiter }
    const dispatch = createDispatch(service.services, { handlers, paidHandlers }, limiter, strangers)
    registerEventStream(app, service.services, { dispatch, callerOf }, { heartbeatMs: 50 })
    app.register((scope) => registerRest(scope, dispatch), { prefix: basePath })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const stream = await connect(
      token,
      {},
      `http://127.0.0.1:${(app.server.address() as AddressInfo).port}${basePath}/events`,
    )
    expect((await stream.until(3)).slice(1, 3)).toEqual([': still here', ': still here'])
    await app.close()
    await stream.over
  })
})
