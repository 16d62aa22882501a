import { type ErrorCode, errors } from '@coinrack/contract/errors.ts'
import { snapshot } from '@coinrack/server/database/testing.ts'
import { type Reply, startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectError } from './support/expect-error.ts'

/*
 * Input about sandboxes that is sent by mistake or by malice: each gets the whole error body, and changes nothing.
 */

let service: TestService
let owner: { token: string; accountId: string }
let poor: { token: string; accountId: string }
let stranger: { token: string; accountId: string }
let running: string
let paused: string
let ended: string
let task: string

beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_SANDBOXES: '1000000/min', COINRACK_RATE_DEFAULT: '1000000/min' },
  })
  owner = await service.customer(50_000_000n)
  stranger = await service.customer(50_000_000n)
  poor = await service.customer(100n)
  const made = async () => (await create({ timeout: 3600, idle_timeout: 0 })).body.id as string
  ;[running, paused, ended] = [await made(), await made(), await made()]
  await service.ask('POST', `/sandboxes/${paused}/pause`, { token: owner.token })
  await service.ask('DELETE', `/sandboxes/${ended}`, { token: owner.token })
  task = (await inside('POST', '/exec', { command: 'sleep 60', background: true })).body.task_id
})
afterAll(() => service.close())

const create = (body: unknown, { token } = owner) => service.ask('POST', '/sandboxes', { token, body })
const inside = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
  service.ask(method, `/sandboxes/${running}${path}`, {
    token: owner.token,
    ...(body !== undefined && { body }),
  })
const of = (id: string, path: string, body: unknown = {}) =>
  service.ask('POST', `/sandboxes/${id}${path}`, { token: owner.token, body })

