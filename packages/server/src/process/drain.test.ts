import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDrain, type Drain } from './drain.ts'

const SLOW_MS = 3_000

let app: FastifyInstance
let drain: Drain
let port: number
beforeEach(async () => {
  app = Fastify({ forceCloseConnections: 'idle' })
  drain = createDrain(async () => [{ name: 'all', ready: true }], 1)
  drain.closeConnections(app)
  app.get('/', async () => 'at once')
  app.get('/slow', async () => {
    await sleep(SLOW_MS)
    return 'late'
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as { port: number }).port
})
afterEach(() => app.close())

const ask = async (path: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`)
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
const isReady = async () => (await drain.readiness()).every(({ ready }) => ready)

test('default: it says that it ends, answers on with connections that close, and then takes no more', async () => {
  expect(await isReady()).toBe(true)
  expect((await ask('/')).headers.get('connection')).toBe('keep-alive')
  const begun = drain.begin(app)
  expect(await isReady()).toBe(false)
  const answer = await ask('/')
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  await begun
  await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED')
})

test('behavior: a request that was under way is answered, however long it takes', async () => {
  const slow = ask('/slow')
  await drain.begin(app)
  await Promise.all([app.close(), drain.ended()])
  expect((await slow).text).toBe('late')
})

test('behavior: a connection of the last moment has time for its request', async () => {
  const begun = drain.begin(app)
  await sleep(900)
  const late = connect(port, '127.0.0.1')
  await once(late, 'connect')
  await sleep(300)
  late.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(await text(late)).toMatch(/at once$/)
  await begun
})
