import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { basePath } from '@coinrack/contract/index.ts'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { hostElsewhere, noteWhetherTended } from '../hosts/host-elsewhere.ts'
import { hostRows } from '../hosts/host-store.ts'
import { LOCAL_HOST } from '../platform/machine-host.ts'
import type { Services } from '../platform/services.ts'
import { letTend } from '../transport/testing.ts'
import { createApp } from './app.ts'
import { createMetrics } from './metrics.ts'
import { createReadiness } from './readiness.ts'
import { startTestService, type TestService } from './testing.ts'

/* A replica on another computer than the machines: it knows what the database knows, and the way to the one that has them. */

let service: TestService
let elsewhere: Services
let app: FastifyInstance
let origin: string
let leader: Awaited<ReturnType<typeof letTend>>
let token: string

beforeAll(async () => {
  service = await startTestService({
    features: ['guestCommands', 'serialConsole'],
    hosts: [{ id: 'east-1', region: 'east' }],
  })
  const { services } = service
  const { region, network } = services.hosts.get(LOCAL_HOST)!
  elsewhere = {
    ...services,
    config: { ...services.config, localMachines: false },
    sandboxes: new Map(),
    hosts: new Map([...services.hosts, [LOCAL_HOST, hostElsewhere(region, network)]]),
  }
  app = createApp(elsewhere, createReadiness(elsewhere), createMetrics())
  await app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  leader = await letTend(service)
  ;({ token } = await service.customer(20_000_000n))
})
afterAll(async () => {
  await app.close()
  await leader.close()
  await service.close()
})

const ask = async (method: string, path: string, body?: object) => {
  const reply = await fetch(origin + basePath + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: reply.status, headers: reply.headers, body: JSON.parse(await reply.text()) }
}
const running = async (region: string): Promise<string> => {
  const { body } = await ask('POST', '/orders', { product: 'nano', os_id: 1, region })
  await service.settle()
  expect((await ask('GET', `/services/${body.service_id}`)).body).toMatchObject({ status: 'active' })
  return body.service_id
}
const echo = (id: string) => ask('POST', `/services/${id}/exec`, { command: 'echo $((6*7))' })
const tool = async (name: string, input: object) => {
  const reply = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }),
  })
  return JSON.parse(/^data: (.*)$/m.exec(await reply.text())![1]!).result.content[0].text
}

let local: string
test('default: an order that is placed here becomes a machine there', async () => {
  local = await running(service.services.catalog.region)
  expect(service.driver.machines.has(local)).toBe(true)
})

test('default: what is asked inside a machine, by REST and by tool, is asked by the replica that has it', async () => {
  expect((await echo(local)).body).toMatchObject({ stdout: '42\n', exit_code: 0 })
  expect(await tool('run_on_vps', { service_id: local, command: 'echo yes' })).toMatch(/^yes$/m)
  const file = `/services/${local}/files?path=/root/here`
  expect((await ask('PUT', file, { content: 'there' })).status).toBe(200)
  expect((await ask('GET', file)).body).toMatchObject({ content: 'there' })
})

test('default: its console opens here', async () => {
  const { body } = await ask('POST', `/services/${local}/console`, { type: 'serial' })
  const { pathname } = new URL(body.websocket_url)
  const client = new WebSocket(origin.replace('http', 'ws') + pathname)
  await once(client, 'open')
  client.close()
  await once(client, 'close')
})

test('behavior: the machine of a remote host is asked from here', async () => {
  const remote = await running('east')
  await leader.noteAt('127.0.0.1:1')
  expect((await echo(remote)).body).toMatchObject({ stdout: '42\n' })
  await leader.noteAt(leader.address)
})

test('error: while the replica with the machines cannot be reached, it says so and when to come again', async () => {
  await leader.noteAt('127.0.0.1:1')
  const refused = await echo(local)
  expect([refused.status, refused.body.code]).toEqual([503, 'unavailable'])
  expect(refused.body.message).toContain('tends the machines')
  expect(refused.body.retry_after).toBeGreaterThan(0)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await ask('GET', `/services/${local}`)).body.status).toBe('active')
  await leader.noteAt(leader.address)
})

test('error: while no replica tends its machines, nothing is placed on the host', async () => {
  const { db, hosts } = elsewhere
  const trouble = async () => (await hostRows(db)).find(({ id }) => id === LOCAL_HOST)!.trouble
  await noteWhetherTended(elsewhere, hosts.get(LOCAL_HOST)!)
  expect(await trouble()).toBe(null)
  await db.query('delete from replica')
  await noteWhetherTended(elsewhere, hosts.get(LOCAL_HOST)!)
  expect(await trouble()).toContain('no replica tends')
  const { region } = service.services.catalog
  const { status, body } = await ask('POST', '/orders', { product: 'nano', os_id: 1, region })
  expect([status, body.code]).toEqual([503, 'capacity'])
  await service.observeHosts()
  expect(await trouble()).toBe(null)
})
