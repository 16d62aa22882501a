import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { basePath } from '@coinrack/contract/index.ts'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createApp } from '../process/app.ts'
import { createMetrics } from '../process/metrics.ts'
import { createReadiness } from '../process/readiness.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { type Buyer, buyerOf } from '../sandboxes/life/testing.ts'
import { letTend } from './testing.ts'
import { proxies, startProxy } from './testing-proxies.ts'

/*
 * Real proxies in front of the service, which send the requests of different customers over one connection to it. Behind
 * it is a sandbox whose server answers a wish for another protocol as its customer likes.
 */

let service: TestService
let other: FastifyInstance
let leader: Awaited<ReturnType<typeof letTend>>
let buyer: Buyer
let inside: Server
let path: string
const folder = await mkdtemp(join(tmpdir(), 'coinrack-proxies-'))
/** All that reached the sandbox: with what a raw connection went on to say. */
let seen: string[] = []
/** The text that is written to a client that asks for another protocol. */
let answer = ''
const services = { tending: 0, passing: 0 }

beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_DATA: folder, COINRACK_SANDBOXES: 'true' } })
  const without = { ...service.services, sandboxes: new Map() }
  other = createApp(without, createReadiness(without), createMetrics())
  services.tending = await listen(service.app)
  services.passing = await listen(other)
  leader = await letTend(service)
  buyer = await buyerOf(service)
  const id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })

  inside = createServer(({ method, url, socket }) => {
    seen.push(`${method} ${url}`)
    begin(socket)
  })
  const sockets = new WebSocketServer({ noServer: true })
  inside.on('upgrade', (asked: IncomingMessage, socket: Duplex, head: Buffer) => {
    seen.push(`${asked.method} ${asked.url}`)
    socket.on('error', () => {})
    if (asked.url === '/socket')
      return sockets.handleUpgrade(asked, socket, head, (client) =>
        client.on('message', (data) => client.send(`heard ${data}`)),
      )
    begin(socket)
  })
  const begin = (socket: Duplex) => {
    // Whatever comes now is of others: it is answered as if this were the service.
    socket.on('data', (data) => {
      seen.push(String(data))
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen')
    })
    socket.write(answer)
  }
  inside.listen(0, '127.0.0.1')
  await once(inside, 'listening')
  const { port } = inside.address() as AddressInfo
  path = `/preview/${id}/${port}`
  await buyer.post(`/sandboxes/${id}/ports/${port}`)
})
afterAll(async () => {
  inside.closeAllConnections()
  inside.close()
  await other.close()
  await leader.close()
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

const listen = async (app: FastifyInstance) => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

const LATER_REQUESTS = 20
const WANTS_WEBSOCKET = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'AQIDBAUGBwgJCgsMDQ4PEA==',
  'sec-websocket-version': '13',
}
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok'
const answers: [what: string, status: number, text: string][] = [
  ['200 and keeps the connection', 200, OK],
  ['200 in pieces', 200, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
  ['204', 204, 'HTTP/1.1 204 No Content\r\n\r\n'],
  [
    '426',
    426,
    'HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n',
  ],
  ['101 without a protocol', 502, `HTTP/1.1 101 Switching Protocols\r\nConnection: keep-alive\r\n\r\n${OK}`],
  [
    '101 with a protocol that nobody asked for',
    502,
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: mine\r\n\r\n${OK}`,
  ],
  ['100 and then 200', 200, `HTTP/1.1 100 Continue\r\n\r\n${OK}`],
]

describe.each(Object.keys(proxies) as (keyof typeof proxies)[])('%s', (name) => {
  describe.each(['tending', 'passing'] as const)('in front of the service that is %s', (which) => {
    let origin: string
    let stop: () => Promise<void>
    beforeAll(async () => {
      const proxy = await startProxy(name, services[which])
      origin = `http://127.0.0.1:${proxy.port}`
      stop = proxy.stop
    })
    afterAll(() => stop?.())

    /** One request of one client, over a connection of its own. */
    const askOnce = async (to: string, headers: Record<string, string>) => {
      const asked = request(origin + to, { headers, agent: new Agent() }).end()
      const got = await new Promise<IncomingMessage>((resolve, reject) => {
        asked.once('response', resolve).once('error', reject)
      })
      return { status: got.statusCode, text: await text(got) }
    }

    /** Asks the sandbox, and then the service for others. @returns what the sandbox's customer got */
    const firstAndLater = async (headers: Record<string, string>) => {
      const first = await askOnce(`${path}/`, headers)
      for (let count = 0; count < LATER_REQUESTS; count++) {
        const later = await askOnce(`${basePath}/balance`, { authorization: `Bearer ${buyer.token}` })
        expect([later.status, later.text]).toEqual([200, expect.stringContaining('"balance"')])
      }
      expect(seen).toEqual(['GET /'])
      return first.status
    }

    test.each(answers)(
      'behavior: a sandbox that answers %s gets no request of others',
      async (_what, status, given) => {
        seen = []
        answer = given
        expect(await firstAndLater(WANTS_WEBSOCKET)).toBe(status)
      },
    )

    test('behavior: a sandbox that answers 101 to who asked for no other protocol gets no request of others', async () => {
      seen = []
      answer = `HTTP/1.1 101 Switching Protocols\r\n\r\n${OK}`
      expect(await firstAndLater({})).toBe(502)
    })

    test('default: WebSockets go through', async () => {
      const client = new WebSocket(`${origin.replace('http', 'ws')}${path}/socket`)
      await once(client, 'open')
      client.send('hello')
      const [said] = await once(client, 'message')
      expect(String(said)).toBe('heard hello')
      client.close()
      await once(client, 'close')
    })
  })
})
