import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'
import { createServer } from './server.ts'
import { endSlowBodies } from './slow-bodies.ts'

const FIRST_MS = 400

let service: TestService
let app: FastifyInstance
let port: number
beforeAll(async () => {
  service = await startTestService()
  app = createServer(service.services, [], { headersMs: FIRST_MS })
  endSlowBodies(app, service.services, { firstMs: FIRST_MS, lookMs: 50 })
  app.post('/', async (request) => ({ length: (request.body as string).length }))
  app.post('/early', { onRequest: async (_request, reply) => reply.send('early') }, async () => {})
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(async () => {
  await app.close()
  await service.close()
})

const head = (length: number, path = '/') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n`

/** Sends pieces with pauses between them. @returns all that came, when the service has closed the connection */
async function send(pieces: string[], pauseMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.on('data', (data) => (heard += data)).on('error', () => {})
  const closed = once(socket, 'close')
  for (const piece of pieces) {
    if (socket.destroyed || heard !== '') break
    socket.write(piece)
    await sleep(pauseMs)
  }
  await closed
  return heard
}

describe('a body', () => {
  test.each([
    ['that does not come', ['x'.repeat(10)]],
    ['that comes byte by byte', Array<string>(40).fill('x')],
  ])('error: %s is refused', async (_what, pieces) => {
    const heard = await send([`${head(1_000)}\r\n`, ...pieces], 50)
    expect(heard).toMatch(/^HTTP\/1.1 408 [\s\S]*"code":"request_too_slow"/)
  })

  test('behavior: one that makes progress goes on for as long as it takes', async () => {
    const pieces = Array<string>(30).fill('x'.repeat(100))
    const heard = await send([`${head(3_000)}connection: close\r\n\r\n`, ...pieces], 50)
    expect(heard).toMatch(/^HTTP\/1.1 200 [\s\S]*"length":3000/)
  })

  test('behavior: after an early answer its connection is closed too', async () => {
    expect(await send([`${head(1_000, '/early')}\r\n`, 'x'], 50)).toMatch(/^HTTP\/1.1 200 [\s\S]*early$/)
  })
})

describe('a head', () => {
  test('error: one that does not come to its end is refused', async () => {
    const heard = await send([head(0)], 0)
    expect(heard).toMatch(/^HTTP\/1.1 408 /)
  })
})
