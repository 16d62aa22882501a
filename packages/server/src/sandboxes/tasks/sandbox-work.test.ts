import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type Buyer, buyerOf } from '../life/testing.ts'

let service: TestService
let buyer: Buyer
let id: string
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_SANDBOXES: '10000/min' } })
  buyer = await buyerOf(service)
  id = await buyer.sandbox({ env: { FROM: 'create' } })
})
afterAll(() => service.close())

const post = (path: string, body: object = {}) => buyer.post(`/sandboxes/${id}${path}`, body)
const get = (path: string) => buyer.ask('GET', `/sandboxes/${id}${path}`)

describe('run_code', () => {
  test('default: outputs, and what the last expression is', async () => {
    const { status, body } = await post('/run', { code: 'print("out")\n6 * 7' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      stdout: 'out\n',
      stderr: '',
      exit_code: 0,
      timed_out: false,
      truncated: false,
      task_id: null,
      results: [{ data: { 'text/plain': '42' }, is_main: true }],
      error: null,
    })
    expect((await post('/run', { language: 'node', code: 'console.log(1)' })).body.stdout).toBe('1\n')
    expect((await post('/run', { language: 'bash', code: 'echo $FROM' })).body.stdout).toBe('create\n')
  })

  test('behavior: a context keeps what code defined; without one nothing is kept', async () => {
    await post('/run', { code: 'x = 41', context: 'python' })
    expect((await post('/run', { code: 'x + 1', context: 'python' })).body.results[0].data).toEqual({
      'text/plain': '42',
    })
    await post('/run', { code: 'x = 1', context: 'mine' })
    expect((await post('/run', { code: 'x', context: 'mine' })).body.results[0].data['text/plain']).toBe('1')
    expect((await post('/run', { code: 'x' })).body).toMatchObject({
      exit_code: 1,
      error: { name: 'NameError', traceback: expect.stringContaining('NameError') },
    })
    const other = await post('/run', { code: '1', language: 'node', context: 'mine' })
    expect([other.status, other.body.code]).toEqual([422, 'unknown_context'])
  })
})

describe('exec_command', () => {
  test('default: in a folder, with an environment and an input', async () => {
    const { body } = await post('/exec', {
      command: 'pwd | tail -c 5; echo $A; cat; exit 3',
      cwd: '/tmp',
      env: { A: 'b' },
      input: 'typed',
    })
    expect(body).toMatchObject({ stdout: '/tmp\nb\ntyped', exit_code: 3 })
  })

  test('behavior: the timeout ends it, with what it wrote before', async () => {
    const { body } = await post('/exec', { command: 'echo before; sleep 30', timeout: 0.5 })
    expect(body).toMatchObject({ stdout: 'before\n', exit_code: null, timed_out: true })
  })

  test('behavior: of more than 1 MiB the beginning is kept', async () => {
    const { body } = await post('/exec', { command: `head -c 3000000 /dev/zero | tr '\\0' x` })
    expect(body.stdout.length).toBe(1024 * 1024)
    expect(body).toMatchObject({ truncated: true, exit_code: 0 })
  })

  test.each([
    ['a folder that is not there', { command: 'true', cwd: '/none' }, 'task_refused'],
    ['a user that is not there', { command: 'true', user: 'nobody-here' }, 'task_refused'],
    ['more than 50 s for an answer', { command: 'true', timeout: 51 }, 'invalid_input'],
  ])('error: %s', async (_what, body, code) => {
    const reply = await post('/exec', body)
    expect([reply.status, reply.body.code]).toEqual([422, code])
  })

  test('behavior: nothing of a task that was answered is left', async () => {
    await post('/exec', { command: 'true' })
    expect((await get('/tasks')).body).toEqual([])
  })
})

