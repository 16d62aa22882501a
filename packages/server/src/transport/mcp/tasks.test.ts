import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../process/app.ts'
import { createMetrics } from '../../process/metrics.ts'
import { createReadiness } from '../../process/readiness.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from '../../sandboxes/life/testing.ts'
import { letTend } from '../testing.ts'
import { TASKS } from './tasks.ts'
import { type RpcClient, rpcClient } from './testing-tasks.ts'

/*
 * Two replicas: one tends the machines, the other passes on what needs them. Whatever one of them began, either answers.
 */

let service: TestService
let other: FastifyInstance
let leader: Awaited<ReturnType<typeof letTend>>
let signs: NodeJS.Timeout
let folder: string
let buyer: Buyer
let sandbox: string
/** An agent address of each replica, at which outputs are structured. */
const endpoints = { tending: '', passing: '' }
let client: RpcClient
let elsewhere: RpcClient

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coinrack-tasks-'))
  service = await startTestService({ env: { COINRACK_RATE_DEFAULT: '100000/min' } })
  const without = { ...service.services, sandboxes: new Map() }
  other = createApp(without, createReadiness(without), createMetrics())
  endpoints.tending = `${await service.app.listen({ host: '127.0.0.1', port: 0 })}/mcp/all`
  endpoints.passing = `${await other.listen({ host: '127.0.0.1', port: 0 })}/mcp/all`
  leader = await letTend(service)
  // A replica that says nothing for a while counts as gone.
  signs = setInterval(() => void leader.noteAt(leader.address), 5_000)
  buyer = await buyerOf(service, 100_000_000n)
  sandbox = await buyer.sandbox({ timeout: 86_400, idle_timeout: 0 })
  client = rpcClient(endpoints.tending, buyer.token)
  elsewhere = rpcClient(endpoints.passing, buyer.token)
})
afterAll(async () => {
  clearInterval(signs)
  await other.close()
  await leader.close()
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

/** Looks until the task is over. */
async function settled(by: RpcClient, taskId: string) {
  for (let tries = 0; tries < 200; tries++) {
    const { result } = await by.get(taskId)
    if (result?.status !== 'working') return result
    await sleep(100)
  }
  throw new Error(`${taskId} does not end`)
}

describe('a run in a sandbox', () => {
  test('default: what ends soon is answered, what takes longer is a task that any replica answers', async () => {
    const short = await client.call('exec_command', { sandbox_id: sandbox, command: 'echo now' })
    expect(short.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { stdout: 'now\n', exit_code: 0, timed_out: false, task_id: null },
    })
    const begun = performance.now()
    const { result } = await client.call('exec_command', {
      sandbox_id: sandbox,
      command: 'echo begun; sleep 4; cat; echo done; exit 3',
    })
    expect(performance.now() - begun).toBeLessThan(4_000)
    expect(result).toMatchObject({
      resultType: 'task',
      taskId: expect.stringMatching(/^run_/),
      status: 'working',
      ttlMs: 3_630_000,
      pollIntervalMs: 2_000,
      createdAt: service.clock.now().toISOString(),
    })
    expect(await elsewhere.get(result.taskId)).toMatchObject({
      result: { resultType: 'complete', taskId: result.taskId, status: 'working' },
    })
    expect(await settled(elsewhere, result.taskId)).toMatchObject({
      status: 'completed',
      result: {
        resultType: 'complete',
        structuredContent: { stdout: 'begun\ndone\n', stderr: '', exit_code: 3, truncated: false },
      },
    })
    // The same again, for a client that lost the answer.
    expect((await client.get(result.taskId)).result.status).toBe('completed')
  })

  test('default: code that runs longer than any call may, with what it showed', async () => {
    const { result } = await elsewhere.call('run_code', {
      sandbox_id: sandbox,
      code: 'import time; time.sleep(3); 6 * 7',
      timeout: 3_000,
    })
    expect(result).toMatchObject({ resultType: 'task', ttlMs: 6_600_000 })
    expect((await settled(client, result.taskId)).result.structuredContent).toMatchObject({
      exit_code: 0,
      results: [{ data: { 'text/plain': '42' }, is_main: true }],
    })
  })

  test('default: called by its name it is the same', async () => {
    const by = (input: object) => elsewhere.call('call_operation', { name: 'exec_command', ...input })
    const command = (line: string) => by({ arguments: { sandbox_id: sandbox, command: line } })
    expect((await command('echo now')).result.structuredContent).toMatchObject({ stdout: 'now\n' })
    const { result } = await command('sleep 3; echo late')
    expect(result).toMatchObject({ resultType: 'task', status: 'working' })
    expect((await settled(client, result.taskId)).result.structuredContent).toMatchObject({
      ...{ stdout: 'late\n', exit_code: 0 },
    })
    expect((await by({ arguments: { sandbox_id: sandbox } })).result).toMatchObject({ isError: true })
    expect((await by({ arguments: 'none' })).result).toMatchObject({ isError: true })
  })

  test('behavior: its own timeout ends it, and of a large output it shows as much as any tool', async () => {
    const slow = await client.call('exec_command', { sandbox_id: sandbox, command: 'sleep 60', timeout: 3 })
    expect((await settled(client, slow.result.taskId)).result.structuredContent).toMatchObject({
      exit_code: null,
      timed_out: true,
    })
    const large = await client.call('exec_command', {
      sandbox_id: sandbox,
      command: 'sleep 2.5; head -c 900000 /dev/zero | tr "\\\\0" x',
    })
    const { structuredContent } = (await settled(client, large.result.taskId)).result
    expect(structuredContent).toMatchObject({ truncated: true, task_id: expect.stringMatching(/^tsk_/) })
    expect(structuredContent.stdout).toMatch(/^x{30000,33000}$/)
    expect(structuredContent.next_steps[0].tool).toBe('get_task')
  })

  test('behavior: in the background on demand, it is answered at once, as ever', async () => {
    const { result } = await client.call('exec_command', {
      sandbox_id: sandbox,
      command: 'sleep 60',
      background: true,
    })
    expect(result.structuredContent.task_id).toMatch(/^tsk_/)
    const { task_id } = result.structuredContent
    await client.call('kill_task', { sandbox_id: sandbox, task_id })
  })

  test('behavior: tasks/cancel reaches the work, from any replica', async () => {
    const mark = join(folder, 'cancelled')
    const { result } = await client.call('exec_command', {
      sandbox_id: sandbox,
      command: `sleep 6; echo late > ${mark}`,
      timeout: 60,
    })
    expect(await elsewhere.cancel(result.taskId)).toMatchObject({ result: { resultType: 'complete' } })
    expect((await settled(client, result.taskId)).result.structuredContent).toMatchObject({ exit_code: null })
    await sleep(5_000)
    await expect(readFile(mark)).rejects.toThrow('ENOENT')
    // Ended is ended.
    expect(await client.cancel(result.taskId)).toMatchObject({ result: { resultType: 'complete' } })
  })

  test('error: of a sandbox that has ended, the task ends with what the call would have said', async () => {
    const mine = await buyer.sandbox()
    const { result } = await client.call('exec_command', { sandbox_id: mine, command: 'sleep 50' })
    await buyer.kill(mine)
    const ended = await settled(client, result.taskId)
    expect(ended).toMatchObject({ status: 'completed', result: { isError: true } })
    expect(JSON.parse(ended.result.content[0].text).code).toBe('sandbox_not_running')
  })
})

describe('a wait', () => {
  test('default: for a VPS: the task is over when SSH answers, and has the password once', async () => {
    const { result: order } = await client.call('order_vps', { product: 'nano', os_id: 1 })
    const { id } = order.structuredContent.service
    const { result } = await client.call('get_vps_status', { service_id: id, wait: 'ssh_ready', timeout: 50 })
    expect(result).toMatchObject({ resultType: 'task', taskId: expect.stringMatching(/^wait_/) })
    expect((await elsewhere.get(result.taskId)).result).toMatchObject({
      status: 'working',
      statusMessage: 'provisioning',
    })
    await service.reconcile()
    const done = await settled(elsewhere, result.taskId)
    expect(done.result.structuredContent).toMatchObject({
      ssh_ready: true,
      root_password: expect.any(String),
    })

    const { result: change } = await client.call('power_vps', { service_id: id, action: 'reboot' })
    const { operation } = change.structuredContent
    const work = await client.call('get_operation', { operation_id: operation.id, wait: 'done' })
    await service.reconcile()
    expect((await settled(elsewhere, work.result.taskId)).result.structuredContent).toMatchObject({
      id: operation.id,
      status: 'succeeded',
    })
  })

  test('default: for a payment; what has come already is answered at once', async () => {
    const { result: topup } = await client.call('topup_balance', { amount: 5 })
    const invoice_id = topup.structuredContent.invoice.id
    const { result } = await client.call('get_invoice', { invoice_id, wait: 'paid' })
    expect((await elsewhere.get(result.taskId)).result).toMatchObject({
      status: 'working',
      statusMessage: 'unpaid',
    })
    await client.call('cancel_invoice', { invoice_id })
    expect((await settled(elsewhere, result.taskId)).result.structuredContent.status).toBe('cancelled')
    const again = await client.call('get_invoice', { invoice_id, wait: 'paid' })
    expect(again.result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'cancelled' } })
  })

  test('behavior: after its time it ends with the answer that there is', async () => {
    const { result } = await client.call('get_sandbox', { sandbox_id: sandbox, wait: 'ended' })
    service.clock.advance(3_599_000)
    expect((await client.get(result.taskId)).result.status).toBe('working')
    service.clock.advance(1_000)
    expect((await client.get(result.taskId)).result).toMatchObject({
      status: 'completed',
      result: { structuredContent: { state: 'running' } },
    })
  })
})

