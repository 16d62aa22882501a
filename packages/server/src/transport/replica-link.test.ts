import { once } from 'node:events'
import { request } from 'node:http'
import { connect as connectPlain, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { believeReplicas, headersForReplica, linkToReplica, listenForReplicas } from './replica-link.ts'

const SECRET = 'a secret that all replicas have, and nobody else'

let app: FastifyInstance
let link: Awaited<ReturnType<typeof listenForReplicas>>
beforeAll(async () => {
  app = Fastify()
  believeReplicas(app)
  app.get('/', (request) => request.ip)
  await app.listen({ host: '127.0.0.1', port: 0 })
  link = await listenForReplicas(app, { serverSecret: SECRET, at: { host: '127.0.0.1', port: 0 } })
})
afterAll(async () => {
  await app.close()
  await link.close()
})

const CLIENT = '203.0.113.7'
const headers = headersForReplica({ headers: { host: 'x' } } as never, CLIENT)

test('default: a request of another replica is answered, and is of the client that the other one saw', async () => {
  const socket = await linkToReplica(link.address, SECRET)
  const asked = request({ createConnection: () => socket, headers }).end()
  const [answer] = await once(asked, 'response')
  expect(await text(answer)).toBe(CLIENT)
})

test('error: nobody else can say which client a request is of', async () => {
  const { port } = app.server.address() as { port: number }
  const [answer] = await once(request({ host: '127.0.0.1', port, headers }).end(), 'response')
  expect(await text(answer)).toBe('127.0.0.1')
})

test('error: another secret opens no connection, and neither does a certificate or none', async () => {
  await expect(linkToReplica(link.address, `${SECRET}?`)).rejects.toThrow(/alert/i)
  const port = Number(link.address.split(':')[1])
  const certified = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  const [refused] = await once(certified, 'error')
  expect(refused.message).toMatch(/handshake failure/i)
  const plain = connectPlain(port, '127.0.0.1').end('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  expect(await text(plain).catch(() => '')).not.toContain('HTTP')
})

test('error: a replica that takes connections and says nothing is given up', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as { port: number }
  await expect(linkToReplica(`127.0.0.1:${port}`, SECRET)).rejects.toThrow('does not answer')
  silent.close()
})