describe('tasks in the background', () => {
  test('default: read by offsets, typed into, and killed', async () => {
    const begun = await post('/exec', {
      command: 'while read line; do echo "heard $line"; done',
      background: true,
    })
    const { task_id: task } = begun.body
    expect(task).toMatch(/^tsk_/)
    expect((await get('/tasks')).body).toMatchObject([{ id: task, running: true }])
    await post(`/tasks/${task}/input`, { input: 'one\n' })
    const first = (await get(`/tasks/${task}?timeout=5`)).body
    expect(first).toMatchObject({ running: true, stdout: 'heard one\n', next: { stdout: 10, stderr: 0 } })
    await post(`/tasks/${task}/input`, { input: 'zwö\n', end: true })
    const rest = (await get(`/tasks/${task}?timeout=5&stdout=10`)).body
    expect(rest.stdout).toBe('heard zwö\n')
    await get(`/tasks/${task}?timeout=5&stdout=${rest.next.stdout}`)
    expect((await get(`/tasks/${task}`)).body).toMatchObject({
      running: false,
      exit_code: 0,
      stdout: 'heard one\nheard zwö\n',
    })
    const late = await post(`/tasks/${task}/input`, { input: 'x' })
    expect([late.status, late.body.code]).toEqual([409, 'task_ended'])
  })

  test('default: a signal', async () => {
    const { task_id: task } = (await post('/exec', { command: 'sleep 60', background: true })).body
    expect((await post(`/tasks/${task}/kill`, { signal: 'SIGTERM' })).body).toEqual({
      task_id: task,
      signal: 'SIGTERM',
    })
    expect((await get(`/tasks/${task}?timeout=5`)).body).toMatchObject({ running: false, signal: 'SIGTERM' })
  })

  test('error: a task that nobody began', async () => {
    const { status, body } = await get('/tasks/tsk_none')
    expect([status, body.code]).toEqual([404, 'not_found'])
  })
})

describe('files', () => {
  const at = (path: string, more = '') => `/files${more}?path=${encodeURIComponent(path)}`
  const put = (path: string, body: object) => buyer.ask('PUT', `/sandboxes/${id}${at(path)}`, body)

  test('default: written with the folders on the way, read in part, listed, deleted', async () => {
    expect((await put('a/b/file.txt', { content: 'Hällo\n' })).body).toEqual({
      path: 'a/b/file.txt',
      size: 7,
    })
    expect((await get(at('a/b/file.txt'))).body).toMatchObject({ content: 'Hällo\n', size: 7, eof: true })
    expect((await get(`${at('/home/user/a/b/file.txt')}&offset=3&length=2`)).body).toMatchObject({
      content: 'll',
      eof: false,
    })
    await put('a/b/bytes', { content_base64: Buffer.from([0xff, 0x00]).toString('base64') })
    expect((await get(at('a/b/bytes'))).body).toMatchObject({ content_base64: '/wA=' })
    const listed = (await get(`${at('a', '/list')}&depth=2`)).body
    expect(listed.map((file: { path: string; type: string }) => [file.path, file.type])).toEqual([
      ['/home/user/a/b', 'folder'],
      ['/home/user/a/b/bytes', 'file'],
      ['/home/user/a/b/file.txt', 'file'],
    ])
    expect((await buyer.ask('DELETE', `/sandboxes/${id}${at('a')}`)).body).toEqual({ deleted: 'a' })
    const gone = await get(at('a/b/file.txt'))
    expect([gone.status, gone.body.code]).toEqual([404, 'file_not_found'])
  })

  test('behavior: a long list comes in pages', async () => {
    for (const name of ['1', '2', '3']) await put(`many/${name}`, { content: name })
    const first = await get(`${at('many', '/list')}&limit=2`)
    expect(first.body).toHaveLength(2)
    const [, link] = /<[^>]*(\/sandboxes[^>]*)>/.exec(String(first.headers.link))!
    expect((await buyer.ask('GET', link!)).body).toMatchObject([{ path: '/home/user/many/3' }])
  })
})

test('default: what it uses now', async () => {
  expect((await get('/metrics')).body).toMatchObject({ memory_total_mb: 512, processes: 12, vcpus: 1 })
})

test('error: an agent that does not answer', async () => {
  const silent = await buyer.sandbox({ env: { FAKE: 'no-agent' } })
  const { status, body } = await buyer.post(`/sandboxes/${silent}/exec`, { command: 'true' })
  expect([status, body.code]).toEqual([409, 'sandbox_unreachable'])
})
