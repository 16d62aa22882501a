import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { basePath } from '@coinrack/contract/index.ts'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createApp } from '../process/app.ts'
import { createMetrics } from '../process/metrics.ts'
import { createReadiness } from '../process/readiness.ts'
import { startTestService, type TestService } from '../process/testing.ts'
import { listenForReplicas } from './replica-link.ts'
import { letTend, sendAll } from './testing.ts'

/*
 * Two services on the same data: one has the sandboxes, and all is asked of the other.
 */

let service: TestService
let other: FastifyInstance
let origin: string
let token: string
let leader: Awaited<ReturnType<typeof letTend>>
let inside: Server
const folder = await mkdtemp(join(tmpdir(), 'coinrack-pass-on-'))

const listen = async (app: FastifyInstance) => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}
const ask = async (method: string, path: string, body?: object | string, headers: object = {}) => {
  const json = { 'content-type': 'application/json' }
  const reply = await fetch(origin + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(typeof body === 'object' && json),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}
const askJson = async (...asked: Parameters<typeof ask>) => {
  const { text, ...reply } = await ask(...asked)
  return { ...reply, body: JSON.parse(text) }
}
const tool = async (name: string, input: object) => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } }
  const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' }
  const { text } = await ask('POST', '/mcp/all', call, headers)
  return JSON.parse(/^data: (.*)$/m.exec(text)![1]!).result
}

beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_DATA: folder, COINRACK_SANDBOXES: 'true' } })
  const services = { ...service.services, sandboxes: new Map() }
  other = createApp(services, createReadiness(services), createMetrics())
  leader = await letTend(service)
  origin = `http://127.0.0.1:${await listen(other)}`
  ;({ token } = await service.customer(1_000_000n))
  inside = createServer((asked, answer) => void answer.end(`saw ${asked.url}`))
  new WebSocketServer({ server: inside }).on('connection', (client) => {
    client.on('message', (data) => client.send(`heard ${data}`))
  })
  inside.listen(0, '127.0.0.1')
  await once(inside, 'listening')
})
afterAll(async () => {
  inside.closeAllConnections()
  inside.close()
  await other.close()
  await leader.close()
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

describe('a service that does not tend the machines', () => {
  let id: string

  test('default: makes a sandbox all the same, and runs code in it, by REST and by tool', async () => {
    const made = await askJson('POST', `${basePath}/sandboxes`, {})
    expect([made.status, made.body.state]).toEqual([200, 'running'])
    id = made.body.id
    const run = await askJson('POST', `${basePath}/sandboxes/${id}/run`, { code: '6 * 7' })
    expect(run.body.results[0].data['text/plain']).toBe('42')
    const { content } = await tool('run_code', { sandbox_id: id, code: 'print(1)' })
    expect(content[0].text).toMatch(/^1$/m)
    expect((await tool('list_sandboxes', {})).structuredContent.items).toHaveLength(1)
    const input = { sandbox_id: id, code: 'print(2)' }
    const called = await tool('call_operation', { name: 'run_code', arguments: input })
    expect(called.content[0].text).toMatch(/^2$/m)
    const asked = await askJson('POST', `${basePath}/catalog/operations/run_code`, { arguments: input })
    expect(asked.body.stdout).toBe('2\n')
  })

  test('default: a program runs beside the sandboxes, asked for in each way', async () => {
    const code = 'const { items } = await coinrack.listSandboxes({})\nconsole.log("listed", items.length)'
    const { status, body } = await askJson('POST', `${basePath}/programs`, { code })
    expect([status, body.exit_code, body.operations[0].calls]).toEqual([200, 0, 1])
    const named = { name: 'run_program', arguments: { code } }
    for (const [name, input] of [['run_program', { code }] as const, ['call_operation', named] as const])
      expect((await tool(name, input)).content[0].text).toContain('listed')
  })

  test('default: outputs are streamed, files go through as they are', async () => {
    const stream = await ask(
      'POST',
      `${basePath}/sandboxes/${id}/exec`,
      { command: 'echo one; echo two' },
      { accept: 'text/event-stream' },
    )
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    expect(stream.text).toMatch(/event: stdout[\s\S]*one[\s\S]*event: end/)
    const file = `${basePath}/sandboxes/${id}/files/content?path=large`
    const content = 'x'.repeat(3_000_000)
    expect((await askJson('PUT', file, content, { 'content-type': 'text/plain' })).body.size).toBe(3_000_000)
    expect((await ask('GET', file)).text).toBe(content)
  })

  test('default: previews and their WebSockets', async () => {
    const { port } = inside.address() as AddressInfo
    await askJson('POST', `${basePath}/sandboxes/${id}/ports/${port}`, {})
    expect((await ask('GET', `/preview/${id}/${port}/there?a=b`)).text).toBe('saw /there?a=b')
    const client = new WebSocket(`${origin.replace('http', 'ws')}/preview/${id}/${port}/`)
    await once(client, 'open')
    client.send('hello')
    const [said] = await once(client, 'message')
    expect(String(said)).toBe('heard hello')
    client.close()
  })

  test('behavior: what is refused there is refused here, in the same words', async () => {
    const here = await askJson('POST', `${basePath}/sandboxes/${id}/run`, { code: '' })
    const there = await service.ask('POST', `/sandboxes/${id}/run`, { token, body: { code: '' } })
    expect([here.status, here.body.message]).toEqual([422, there.body.message])
    expect((await ask('POST', `${basePath}/sandboxes`, {}, { authorization: 'Bearer none' })).status).toBe(
      401,
    )
  })

  test('behavior: who sends all of a large file before hearing anything hears there why it is refused', async () => {
    await askJson('POST', `${basePath}/sandboxes/${id}/exec`, { command: 'ln -s /dev/full full.part' })
    const file = Buffer.alloc(20_000_000)
    const head = [
      `PUT ${basePath}/sandboxes/${id}/files/content?path=full HTTP/1.1`,
      ...['host: x', `authorization: Bearer ${token}`, `content-length: ${file.length}`, 'connection: close'],
    ].join('\r\n')
    expect(await sendAll(origin, `${head}\r\n\r\n`, file)).toContain('"file_refused"')
  })

  test('error: while nobody tends them it says so, and when to come again; no request goes in circles', async () => {
    await leader.noteAt('127.0.0.1:1')
    const file = `${basePath}/sandboxes/${id}/files/content?path=large`
    expect((await askJson('PUT', file, 'x'.repeat(20_000_000))).body.code).toBe('sandboxes_unavailable')
    const refused = await askJson('POST', `${basePath}/sandboxes`, {})
    expect([refused.status, refused.body.code]).toEqual([503, 'sandboxes_unavailable'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    await leader.forget('127.0.0.1:1')
    expect((await askJson('POST', `${basePath}/sandboxes`, {})).status).toBe(503)
    const at = { host: '127.0.0.1', port: 0 }
    const self = await listenForReplicas(other, { serverSecret: service.services.config.serverSecret!, at })
    await leader.noteAt(self.address)
    const circle = await askJson('POST', `${basePath}/sandboxes`, {})
    expect([circle.status, circle.body.code]).toEqual([503, 'sandboxes_unavailable'])
    expect(JSON.parse((await tool('create_sandbox', {})).content[0].text).code).toBe('sandboxes_unavailable')
    await self.close()
    await leader.noteAt(leader.address)
  })
})