describe('who may see a task', () => {
  test('error: not another account, nobody without a token, and none that was changed: all the same', async () => {
    const stranger = rpcClient(endpoints.tending, (await service.customer()).token)
    const { result } = await client.call('exec_command', { sandbox_id: sandbox, command: 'sleep 20' })
    const ids = [
      result.taskId,
      `wait_${result.taskId.slice(4)}`,
      `${result.taskId.slice(0, -2)}AA`,
      'run_',
      'nothing',
      '',
    ]
    const unknown = { error: { code: -32602 } }
    for (const id of ids.slice(1)) expect(await client.get(id), id).toMatchObject(unknown)
    for (const by of [stranger, rpcClient(endpoints.tending)]) {
      expect(await by.get(result.taskId)).toMatchObject(unknown)
      expect(await by.cancel(result.taskId)).toMatchObject(unknown)
      expect(await by.ask('tasks/update', { taskId: result.taskId, inputResponses: {} })).toMatchObject(
        unknown,
      )
    }
    expect((await client.get(result.taskId)).result.status).toBe('working')
    expect(await client.ask('tasks/update', { taskId: result.taskId, inputResponses: {} })).toMatchObject({
      result: { resultType: 'complete' },
    })
    await client.cancel(result.taskId)
  })

  test('error: a client without the extension is told so, and gets answers instead of tasks', async () => {
    const plain = rpcClient(endpoints.tending, buyer.token, { takesTasks: false })
    const needs = { code: -32021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } }
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      expect(await plain.ask(method, { taskId: 'run_x' })).toMatchObject({ error: needs })
    const { result } = await plain.call('exec_command', {
      sandbox_id: sandbox,
      command: 'sleep 3; echo waited',
    })
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { stdout: 'waited\n' } })
  })

  test('behavior: a token among the arguments makes no task, since none could be asked for', async () => {
    const { result } = await rpcClient(endpoints.tending).call('exec_command', {
      sandbox_id: sandbox,
      command: 'sleep 3; echo waited',
      access_token: buyer.token,
    })
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { stdout: 'waited\n' } })
  })
})

