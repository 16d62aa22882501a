import { html } from '@coinrack/web/html.ts'
import { problemPage } from '@coinrack/web/proving/page.ts'
import type { FastifyInstance } from 'fastify'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDispatch } from '../../dispatch/dispatch.ts'
import { createRateLimiter } from '../../dispatch/rate-limiter.ts'
import { handlers, paidHandlers } from '../../process/handlers.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { createServer } from '../../transport/server.ts'
import { registerProvenPages } from './proven-page.route.ts'
import { PageProblem } from './proven-page.ts'

let service: TestService
let app: FastifyInstance
beforeAll(async () => {
  service = await startTestService({ env: { COINRACK_RATE_LOGIN: '1000/min' } })
  const { services } = service
  app = createServer(services, [])
  const limiter = createRateLimiter(services)
  const strangers = { db: services.db, lookups: services.db, limiter }
  const dispatch = createDispatch(services, { handlers, paidHandlers }, limiter, strangers)
  registerProvenPages(app, services, { dispatch, limiter }, [
    {
      url: '/things/:id',
      async intro({ params }) {
        if (params.id !== 'one') throw new PageProblem(404, 'No such thing', 'Please ask again.')
        return { heading: 'May it be so?', why: html`<p>It asks <b>you</b>.</p>` }
      },
      show: async (_request, _reply, { accountId }) => problemPage(true, 'Decide', accountId),
      act: async (_request, _reply, { accountId }, form) =>
        problemPage(true, 'Decided', `${accountId} ${form.get('yes')}`),
    },
  ])
  await app.ready()
})
afterAll(async () => {
  await app.close()
  await service.close()
})

const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url: path,
    headers: {
      origin: new URL(service.services.config.publicUrl).origin,
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
    payload: new URLSearchParams(fields).toString(),
  })
const cookieOf = (answer: { headers: Record<string, unknown> }) =>
  String(answer.headers['set-cookie']).split(';')[0]!
const mailedCode = () => /\d{6}/.exec(service.mails.at(-1)!.text)![0]

async function proven(email = 'ada@rackmail.net'): Promise<string> {
  await send('/things/one/address', { email })
  return cookieOf(await send('/things/one/code', { email, code: mailedCode() }))
}

test('default: a code from the mailbox opens the page, in this browser and for this page alone', async () => {
  const first = await app.inject('/things/one')
  expect(first.body).toContain('May it be so?')
  expect(first.body).toContain('It asks <b>you</b>.')
  expect(first.headers).toMatchObject({
    'cache-control': 'no-store',
    'x-frame-options': 'DENY',
    'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
  })
  expect((await send('/things/one/address', { email: 'ada@rackmail.net' })).body).toContain(
    'ada@rackmail.net',
  )
  const opened = await send('/things/one/code', { email: 'ada@rackmail.net', code: mailedCode() })
  expect([opened.statusCode, opened.headers.location]).toEqual([303, '/things/one'])
  expect(opened.headers['set-cookie']).toMatch(/Path=\/things\/one; Max-Age=600; HttpOnly; SameSite=Strict/)
  const cookie = cookieOf(opened)
  const shown = await app.inject({ url: '/things/one', headers: { cookie } })
  expect(shown.body).toMatch(/Decide.*acc_/s)
  const other = await app.inject({ url: '/things/two', headers: { cookie } })
  expect(other.statusCode).toBe(404)
})

test('behavior: what is decided is decided once, and then the proof is over', async () => {
  const cookie = await proven()
  const decided = await send('/things/one/decision', { yes: '1' }, { cookie })
  expect(decided.body).toMatch(/Decided.*acc_\w+ 1/s)
  expect(decided.headers['set-cookie']).toMatch(/^coinrack_proof=; .*Max-Age=0/)
})

test('behavior: a proof is good for ten minutes', async () => {
  const cookie = await proven()
  service.clock.advance(600_000)
  const late = await send('/things/one/decision', { yes: '1' }, { cookie })
  expect(late.statusCode).toBe(403)
  expect(late.body).toContain('nothing was decided')
})

test('error: a wrong code counts, and says so', async () => {
  await send('/things/one/address', { email: 'bo@rackmail.net' })
  const wrong = await send('/things/one/code', { email: 'bo@rackmail.net', code: '000000' })
  expect(wrong.statusCode).toBe(401)
  expect(wrong.body).toContain('The code is wrong, used or expired.')
  expect(wrong.headers['set-cookie']).toBeUndefined()
  const { rows } = await service.services.db.query(
    `select count(*)::integer from failed_login where subject = 'code:bo@rackmail.net'`,
  )
  expect(rows[0].count).toBe(1)
})

test('error: a form of another page, and one that says nothing of where it comes from', async () => {
  const cookie = await proven()
  for (const origin of ['https://evil.example', 'null', ''])
    expect((await send('/things/one/decision', { yes: '1' }, { cookie, origin })).statusCode).toBe(403)
})

test('error: a proof that was changed, or made for another page', async () => {
  const cookie = await proven()
  const changed = `${cookie.slice(0, -2)}AA`
  expect((await app.inject({ url: '/things/one', headers: { cookie: changed } })).body).toContain(
    'May it be so',
  )
})

test('behavior: a wallet proves itself by its signature', async () => {
  const wallet = privateKeyToAccount(`0x${'5d'.repeat(32)}`)
  const headers = { accept: 'application/json' }
  const asked = await send('/things/one/challenge', { address: wallet.address, chain: '1' }, headers)
  const { message } = asked.json()
  const signature = await wallet.signMessage({ message })
  const forged = await send('/things/one/signature', { message, signature: `0x${'00'.repeat(65)}` }, headers)
  expect([forged.statusCode, forged.json().message]).toEqual([401, expect.stringContaining('not signed')])
  const signed = await send('/things/one/signature', { message, signature }, headers)
  expect(signed.json()).toEqual({ ok: true })
  const shown = await app.inject({ url: '/things/one', headers: { cookie: cookieOf(signed) } })
  expect(shown.body).toMatch(/Decide.*acc_/s)
})
