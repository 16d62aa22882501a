import { setTimeout as sleep } from 'node:timers/promises'
import { basePath } from '@coinrack/contract/index.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'
import { type Buyer, buyerOf } from '../sandboxes/life/testing.ts'

let service: TestService
let buyer: Buyer
let url: string
let id: string
beforeAll(async () => {
  service = await startTestService()
  url = await service.app.listen({ host: '127.0.0.1', port: await freePort() })
  buyer = await buyerOf(service)
  id = await buyer.sandbox()
})
afterAll(() => service.close())

interface Told {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
  data: any
}

async function open(path: string, body?: object, signal?: AbortSignal) {
  const response = await fetch(`${url}${basePath}/sandboxes/${id}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${buyer.token}`,
      accept: 'text/event-stream',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  async function* events(): AsyncGenerator<Told> {
    let text = ''
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece
      for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
        const match = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, at))
        text = text.slice(at + 2)
        if (match) yield { event: match[1]!, data: JSON.parse(match[2]!) }
      }
    }
  }
  return { response, events }
}

test('default: outputs come as they are written, and last the answer', async () => {
  const { response, events } = await open('/exec', { command: 'echo one; sleep 0.5; echo zwö >&2; exit 4' })
  expect(response.headers.get('content-type')).toMatch('text/event-stream')
  const told: (Told & { at: number })[] = []
  for await (const each of events()) told.push({ ...each, at: performance.now() })
  expect(told.map(({ event, data }) => [event, data.text])).toEqual([
    ['stdout', 'one\n'],
    ['stderr', 'zwö\n'],
    ['end', undefined],
  ])
  expect(told[1]!.at - told[0]!.at).toBeGreaterThan(300)
  expect(told.at(-1)!.data).toMatchObject({ exit_code: 4, timed_out: false, stdout: '', stderr: '' })
})

/** Code that shows a value, and another one a second later. */
const SHOWS = `import time
display(1)
time.sleep(1)
2`
const shown = (text: string, is_main: boolean) => ({ data: { 'text/plain': text }, is_main })

test('default: code, with each result when it is shown, and all of them at the end', async () => {
  const { events } = await open('/run', { code: SHOWS })
  const told = await Array.fromAsync(events(), (each) => ({ ...each, at: performance.now() }))
  expect(told.map(({ event }) => event)).toEqual(['result', 'result', 'end'])
  expect(told.map(({ data }) => data).slice(0, 2)).toEqual([shown('1', false), shown('2', true)])
  expect(told[1]!.at - told[0]!.at).toBeGreaterThan(700)
  expect(told[2]!.data.results).toEqual([shown('1', false), shown('2', true)])
})

test('behavior: a slow reader slows the task down, and loses nothing', async () => {
  const { response, events } = await open('/exec', {
    command: `for i in $(seq 400); do head -c 100000 /dev/zero | tr '\\0' x; done; echo END`,
    timeout: 120,
  })
  expect(response.status).toBe(200)
  await sleep(1500)
  // It cannot have ended: the forty megabytes that it writes are unread.
  const { body: tasks } = await buyer.ask('GET', `/sandboxes/${id}/tasks`)
  expect(tasks).toMatchObject([{ running: true }])
  let [length, last] = [0, '']
  for await (const { event, data } of events()) {
    if (event !== 'stdout') continue
    length += data.text.length
    last = data.text
  }
  expect(length).toBe(40_000_004)
  expect(last.endsWith('END\n')).toBe(true)
})

test('behavior: whoever hangs up ends what nobody else can read', async () => {
  const hangUp = new AbortController()
  const { events } = await open(
    '/exec',
    { command: 'echo begun; sleep 77; true', timeout: 300 },
    hangUp.signal,
  )
  for await (const { data } of events()) {
    expect(data.text).toBe('begun\n')
    break
  }
  hangUp.abort()
  for (let tries = 0; tries < 100; tries++) {
    const { body: tasks } = await buyer.ask('GET', `/sandboxes/${id}/tasks`)
    if (tasks.length === 0) return
    await sleep(100)
  }
  throw new Error('It runs on')
})

test('behavior: whoever hangs up leaves what runs in the background, and can come back', async () => {
  const begun = await buyer.post(`/sandboxes/${id}/exec`, {
    command: 'echo one; read line; echo two',
    background: true,
  })
  const { task_id: task } = begun.body
  const hangUp = new AbortController()
  const first = await open(`/tasks/${task}`, undefined, hangUp.signal)
  let next = { stdout: 0 }
  for await (const { data } of first.events()) {
    expect(data.text).toBe('one\n')
    next = data.next
    break
  }
  hangUp.abort()
  await buyer.post(`/sandboxes/${id}/tasks/${task}/input`, { input: 'go\n' })
  const second = await open(`/tasks/${task}?stdout=${next.stdout}`)
  const told = await Array.fromAsync(second.events())
  expect(told.map(({ event, data }) => [event, data.text])).toEqual([
    ['stdout', 'two\n'],
    ['end', undefined],
  ])
  expect(told.at(-1)!.data).toMatchObject({ running: false, exit_code: 0 })
})

test('error: what is refused is answered as ever', async () => {
  const { response } = await open('/exec', { command: '' })
  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ code: 'invalid_input' })
})

test('behavior: results of code in the background are read on where a reader was', async () => {
  const { body } = await buyer.post(`/sandboxes/${id}/run`, { code: SHOWS, background: true })
  const hangUp = new AbortController()
  const first = await open(`/tasks/${body.task_id}`, undefined, hangUp.signal)
  let next = { results: 0 }
  for await (const { event, data } of first.events()) {
    expect([event, data.data]).toEqual(['result', { 'text/plain': '1' }])
    next = data.next
    break
  }
  hangUp.abort()
  const second = await open(`/tasks/${body.task_id}?results=${next.results}`)
  const told = await Array.fromAsync(second.events())
  expect(told.map(({ event, data }) => [event, data.next?.results])).toEqual([
    ['result', 2],
    ['end', undefined],
  ])
  expect(told[1]!.data.results).toHaveLength(2)
  const whole = await open(`/tasks/${body.task_id}`)
  expect((await Array.fromAsync(whole.events())).map(({ event }) => event)).toEqual([
    'result',
    'result',
    'end',
  ])
})