test('default: the official client of tasks runs a command through its whole life', async () => {
  const official = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { extensions: { [TASKS]: {} } } },
  )
  await official.connect(
    new StreamableHTTPClientTransport(new URL(endpoints.tending), {
      requestInit: { headers: { authorization: `Bearer ${buyer.token}` } },
    }),
  )
  expect(official.getServerCapabilities()?.extensions).toHaveProperty([TASKS])
  const raw = rpcClient(endpoints.passing, buyer.token)
  const session = await createTaskSessionFromClient(official, {
    endpointId: 'test',
    v2RequestFraming: {
      protocolVersion: '2026-07-28',
      clientInfo: { name: 'test', version: '1' },
      clientCapabilities: { extensions: { [TASKS]: {} } },
    },
    rawDispatch: async (request: unknown) => {
      const { method, params } = request as { method: string; params: Record<string, unknown> }
      const { result, error } = await raw.ask(method, params)
      return error ? { kind: 'error', error } : { kind: 'result', result }
    },
  } as never)
  try {
    const execution = await session.callTool('exec_command', {
      sandbox_id: sandbox,
      command: 'sleep 3; echo 42',
    })
    const { outcome } = await execution.settle()
    expect(resultFromTaskOutcome(outcome)).toMatchObject({
      structuredContent: { stdout: '42\n', exit_code: 0 },
    })
  } finally {
    await session.close()
    await official.close()
  }
}, 60_000)
