import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { basePath } from '@coinrack/contract/index.ts'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientOf1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportOf1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createApp } from '../../process/app.ts'
import { createMetrics } from '../../process/metrics.ts'
import { createReadiness } from '../../process/readiness.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from '../../sandboxes/life/testing.ts'
import { rpcClient } from './testing-tasks.ts'

/*
 * Calls that their clients take back, or do not wait for: what can be stopped is.
 */

let service: TestService
let other: FastifyInstance
let origin: string
/** The origin of another replica. */
let elsewhere: string
let folder: string
let buyer: Buyer
let sandbox: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-cancel-'))
  service = await startTestService({ env: { COINRACK_RATE_DEFAULT: '100000/min' } })
  other = createApp(service.services, createReadiness(service.services), createMetrics())
  origin = await service.app.listen({ host: '127.0.0.1', port: 0 })
  elsewhere = await other.listen({ host: '127.0.0.1', port: 0 })
  buyer = await buyerOf(service)
  sandbox = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
})
afterAll(async () => {
  await other.close()
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

let marks = 0
/** A command that says when it runs, and that it was left alone to its end. */
function longCommand() {
  const mark = join(folder, String(++marks))
  const has = (end: string) =>
    readFile(mark + end).then(
      () => true,
      () => false,
    )
  return {
    command: `echo > ${mark}.runs; sleep 2.5; echo > ${mark}.ended`,
    runs: () =>
      vi.waitFor(async () => expect(await has('.runs')).toBe(true), { timeout: 10_000, interval: 20 }),
    async wasStopped() {
      await sleep(3_000)
      return !(await has('.ended'))
    },
  }
}

/** The official clients, as they connect to a replica. */
const connect = {
  'the client 1.x': async (at: string) => {
    const client = new ClientOf1({ name: 'test', version: '1' })
    await client.connect(new TransportOf1(new URL(`${at}/mcp`), headers()))
    return client
  },
  'the client 2.x by the handshake of 2025': async (at: string) => {
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${at}/mcp`), headers()))
    return client
  },
  'the client 2.x by 2026-07-28': async (at: string) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${at}/mcp`), headers()))
    return client
  },
}
const headers = () => ({ requestInit: { headers: { authorization: `Bearer ${buyer.token}` } } })

describe.each(Object.keys(connect) as (keyof typeof connect)[])('%s', (name) => {
  test.each(['exec_command', 'run_code'])('default: taking %s back ends what it runs', async (tool) => {
    const client = await connect[name](origin)
    const long = longCommand()
    const stop = new AbortController()
    const input = { sandbox_id: sandbox, command: long.command, code: long.command, language: 'bash' }
    const { command, code, language, ...rest } = input
    const call = client.callTool(
      { name: tool, arguments: { ...rest, ...(tool === 'run_code' ? { code, language } : { command }) } },
      ...((name === 'the client 1.x' ? [undefined] : []) as []),
      { signal: stop.signal } as never,
    )
    const failed = expect(call).rejects.toThrow()
    await long.runs()
    stop.abort(new Error('taken back'))
    await failed
    expect(await long.wasStopped()).toBe(true)
    await client.close()
  })
})