type Case = [what: string, code: ErrorCode, send: () => Promise<Reply>]
const cases: Case[] = [
  ['an unknown tariff', 'invalid_input', () => create({ tariff: 'huge' })],
  ['an unknown template', 'unknown_template', () => create({ template: 'windows' })],
  ['a template that is a path', 'unknown_template', () => create({ template: '../../etc' })],
  ['a snapshot that is not there', 'unknown_template', () => create({ template: `snp_${'0'.repeat(26)}` })],
  ['an unknown mode', 'invalid_input', () => create({ mode: 'eternal' })],
  ['a timeout of nothing', 'invalid_input', () => create({ timeout: 0 })],
  ['a timeout below zero', 'invalid_input', () => create({ timeout: -1 })],
  ['half a second', 'invalid_input', () => create({ timeout: 0.5 })],
  ['a timeout of more than a day', 'invalid_input', () => create({ timeout: 86_401 })],
  ['a timeout that is a text', 'invalid_input', () => create({ timeout: '300' })],
  ['an idle timeout below zero', 'invalid_input', () => create({ idle_timeout: -1 })],
  ['a variable without a name', 'invalid_input', () => create({ env: { '': 'x' } })],
  ['a variable with = in its name', 'invalid_input', () => create({ env: { 'A=B': 'x' } })],
  ['a variable with a null byte', 'invalid_input', () => create({ env: { A: 'x\0y' } })],
  ['a variable that is a number', 'invalid_input', () => create({ env: { A: 1 } })],
  ['more variables than fit', 'invalid_input', () => create({ env: { A: 'x'.repeat(70_000) } })],
  ['metadata that are a list', 'invalid_input', () => create({ metadata: ['a'] })],
  ['metadata of 1001 characters', 'invalid_input', () => create({ metadata: { a: 'x'.repeat(1001) } })],
  ['a network that is a text', 'invalid_input', () => create({ network: 'none' })],
  ['a network with a port', 'invalid_input', () => create({ network: { allow_out: ['10.0.0.1:80'] } })],
  ['a network with a rule in it', 'invalid_input', () => create({ network: { deny_out: ['} accept'] } })],
  ['a network of 33 bits', 'invalid_input', () => create({ network: { deny_out: ['10.0.0.0/33'] } })],
  ['101 networks', 'invalid_input', () => create({ network: { deny_out: Array(101).fill('192.0.2.1') } })],
  ['a misspelt field', 'invalid_input', () => create({ time_out: 60 })],
  ['too little money for a minute', 'insufficient_balance', () => create({}, poor)],

  ['no code', 'invalid_input', () => inside('POST', '/run', { code: '' })],
  ['code with a null byte', 'invalid_input', () => inside('POST', '/run', { code: 'a\0b' })],
  ['code that is a number', 'invalid_input', () => inside('POST', '/run', { code: 1 })],
  ['an unknown language', 'invalid_input', () => inside('POST', '/run', { code: '1', language: 'cobol' })],
  ['a context that is a path', 'invalid_input', () => inside('POST', '/run', { code: '1', context: '../x' })],
  ['no command', 'invalid_input', () => inside('POST', '/exec', {})],
  ['a command that is a list', 'invalid_input', () => inside('POST', '/exec', { command: ['ls'] })],
  [
    'a timeout of 51 s to wait for',
    'invalid_input',
    () => inside('POST', '/exec', { command: 'ls', timeout: 51 }),
  ],
  ['a user with a colon', 'invalid_input', () => inside('POST', '/exec', { command: 'ls', user: 'a:b' })],
  ['a task that is not there', 'not_found', () => inside('GET', '/tasks/tsk_none')],
  ['an unknown signal', 'invalid_input', () => inside('POST', `/tasks/${task}/kill`, { signal: 'SIGFOO' })],
  [
    'a terminal without rows',
    'invalid_input',
    () => inside('POST', `/tasks/${task}/input`, { terminal: { columns: 80 } }),
  ],
  ['an offset below zero', 'invalid_input', () => inside('GET', `/tasks/${task}?stdout=-1`)],

  ['a file without a path', 'invalid_input', () => inside('GET', '/files')],
  ['a path with a null byte', 'invalid_input', () => inside('GET', '/files?path=a%00b')],
  [
    'a file with two contents',
    'invalid_input',
    () => inside('PUT', '/files', { path: 'a', content: 'a', content_base64: 'YQ==' }),
  ],
  [
    'a file that is no base64',
    'invalid_input',
    () => inside('PUT', '/files', { path: 'a', content_base64: '%%%' }),
  ],
  [
    'a link for a year',
    'invalid_input',
    () => inside('POST', '/upload-url', { path: 'a', expires_in: 31_536_000 }),
  ],
  ['port 0', 'invalid_input', () => inside('POST', '/ports/0', {})],
  ['port 65536', 'invalid_input', () => inside('POST', '/ports/65536', {})],
  ['a port that is a word', 'invalid_input', () => inside('POST', '/ports/http', {})],
  ['an unknown kind of access', 'invalid_input', () => inside('POST', '/ports/8000', { access: 'friends' })],
  ['another timeout of nothing', 'invalid_input', () => inside('POST', '/timeout', { timeout: 0 })],
  ['a name of 61 characters', 'invalid_input', () => inside('POST', '/snapshots', { name: 'x'.repeat(61) })],

  ['code in one that is paused', 'sandbox_not_running', () => of(paused, '/run', { code: '1' })],
  ['code in one that has ended', 'sandbox_not_running', () => of(ended, '/run', { code: '1' })],
  ['a pause of one that has ended', 'sandbox_not_running', () => of(ended, '/pause')],
  ['a resumption of one that has ended', 'sandbox_not_running', () => of(ended, '/resume')],
  ['a fork of one that has ended', 'sandbox_not_running', () => of(ended, '/fork')],
  ['a snapshot of one that has ended', 'sandbox_not_running', () => of(ended, '/snapshots')],
  ['one that is not there', 'not_found', () => of(`sbx${'0'.repeat(26)}`, '/run', { code: '1' })],
  ['one that can be none', 'not_found', () => of("x' or '1'='1", '/run', { code: '1' })],
]

test.each(cases)('error: %s: %s', async (_what, code, send) => {
  const before = await snapshot(service.services.db)
  expectError(await send(), code)
  expect(await snapshot(service.services.db)).toEqual(before)
})

describe('as a tool', () => {
  const bad: [string, ErrorCode, string, () => Record<string, unknown>][] = [
    ['an unknown tariff', 'invalid_input', 'create_sandbox', () => ({ tariff: 'huge' })],
    ['an unknown template', 'unknown_template', 'create_sandbox', () => ({ template: 'windows' })],
    ['no sandbox', 'not_found', 'run_code', () => ({ code: '1' })],
    ['a sandbox that is an object', 'not_found', 'exec_command', () => ({ sandbox_id: {}, command: 'ls' })],
    ['a sandbox of another', 'not_owner', 'kill_sandbox', () => ({ sandbox_id: running })],
    ['code in that of another', 'not_owner', 'run_code', () => ({ sandbox_id: running, code: '1' })],
  ]
  test.each(bad)('error: %s: %s', async (_what, code, name, input) => {
    const before = await snapshot(service.services.db)
    const { isError, body } = await service.tool(name, input(), { token: stranger.token })
    expect(isError).toBe(true)
    expectError({ status: errors[code].status, body }, code)
    expect(await snapshot(service.services.db)).toEqual(before)
  })
})
