import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from '../life/testing.ts'

/*
 * The sandbox is fake: what listens on its port listens on this host.
 */

const DOMAIN = 'sandbox.rackmail.net'
let service: TestService
let buyer: Buyer
let origin: string
let id: string
let inside: Server
let port: number

beforeAll(async () => {
  const own = await freePort()
  origin = `http://127.0.0.1:${own}`
  service = await startTestService({
    env: { COINRACK_PUBLIC_URL: origin, COINRACK_SANDBOX_DOMAIN: DOMAIN },
  })
  await service.app.listen({ host: '127.0.0.1', port: own })
  buyer = await buyerOf(service)
  id = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  inside = createServer((asked, answer) => answer.end(JSON.stringify(asked.headers)))
  inside.listen(0, '127.0.0.1')
  await once(inside, 'listening')
  port = (inside.address() as AddressInfo).port
})
afterAll(async () => {
  inside.closeAllConnections()
  inside.close()
  await service.close()
})

const exposeAll = async (access: string) =>
  (await buyer.ask('PUT', `/sandboxes/${id}/ports`, { access })).body

/** Visits the port by its name. */
async function visit(headers: Record<string, string> = {}) {
  const asked = request(origin, { headers: { host: `${port}-${id}.${DOMAIN}`, ...headers } }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const text = (await Array.fromAsync(answer)).join('')
  return { status: answer.statusCode, seen: answer.statusCode === 200 ? JSON.parse(text) : undefined }
}

test('default: every port has a URL, until they are taken away', async () => {
  expect((await visit()).status).toBe(404)
  expect(await exposeAll('public')).toEqual({
    access: 'public',
    url: `http://{port}-${id}.${DOMAIN}:${new URL(origin).port}/`,
    path_url: `${origin}/preview/${id}/{port}/`,
    token: null,
  })
  expect((await visit()).status).toBe(200)
  expect((await fetch(`${origin}/preview/${id}/${port}/`)).status).toBe(200)
  expect((await buyer.ask('GET', `/sandboxes/${id}/ports`)).body).toEqual([])
  expect(await exposeAll('none')).toEqual({ access: 'none', url: null, path_url: null, token: null })
  expect((await visit()).status).toBe(404)
})

test('default: with a token, which stays the same, and is another when they are exposed again', async () => {
  const { token } = await exposeAll('token')
  expect((await visit()).status).toBe(401)
  expect((await visit({ 'x-preview-token': 'wrong' })).status).toBe(401)
  const { status, seen } = await visit({ 'x-preview-token': token })
  expect(status).toBe(200)
  expect(seen['x-preview-token']).toBeUndefined()
  expect((await exposeAll('token')).token).toBe(token)
  await exposeAll('none')
  expect((await exposeAll('token')).token).not.toBe(token)
  expect((await visit({ 'x-preview-token': token })).status).toBe(401)
})

test("default: with the text that E2B's clients are given for ports, which does not reach the sandbox", async () => {
  const key = (await buyer.post('/tokens', { format: 'e2b' })).body.token
  const made = await service.app.inject({
    method: 'POST',
    url: `/e2b/sandboxes/${id}/connect`,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    payload: '{}',
  })
  const { trafficAccessToken, envdAccessToken } = made.json()
  const header = 'e2b-traffic-access-token'
  const { status, seen } = await visit({ [header]: trafficAccessToken, 'x-api-key': key })
  expect([status, seen[header], seen['x-api-key']]).toEqual([200, undefined, undefined])
  expect((await visit({ [header]: envdAccessToken })).status).toBe(401)
})

test('behavior: a port that was exposed by itself keeps what it was given', async () => {
  await exposeAll('none')
  await buyer.post(`/sandboxes/${id}/ports/${port}`, { access: 'token' })
  await exposeAll('public')
  expect((await visit()).status).toBe(401)
  await buyer.ask('DELETE', `/sandboxes/${id}/ports/${port}`)
  expect((await visit()).status).toBe(200)
})

test('error: none of a sandbox that has ended', async () => {
  await buyer.kill(id)
  expect(await exposeAll('public')).toMatchObject({ code: 'sandbox_not_running' })
})