describe('by hand', () => {
  /** Calls in the form of 2025, where clients take calls back with a notification. */
  const send = (
    at: string,
    message: object,
    { signal, token = buyer.token }: { signal?: AbortSignal; token?: string } = {},
  ) =>
    fetch(`${at}/mcp`, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2025-06-18',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      ...(signal && { signal }),
    })
  const exec = (command: string, more: object = {}) => ({
    method: 'tools/call',
    params: { name: 'exec_command', arguments: { sandbox_id: sandbox, command, ...more } },
  })
  const takeBack = (at: string, requestId: unknown, token?: string) =>
    send(
      at,
      { method: 'notifications/cancelled', params: { requestId } },
      token === undefined ? {} : { token },
    )

  test('default: a notification that reaches another replica than the call ends it all the same', async () => {
    const long = longCommand()
    const call = send(origin, { id: 'mine', ...exec(long.command) })
    await long.runs()
    expect((await takeBack(elsewhere, 'mine')).status).toBe(202)
    expect(await long.wasStopped()).toBe(true)
    await (await call).text()
  })

  test('error: nobody ends the call of another token, nor one of several that it may mean', async () => {
    const stranger = await service.customer()
    const [one, two] = [longCommand(), longCommand()]
    const calls = [one, two].map(({ command }) => send(origin, { id: 7, ...exec(command) }))
    await Promise.all([one.runs(), two.runs()])
    await takeBack(origin, 7, stranger.token)
    await takeBack(origin, 7, 'crk_no')
    await takeBack(origin, '7')
    await takeBack(origin, 7)
    expect(await one.wasStopped()).toBe(false)
    expect(await two.wasStopped()).toBe(false)
    await Promise.all(calls)
  })

  test.each([
    ['REST', () => `${origin}${basePath}/sandboxes/${sandbox}/exec`],
    ['an agent address', () => `${origin}/mcp`],
  ])('default: a client of %s that hangs up ends its command', async (_what, url) => {
    const long = longCommand()
    const gone = new AbortController()
    const isRest = url().includes(basePath)
    const call = fetch(url(), {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream'.slice(0, isRest ? 16 : undefined),
        'content-type': 'application/json',
        authorization: `Bearer ${buyer.token}`,
      },
      body: JSON.stringify(
        isRest ? { command: long.command } : { jsonrpc: '2.0', id: 1, ...exec(long.command) },
      ),
      signal: gone.signal,
    })
    const failed = expect(call.then((answer) => answer.text())).rejects.toThrow()
    await long.runs()
    gone.abort()
    await failed
    expect(await long.wasStopped()).toBe(true)
  })

  test('behavior: with an idempotency key a client that hung up gets the answer later; one that took the call back may repeat it', async () => {
    const long = longCommand()
    const gone = new AbortController()
    const call = exec(long.command, { idempotency_key: 'of mine' })
    const lost = send(origin, { id: 8, ...call }, { signal: gone.signal }).then((answer) => answer.text())
    const failed = expect(lost).rejects.toThrow()
    await long.runs()
    gone.abort()
    await failed
    expect(await long.wasStopped()).toBe(false)
    const again = await (await send(origin, { id: 9, ...call })).text()
    expect(again).toContain('exit_code: 0')

    const second = longCommand()
    const other = exec(second.command, { idempotency_key: 'another' })
    const taken = send(origin, { id: 10, ...other })
    await second.runs()
    await takeBack(origin, 10)
    await (await taken).text().catch(() => {})
    expect(await second.wasStopped()).toBe(true)
    const repeated = await (await send(origin, { id: 11, ...other })).text()
    expect(repeated).toContain('exit_code: 0')
    expect(await second.wasStopped()).toBe(false)
  }, 60_000)

  test('default: waits that nobody waits for end, and leave nothing behind', async () => {
    let waiting = 0
    const { changes } = service.services
    const { wait } = changes
    const spied = vi.spyOn(changes, 'wait').mockImplementation((...asked) => {
      waiting++
      return wait(...asked).finally(() => waiting--)
    })
    const gone = new AbortController()
    const url = `${origin}${basePath}/sandboxes/${sandbox}?wait=ended&timeout=50`
    const rest = fetch(url, { headers: { authorization: `Bearer ${buyer.token}` }, signal: gone.signal })
    const tool = rpcClient(`${origin}/mcp`, buyer.token, { takesTasks: false }).send(
      'tools/call',
      { name: 'get_sandbox', arguments: { sandbox_id: sandbox, wait: 'ended', timeout: 50 } },
      gone.signal,
    )
    const failed = Promise.allSettled([rest, tool.then((answer) => answer.text())])
    await vi.waitFor(() => expect(waiting).toBe(2), { timeout: 10_000 })
    gone.abort()
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await vi.waitFor(() => expect(waiting).toBe(0), { timeout: 2_000 })
    spied.mockRestore()
  })
})

test('default: a client that asks for progress is told while its call goes on', async () => {
  for (const open of Object.values(connect)) {
    const client = await open(origin)
    const told: { progress: number; total?: number; message?: string }[] = []
    await client.callTool(
      { name: 'get_sandbox', arguments: { sandbox_id: sandbox, wait: 'ended', timeout: 5 } },
      ...((client instanceof ClientOf1 ? [undefined] : []) as []),
      { onprogress: (each: (typeof told)[number]) => told.push(each) } as never,
    )
    expect(told).toEqual([
      { progress: 2, total: 5, message: 'Waiting for ended' },
      { progress: 4, total: 5, message: 'Waiting for ended' },
    ])
    await client.close()
  }
}, 60_000)
