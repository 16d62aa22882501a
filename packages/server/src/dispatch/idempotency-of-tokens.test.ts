import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestService, type TestService } from '../process/testing.ts'

/* An idempotency key belongs to the token that presents it: no other token of the account is given its answer. */

let service: TestService
let email: string
let token: string
let tokenId: string
let accounts = 0
beforeAll(async () => {
  service = await startTestService({
    features: ['guestCommands'],
    env: {
      COINRACK_RATE_LOGIN: '1000/min',
      COINRACK_RATE_REGISTER: '1000/min',
      COINRACK_RATE_ORDERS: '1000/min',
    },
  })
})
afterAll(() => service.close())
beforeEach(async () => {
  email = `owner${++accounts}@rackmail.net`
  const { body } = await service.ask('POST', '/auth/register', { body: { email } })
  token = body.token
  tokenId = await idOf(token)
  await service.credit(body.account.id, 10_000_000n)
})

const KEY = 'the same key'
const post = (path: string, by: string, body: object = {}, key = KEY) =>
  service.ask('POST', path, { token: by, body, headers: { 'idempotency-key': key } })
const idOf = async (by: string): Promise<string> =>
  (await service.ask('GET', '/account', { token: by })).body.token.id
const child = async (of: string, body: object = {}): Promise<{ token: string; id: string }> => {
  const made = await service.ask('POST', '/tokens', { token: of, body })
  return { token: made.body.token, id: made.body.details.id }
}
/** By a code of the mailbox: the first of an account proves it, and puts older tokens under an umbrella. */
async function login(): Promise<string> {
  await service.ask('POST', '/auth/otp/request', { body: { email } })
  const code = /\b\d{6}\b/.exec(service.mails.at(-1)!.text)![0]
  return (await service.ask('POST', '/auth/otp/verify', { body: { email, code } })).body.token
}
const isReplay = ({ headers }: Awaited<ReturnType<typeof post>>) => headers['idempotent-replayed'] === 'true'

test('error: a read-only child that repeats the key of its parent is given no token of it', async () => {
  const reader = await child(token, { scopes: ['read'] })
  const refreshed = await post('/auth/refresh', token)
  const own = await post('/auth/refresh', reader.token)
  expect(isReplay(own)).toBe(false)
  expect(own.body.token).not.toBe(refreshed.body.token)
  expect(own.body.token_id).toBe(reader.id)

  const made = await post('/tokens', refreshed.body.token, {}, 'another key')
  const refused = await post('/tokens', own.body.token, {}, 'another key')
  expect(refused).toMatchObject({ status: 403, body: { code: 'scope_missing' } })
  expect(JSON.stringify(refused.body)).not.toContain(made.body.token)
})

test('behavior: parent, child and sibling with the same key and input each have an answer of their own', async () => {
  const [one, other] = [await child(token), await child(token)]
  const below = await child(one.token)
  const tokens = [token, one.token, other.token, below.token, await login()]
  const replies = []
  for (const by of tokens) replies.push(await post('/tokens', by, { name: 'made' }))
  expect(replies.map(({ status }) => status)).toEqual(tokens.map(() => 200))
  expect(replies.filter(isReplay)).toEqual([])
  expect(new Set(replies.map(({ body }) => body.token)).size).toBe(tokens.length)
  // Each repeats its own.
  for (const [index, by] of tokens.entries()) {
    const again = await post('/tokens', by, { name: 'made' })
    expect(isReplay(again)).toBe(true)
    expect(again.body).toEqual(replies[index]!.body)
  }
})

test('behavior: nor do they keep each other waiting, or hear that the other asked for something else', async () => {
  const { token: below } = await child(token)
  const both = await Promise.all([
    post('/orders', token, { product: 'nano', os_id: 1 }),
    post('/orders', below, { product: 'nano', os_id: 1, hostname: 'other' }),
  ])
  expect(both.map(({ status }) => status)).toEqual([200, 200])
})

test('behavior: after a refresh the new text repeats the call of the old one, and the old one still does', async () => {
  const order = await post('/orders', token, { product: 'nano', os_id: 1 })
  const refreshed = await post('/auth/refresh', token, {}, 'refresh')
  for (const by of [token, refreshed.body.token]) {
    const again = await post('/orders', by, { product: 'nano', os_id: 1 })
    expect(isReplay(again)).toBe(true)
    expect(again.body).toEqual(order.body)
    expect((await post('/auth/refresh', by, {}, 'refresh')).body).toEqual(refreshed.body)
  }
})

test('behavior: the first proof and a confirmation between call and repeat change nothing of it', async () => {
  const order = await post('/orders', token, { product: 'nano', os_id: 1 })
  const owner = await login()
  const afterProof = await post('/orders', token, { product: 'nano', os_id: 1 })
  expect(isReplay(afterProof)).toBe(true)
  expect(afterProof.body).toEqual(order.body)

  const name = await service.ask('PATCH', `/tokens/${tokenId}`, {
    token,
    body: { name: 'agent' },
    headers: { 'idempotency-key': 'name' },
  })
  expect((await service.ask('POST', `/tokens/${tokenId}/confirm`, { token: owner, body: {} })).status).toBe(
    200,
  )
  const afterConfirmation = await post('/orders', token, { product: 'nano', os_id: 1 })
  expect(isReplay(afterConfirmation)).toBe(true)
  expect(afterConfirmation.body).toEqual(order.body)
  expect(name.status).toBeLessThan(500)
  expect((await service.ask('GET', '/orders/list', { token: owner })).body).toHaveLength(1)
})

test('behavior: what runs outside of a transaction is noted for its token alone', async () => {
  const { body } = await post('/orders', token, { product: 'nano', os_id: 1 })
  await service.reconcile()
  const { token: below } = await child(token)
  const exec = (by: string) => post(`/services/${body.service_id}/exec`, by, { command: 'echo x' }, 'run')
  const both = await Promise.all([exec(token), exec(below)])
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  expect(both.filter(isReplay)).toEqual([])
})

test('error: an answer that was moved to another token in the database cannot be opened', async () => {
  const { token: below } = await child(token)
  const { db } = service.services
  await db.query('delete from idempotent_answer')
  for (const by of [token, below]) await post('/tokens', by, { name: 'made' })
  const { rowCount } = await db.query(
    `update idempotent_answer mine set answer = other.answer
     from idempotent_answer other where other.key_hash <> mine.key_hash`,
  )
  expect(rowCount).toBe(2)
  expect((await post('/tokens', below, { name: 'made' })).status).toBe(500)
})
