import { type Duplex, duplexPair } from 'node:stream'
import { setTimeout as pass } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  type AskOperation,
  CALLS_AT_ONCE,
  type CallAnswer,
  MESSAGE_BYTES,
  MOST_CALLS,
  type Relay,
  relayCalls,
} from './relay.ts'

interface World {
  relay: Relay
  /** The other end of the connection, in the sandbox. */
  guest: Duplex
  asked: { name: string; input: Record<string, unknown>; key: unknown }[]
  /** The next answer in the sandbox. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at any part of it
  next(): Promise<any>
  send(call: object): void
}

function begin(answer: AskOperation = async () => ({ status: 200, body: {} })): World {
  const [service, guest] = duplexPair()
  const asked: World['asked'] = []
  const relay = relayCalls(service, async (name, call) => {
    asked.push({ name, input: call.input, key: call.key })
    return answer(name, call)
  })
  guest.on('error', () => {})
  const lines = readLines(guest)
  return {
    relay,
    guest,
    asked,
    next: async () => JSON.parse((await lines.next()).value!),
    send: (call) => void guest.write(`${JSON.stringify(call)}\n`),
  }
}

async function* readLines(stream: Duplex): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of stream) {
    text += chunk
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
      yield text.slice(0, at)
      text = text.slice(at + 1)
    }
  }
}

const isCut = async ({ guest }: World) => {
  for (let tries = 0; tries < 200 && !guest.closed && !guest.readableEnded; tries++) {
    guest.resume()
    await pass(5)
  }
  return guest.closed || guest.readableEnded
}
const plans = { id: 1, name: 'listPlans', input: {} }

test('default: a call names an operation by its method or its tool, and is answered with what that answers', async () => {
  const world = begin(async (name) => ({ status: 200, body: { name } }))
  world.send({ ...plans, key: 'k' })
  expect(await world.next()).toEqual({ id: 1, answer: { name: 'listPlans' } })
  world.send({ id: 2, name: 'get_balance', input: { a: 1 } })
  expect(await world.next()).toEqual({ id: 2, answer: { name: 'getBalance' } })
  expect(world.asked).toEqual([
    { name: 'listPlans', input: {}, key: 'k' },
    { name: 'getBalance', input: { a: 1 }, key: undefined },
  ])
})

test('error: a refusal is handed on as it is, and counted', async () => {
  const refused = { status: 402, body: { code: 'insufficient_balance', message: 'No' } }
  const world = begin(async () => refused)
  world.send(plans)
  expect(await world.next()).toEqual({ id: 1, error: refused.body })
  expect(world.relay.counts()).toEqual([{ operation: 'listPlans', calls: 1, failed: 1 }])
})

test.each([
  'no_such_thing',
  '__proto__',
  'constructor',
  'toString',
  '../listPlans',
  'https://example.com/',
  'listPlans\r\nHost: example.com',
  'buyVps',
  'buy_sandbox',
])('error: %j is no operation below the base path', async (name) => {
  const world = begin()
  world.send({ id: 1, name, input: {} })
  expect((await world.next()).error.code).toBe('unknown_operation')
  expect(world.asked).toEqual([])
})

test.each([
  ['no JSON', '{'],
  ['no object', '[]'],
  ['null', 'null'],
  ['no number', JSON.stringify({ ...plans, id: '1' })],
  ['no whole number', JSON.stringify({ ...plans, id: 1.5 })],
  ['no name', JSON.stringify({ ...plans, name: 1 })],
  ['no input', JSON.stringify({ id: 1, name: 'listPlans' })],
  ['a list as input', JSON.stringify({ ...plans, input: [] })],
  ['a token', JSON.stringify({ ...plans, token: 'crk_' })],
  ['a header', JSON.stringify({ ...plans, headers: {} })],
  ['HTTP', 'GET / HTTP/1.1\r'],
  ['zeros', '\0\0\0\0'],
])('error: a line that is no call ends the connection: %s', async (_what, line) => {
  const world = begin()
  world.guest.write(`${line}\n`)
  world.send({ ...plans, id: 2 })
  expect(await isCut(world)).toBe(true)
  expect(world.asked).toEqual([])
})

test('error: a line without end ends the connection', async () => {
  const world = begin()
  const written = () => world.guest.write('x'.repeat(65_536))
  for (let sent = 0; sent <= 2 * MESSAGE_BYTES && !world.guest.destroyed; sent += 65_536)
    if (!written()) await pass(1)
  expect(await isCut(world)).toBe(true)
})

test('behavior: more calls than may be answered at once wait in the sandbox', async () => {
  const waiting: ((answer: CallAnswer) => void)[] = []
  const world = begin(() => new Promise((resolve) => waiting.push(resolve)))
  for (let id = 1; id <= 50; id++) world.send({ ...plans, id })
  await pass(50)
  expect(world.asked).toHaveLength(CALLS_AT_ONCE)
  waiting[0]!({ status: 200, body: {} })
  await pass(50)
  expect(world.asked).toHaveLength(CALLS_AT_ONCE + 1)
  await world.relay.end()
  for (const resolve of waiting) resolve({ status: 200, body: {} })
  await pass(50)
  expect(world.asked).toHaveLength(CALLS_AT_ONCE + 1)
})

test('error: calls beyond the limit of a run are not asked', async () => {
  const world = begin()
  world.guest.resume()
  for (let id = 1; id <= 3 * MOST_CALLS; id++) {
    world.send({ ...plans, id })
    if (id % 100 === 0) await pass(1)
  }
  expect(await isCut(world)).toBe(true)
  expect(world.asked).toHaveLength(MOST_CALLS)
})

test('error: an answer that is too large is not sent', async () => {
  const world = begin(async () => ({ status: 200, body: { text: 'x'.repeat(MESSAGE_BYTES) } }))
  world.send(plans)
  expect((await world.next()).error).toMatchObject({ code: 'answer_too_large', fix: expect.any(String) })
})

test('behavior: who does not read its answers is asked for nothing more', async () => {
  const world = begin(async () => ({ status: 200, body: { text: 'x'.repeat(500_000) } }))
  for (let id = 1; id <= 100; id++) world.send({ ...plans, id })
  await pass(200)
  expect(world.asked.length).toBeLessThanOrEqual(CALLS_AT_ONCE + 2)
  await world.relay.end()
})

test('behavior: after the end nothing is asked', async () => {
  const world = begin()
  await world.relay.end()
  world.send(plans)
  expect(await isCut(world)).toBe(true)
  expect(world.asked).toEqual([])
})

test('error: what fails to be asked ends the connection, and no process', async () => {
  const world = begin(async () => {
    throw new Error('scripted')
  })
  world.send(plans)
  expect(await isCut(world)).toBe(true)
})
