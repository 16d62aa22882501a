import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sendQueuedMail } from '../platform/queue-mail.ts'
import { startTestService, type TestService } from '../process/testing.ts'

const password = 'of whoever came first'

let service: TestService
let email: string
let agent: string
let accountId: string
let count = 0
beforeAll(async () => {
  service = await startTestService({
    env: { COINRACK_RATE_LOGIN: '1000/min', COINRACK_RATE_REGISTER: '1000/min' },
  })
})
afterAll(() => service.close())
beforeEach(async () => {
  email = `owner${++count}@rackmail.net`
  const { body } = await service.ask('POST', '/auth/register', { body: { email } })
  agent = body.token
  accountId = body.account.id
})

/** The owner logs in by a code. */
async function prove() {
  // Tokens are newer than those before.
  service.clock.advance(1)
  await service.ask('POST', '/auth/otp/request', { body: { email } })
  const code = /\b\d{6}\b/.exec(service.mails.at(-1)!.text)![0]
  return (await service.ask('POST', '/auth/otp/verify', { body: { email, code } })).body
}
const create = async (by: string, body: object = {}) => {
  service.clock.advance(1)
  return (await service.ask('POST', '/tokens', { token: by, body })).body
}
const whoami = async (by: string) => (await service.ask('GET', '/account', { token: by })).body
const order = (by: string) =>
  service.ask('POST', '/orders', { token: by, body: { product: 'nano', os_id: 1 } })
const confirm = (id: string, by: string) =>
  service.ask('POST', `/tokens/${id}/confirm`, { token: by, body: {} })

test('default: the tokens from before are named in the answer, in whoami, in the list, and in a mail', async () => {
  const child = await create(agent)
  const { id } = (await whoami(agent)).token
  const session = await prove()
  expect(session.unconfirmed_tokens).toEqual([id])
  const me = await whoami(session.token)
  expect(me).toMatchObject({ unconfirmed_tokens: [id], token: { unconfirmed: false, parent_id: null } })
  const list = (await service.ask('GET', '/tokens', { token: session.token })).body
  expect(list.map((token: { id: string; unconfirmed: boolean }) => [token.id, token.unconfirmed])).toEqual([
    [me.token.id, false],
    [child.details.id, true],
    [id, true],
  ])
  await sendQueuedMail(service.services)
  expect(service.mails.at(-1)).toMatchObject({ to: email, subject: '1 access token to confirm' })
  expect(service.mails.at(-1)!.text).toContain('revoke_token')
})

test('behavior: they share the balance of that moment, and what comes later is not theirs', async () => {
  await service.credit(accountId, 7_000_000n)
  const other = (await create(agent)).token
  const { token } = await prove()
  await service.credit(accountId, 50_000_000n)
  expect([(await order(agent)).status, (await order(other)).status]).toEqual([200, 200])
  const { id } = (await whoami(agent)).token
  for (const by of [agent, other]) {
    expect((await order(by)).body).toMatchObject({
      code: 'budget_exceeded',
      cap: 'total',
      limit: '7.00',
      used: '6.00',
      short_by: '2.00',
      raised_by: { token_id: null, tool: 'confirm_token', arguments: { token_id: id } },
    })
  }
  expect((await whoami(agent)).token.budget).toMatchObject({ total: '7.00' })
  expect((await order(token)).status).toBe(200)
})

test('behavior: confirmed, a token is whole again, and its children with it', async () => {
  const child = await create(agent, { scopes: ['order', 'read'] })
  const { id } = (await whoami(agent)).token
  const { token } = await prove()
  await service.credit(accountId, 20_000_000n)
  expect((await order(child.token)).status).toBe(403)
  expect((await confirm(child.details.id, token)).body).toMatchObject({ code: 'token_not_below' })
  const { status, body } = await confirm(id, token)
  expect([status, body.details]).toMatchObject([
    200,
    { id, unconfirmed: false, budget: null, parent_id: null },
  ])
  expect((await whoami(token)).unconfirmed_tokens).toEqual([])
  expect([(await order(child.token)).status, (await order(agent)).status]).toEqual([200, 200])
  expect((await confirm(id, token)).status).toBe(200)
})

test('behavior: revoked, it ends with its children; the others and the owner stay', async () => {
  const child = await create(agent)
  const { id } = (await whoami(agent)).token
  const { token } = await prove()
  await service.ask('DELETE', `/tokens/${id}`, { token, body: {} })
  const statusOf = async (by: string) => (await service.ask('GET', '/balance', { token: by })).status
  expect(await Promise.all([agent, child.token, token].map(statusOf))).toEqual([401, 401, 200])
})

test('error: an unconfirmed token confirms nothing, sees and ends no other, and sets no password', async () => {
  const { id } = (await whoami(agent)).token
  const { token } = await prove()
  const owner = (await whoami(token)).token.id
  const refused = [
    await confirm(id, agent),
    await service.ask('DELETE', `/tokens/${owner}`, { token: agent, body: {} }),
    await service.ask('PATCH', `/tokens/${id}`, { token: agent, body: { budget: null } }),
    await service.ask('POST', '/auth/set-password', { token: agent, body: { password } }),
  ]
  expect(refused.map(({ body }) => body.code)).toEqual([
    'token_not_below',
    'token_not_below',
    'token_not_below',
    'child_token',
  ])
  expect((await service.ask('GET', '/tokens', { token: agent })).body).toHaveLength(1)
  const below = await create(agent)
  expect((await confirm(below.details.id, agent)).body.code).toBe('token_not_below')
})

test('behavior: only the first proof does it', async () => {
  const { token } = await prove()
  await confirm((await whoami(agent)).token.id, token)
  await sendQueuedMail(service.services)
  const later = await prove()
  await sendQueuedMail(service.services)
  expect(later.unconfirmed_tokens).toEqual([])
  expect(service.mails.at(-1)!.subject).toContain('login code')
  expect((await whoami(token)).token.unconfirmed).toBe(false)
})

test('behavior: an account that a code opened has nothing to confirm', async () => {
  email = `fresh-${email}`
  const session = await prove()
  expect(session.unconfirmed_tokens).toEqual([])
  expect((await whoami(session.token)).email_verified).toBe(true)
})

test('behavior: logins with the old password at the same moment do not slip past it', async () => {
  email = `race-${email}`
  await service.ask('POST', '/auth/register', { body: { email, password } })
  const login = () => service.ask('POST', '/auth/login', { body: { email, password } })
  const [session, ...logins] = await Promise.all([prove(), login(), login()])
  const own = (await whoami(session.token)).token.id
  const { body } = await service.ask('GET', '/tokens', { token: session.token })
  for (const token of body) if (token.id !== own) expect(token.unconfirmed).toBe(true)
  expect(body).toHaveLength(2 + logins.filter(({ status }) => status === 200).length)
})

test('behavior: a mail server that fails does not keep the owner out, who is told later', async () => {
  const { mailer } = service.services
  service.clock.advance(1)
  await service.ask('POST', '/auth/otp/request', { body: { email } })
  const code = /\b\d{6}\b/.exec(service.mails.at(-1)!.text)![0]
  service.services.mailer = {
    send: async () => {
      throw new Error('No mail server')
    },
  }
  const { status, body } = await service.ask('POST', '/auth/otp/verify', { body: { email, code } })
  await sendQueuedMail(service.services)
  service.services.mailer = mailer
  expect([status, body.unconfirmed_tokens.length]).toEqual([200, 1])
  service.clock.advance(60_000)
  await sendQueuedMail(service.services)
  expect(service.mails.at(-1)).toMatchObject({ to: email, subject: '1 access token to confirm' })
})
