import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { type ScriptedReply, scriptedWorld } from './testing.ts'

const url = 'https://vps.example.net'
const plans = { body: [] }
const reset = new TypeError('fetch failed', { cause: new Error('read ECONNRESET') })
const refusal = (status: number, code: string, headers: Record<string, string> = {}) => ({
  status,
  body: { message: code, code, fix: '', next_steps: [], request_id: 'r' },
  headers,
})
const review = { rating: 5, body: 'Good' }
const sent = { body: { id: 'rev_1', status: 'pending' } }

function client(replies: ScriptedReply[], retry = {}) {
  const world = scriptedWorld(replies)
  return { world, sdk: createClient({ url, token: 'crk_x', retry, ...world }) }
}

test('default: 429 and 503 wait for Retry-After, then go on', async () => {
  const { sdk, world } = client([
    refusal(429, 'rate_limited', { 'retry-after': '7' }),
    refusal(503, 'capacity', { 'retry-after': '2' }),
    plans,
  ])
  expect(await sdk.listPlans()).toEqual({ items: [] })
  expect(world.pauses).toEqual([7_000, 2_000])
})

test('behavior: where a proxy dropped the header, the body says how long to wait', async () => {
  const told = refusal(503, 'sandboxes_unavailable')
  const { sdk, world } = client([{ ...told, body: { ...told.body, retry_after: 3 } }, plans])
  await sdk.listPlans()
  expect(world.pauses).toEqual([3_000])
  const long = client([{ ...told, body: { ...told.body, retry_after: 3600 } }])
  await expect(long.sdk.listPlans()).rejects.toMatchObject({ retryAfter: 3600 })
  expect(long.world.pauses).toEqual([])
})

test('behavior: a read is repeated after a broken connection, each pause twice as long', async () => {
  const { sdk, world } = client([reset, reset, { status: 502, text: 'Bad gateway' }, plans])
  await sdk.listPlans()
  expect(world.pauses).toEqual([250, 500, 1000])
})

test('behavior: a repeated write carries the same key, so that it runs once', async () => {
  const { sdk, world } = client([reset, refusal(409, 'idempotency_running'), sent])
  expect(await sdk.submitReview(review)).toEqual({ id: 'rev_1', status: 'pending' })
  const keys = world.requests.map((request) => request.headers['idempotency-key'])
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
})

test('behavior: chance takes up to half of a pause away', async () => {
  const world = scriptedWorld([reset, plans])
  await createClient({ url, ...world, randomBytes: (length) => new Uint8Array(length).fill(255) }).listPlans()
  expect(world.pauses[0]).toBeGreaterThan(125)
  expect(world.pauses[0]).toBeLessThan(126)
})

test('error: after the last attempt the failure is thrown', async () => {
  const broken = client([reset, reset], { attempts: 2 })
  await expect(broken.sdk.listPlans()).rejects.toThrow('ECONNRESET')
  const limited = client(
    [refusal(429, 'rate_limited'), refusal(429, 'rate_limited', { 'retry-after': '1' })],
    {
      attempts: 2,
    },
  )
  await expect(limited.sdk.listPlans()).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 1 })
  expect(limited.world.requests).toHaveLength(2)
})

test('error: told to wait longer than it may, the call fails at once and says how long', async () => {
  const { sdk, world } = client([refusal(429, 'rate_limited', { 'retry-after': '3600' })])
  await expect(sdk.listPlans()).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 3600 })
  expect(world.pauses).toEqual([])
})

test('error: a registration is not repeated after a broken connection: it may have been made', async () => {
  const { sdk, world } = client([reset])
  await expect(sdk.registerAccount({ email: 'agent@rackmail.net' })).rejects.toThrow('ECONNRESET')
  expect(world.requests).toHaveLength(1)
})

test('error: other refusals are thrown at once', async () => {
  const { sdk, world } = client([refusal(409, 'review_exists')])
  await expect(sdk.submitReview(review)).rejects.toMatchObject({ code: 'review_exists' })
  expect(world.requests).toHaveLength(1)
})

test('error: a signal ends the waiting with its own reason', async () => {
  const { sdk } = client([refusal(503, 'capacity')])
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(sdk.listPlans({}, { signal })).rejects.toThrow('enough')
})
