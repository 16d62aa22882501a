import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { GuestChannel, GuestError } from '../ports/guest-channel.ts'
import { makeVpsId } from '../testing.ts'
import { type FakeAgent, startFakeAgent } from './fake-agent.ts'
import { createAgentChannel } from './guest-channel.ts'

const SYNC_MS = 300
let folder: string
let agent: FakeAgent
let channel: GuestChannel
let id: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-'))
  agent = await startFakeAgent(join(folder, 'socket'))
  channel = createAgentChannel(
    () => join(folder, 'socket'),
    { bytes: (length) => randomBytes(length) },
    SYNC_MS,
  )
  id = makeVpsId()
})
afterEach(async () => {
  await agent.close()
  await rm(folder, { recursive: true })
})

const run = (command: string) => channel.exec(id, { command, cwd: '/tmp', timeoutMs: 5_000 })
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: GuestError) => error.code,
  )

test('default: a command through the protocol', async () => {
  expect(await run('printf "%s" "ü\\n"; exit 7')).toMatchObject({ stdout: 'ü\\n', exitCode: 7 })
})

test('default: what the kernel counts, without a program that is started for it', async () => {
  agent.lies.set('guest-exec', undefined)
  const { memoryUsedBytes, cpu } = await channel.usage(id)
  expect(memoryUsedBytes).toBeGreaterThan(0)
  expect(memoryUsedBytes).toBeLessThan(totalmem())
  expect(cpu.busyMs).toBeGreaterThan(0)
  expect(cpu.busyMs).toBeLessThan(cpu.totalMs)
})

test('behavior: what an earlier talker left is gone over', async () => {
  agent.greeting = Buffer.from(
    '{"return": {"old": true}}\n\xff{"return": 5}\n{half a li\xff\xffne\n',
    'latin1',
  )
  expect(await run('echo new')).toMatchObject({ stdout: 'new\n' })
})

test('behavior: many commands at the same moment are one talker at a time', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => run(`echo ${index}`)))
  expect(answers.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 8 }, (_, index) => `${index}\n`))
  // The end of one may be noticed just after the beginning of the next.
  expect(agent.mostTalkers()).toBeLessThanOrEqual(2)
})

test('behavior: a program that is left behind and holds the output does not hold the answer for ever', async () => {
  const answer = await channel.exec(id, { command: 'sleep 20 & echo on', cwd: '/tmp', timeoutMs: 500 })
  expect(answer).toMatchObject({ timedOut: true })
  expect(answer.durationMs).toBeLessThan(6_000)
})

test('error: an agent that says nothing is away, and soon known to be', async () => {
  agent.lies.set('guest-sync-delimited', undefined)
  const begun = performance.now()
  expect(await codeOf(run('true'))).toBe('guest_away')
  expect(await channel.alive(id)).toBe(false)
  expect(performance.now() - begun).toBeLessThan(4 * SYNC_MS)
})

test('error: nobody at the socket', async () => {
  await agent.close()
  expect(await codeOf(run('true'))).toBe('guest_away')
})

const status = (fields: object) => `${JSON.stringify({ return: { exited: true, ...fields } })}\n`
test.each<[string, string, string | Buffer]>([
  ['no JSON', 'guest-exec', 'hello\n'],
  ['a list', 'guest-exec', '[]\n'],
  ['no process id', 'guest-exec', '{"return": {}}\n'],
  ['a process id that is text', 'guest-exec', '{"return": {"pid": "1"}}\n'],
  ['an error', 'guest-exec', '{"error": {"desc": "not allowed"}}\n'],
  ['a status that is none', 'guest-exec-status', '{"return": 1}\n'],
  ['no exit code', 'guest-exec-status', status({})],
  ['an output that is no text', 'guest-exec-status', status({ exitcode: 0, 'out-data': 5 })],
  ['an endless line', 'guest-exec-status', Buffer.alloc(6_000_000, 'x')],
])('error: an agent that answers %s', async (_what, command, lie) => {
  agent.lies.set(command, lie)
  expect(await codeOf(run('true'))).toBe('guest_failed')
})

test('error: a flood before the answer', async () => {
  agent.greeting = Buffer.alloc(6_000_000, 'x')
  expect(await codeOf(run('true'))).toBe('guest_failed')
})

test('error: more of a file than was asked for, or no size', async () => {
  const read = () => channel.readFile(id, '/etc/hostname', { offset: 0, length: 2 })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  agent.lies.set(
    'guest-exec-status',
    status({ exitcode: 0, 'out-data': base64('xxx'), 'err-data': base64('3\n') }),
  )
  expect(await codeOf(read())).toBe('guest_failed')
  agent.lies.set(
    'guest-exec-status',
    status({ exitcode: 0, 'out-data': base64('xx'), 'err-data': base64('-1\n') }),
  )
  expect(await codeOf(read())).toBe('guest_failed')
})
