import { operationList } from '@coinrack/contract/index.ts'
import { toolName } from '@coinrack/contract/operation.ts'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decideOn } from '../../approvals/testing.ts'
import { startTestService, type TestService } from '../../process/testing.ts'
import { type OauthHand, oauthHand, pkce, REDIRECT } from './testing-oauth.ts'

let service: TestService
let origin: string
let hand: OauthHand
beforeAll(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  service = await startTestService({
    env: {
      COINRACK_PUBLIC_URL: origin,
      COINRACK_RATE_LOGIN: '10000/min',
      COINRACK_RATE_APPLICATIONS: '10000/min',
      COINRACK_RATE_BAD_TOKENS: '10000/min',
    },
  })
  await service.app.listen({ host: '127.0.0.1', port })
  hand = oauthHand(service, origin)
})
afterAll(() => service.close())

const json = async (path: string) => (await fetch(origin + path)).json()

describe('what a client finds', () => {
  test('default: the address refuses who brings no token, and leads to its metadata and that to the server', async () => {
    const refused = await fetch(`${origin}/mcp/connect`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(refused.status).toBe(401)
    const challenge = refused.headers.get('www-authenticate')!
    const metadata = /resource_metadata="([^"]+)"/.exec(challenge)![1]!
    expect(metadata).toBe(`${origin}/.well-known/oauth-protected-resource/mcp/connect`)
    expect(challenge).not.toContain('error=')
    const resource = await (await fetch(metadata)).json()
    expect(resource).toMatchObject({ resource: `${origin}/mcp/connect`, authorization_servers: [origin] })
    expect(await json('/.well-known/oauth-protected-resource')).toEqual(resource)
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])
      expect(await json(path)).toMatchObject({
        issuer: origin,
        authorization_endpoint: `${origin}/oauth/authorize`,
        token_endpoint: `${origin}/oauth/token`,
        registration_endpoint: `${origin}/oauth/register`,
        revocation_endpoint: `${origin}/oauth/revoke`,
        code_challenge_methods_supported: ['S256'],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
      })
  })

  test('error: a token that is not good, and one that was not issued for this address', async () => {
    const { token } = await service.customer()
    for (const each of [token, 'A'.repeat(43), 'nonsense']) {
      const { status } = await hand.call(each, 'get_balance')
      expect(status).toBe(401)
    }
  })
})

describe('a grant', () => {
  test('default: a person lets an application in, with rights and a budget, and it calls tools', async () => {
    const { access, scope } = await hand.signIn({
      ...{ email: 'ada@rackmail.net', scopes: ['read', 'sandbox'], perDay: '1.50', total: '3' },
    })
    expect(scope).toBe('read sandbox')
    const { status, body } = await hand.call(access, 'whoami')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      email: 'ada@rackmail.net',
      token: {
        kind: 'grant',
        name: 'Hand (a program on this computer)',
        parent_id: null,
        scopes: ['read', 'sandbox'],
        budget: { per_day: '1.50', total: '3.00' },
      },
    })
    expect((await hand.call(access, 'order_vps', { product: 'nano', os_id: 1 })).body.code).toBe(
      'scope_missing',
    )
    expect((await hand.call(access, 'create_token')).body.code).toBe('closed_to_token')
    const byRest = await service.ask('GET', '/balance', { token: access })
    expect([byRest.status, byRest.body.code]).toEqual([401, 'wrong_audience'])
  })
})

test('default: the list is that of /mcp without what is closed to grants, and no tool takes a token; any other can be called', async () => {
  const { access } = await hand.signIn()
  const listed = await hand.list(access)
  const everyday = operationList.flatMap(([name, { everyday, closedTo }]) =>
    everyday && !closedTo?.includes('grant') ? [toolName(name)] : [],
  )
  expect(listed.map(({ name }) => name).sort()).toEqual(everyday.sort())
  expect(JSON.stringify(listed)).not.toContain('access_token')
  const { body } = await hand.call(access, 'list_orders')
  expect(body.items).toEqual([])
  const byName = await hand.call(access, 'call_operation', { name: 'create_token', arguments: {} })
  expect(byName.body.code).toBe('closed_to_token')
})

describe('the texts of a grant', () => {
  const refreshed = async (clientId: string, refresh: string) =>
    hand.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token: refresh })
  const statusOf = async (access: string) => (await hand.call(access, 'get_balance')).status

  test('behavior: they change, and what the grant has spent stays: its budget holds', async () => {
    const { clientId, access, refresh } = await hand.signIn({ perDay: '100', total: '4.00' })
    const { body: me } = await hand.call(access, 'whoami')
    await service.credit(String(me.id), 100_000_000n)
    const order = (text: string) => hand.call(text, 'order_vps', { product: 'nano', os_id: 1 })
    expect((await order(access)).body.code).toBeUndefined()

    const { status, body } = await refreshed(clientId, refresh)
    expect([status, body.token_type, body.expires_in]).toEqual([200, 'Bearer', 3600])
    expect(body.refresh_token).not.toBe(refresh)
    expect((await order(body.access_token!)).body).toMatchObject({ code: 'budget_exceeded', cap: 'total' })
    const { body: after } = await hand.call(body.access_token!, 'whoami')
    expect(after.token).toMatchObject({
      id: (me.token as { id: string }).id,
      spent: { total: '3.00', today: '3.00' },
    })
  })

  test('behavior: what a person is asked for stays asked for with the next text, and is charged once', async () => {
    const { clientId, access, refresh } = await hand.signIn({ perDay: '100', total: '100', askAbove: '2.00' })
    const { body: me } = await hand.call(access, 'whoami')
    await service.credit(String(me.id), 100_000_000n)
    const order = async (text: string) =>
      (await hand.call(text, 'order_vps', { product: 'nano', os_id: 1 })).body
    const asked = await order(access)
    expect(asked).toMatchObject({
      code: 'approval_needed',
      limit: { token_id: (me.token as { id: string }).id, kind: 'per_call', above: '2.00' },
    })
    const next = (await refreshed(clientId, refresh)).body.access_token!
    const named = { name: 'order_vps', arguments: { product: 'nano', os_id: 1 } }
    expect((await hand.call(next, 'call_operation', named)).body.approval_id).toBe(asked.approval_id)
    await decideOn(service, String(asked.approval_id), 'approved')
    expect((await order(next)).code).toBeUndefined()
    expect((await order(next)).code).toBe('approval_needed')
    expect((await hand.call(next, 'get_balance')).body).toMatchObject({ balance: '97.00' })
  })

  test('error: a refresh token that was used before ends the grant, and every text of it', async () => {
    const { clientId, access, refresh } = await hand.signIn()
    const { body } = await refreshed(clientId, refresh)
    expect([await statusOf(access), await statusOf(body.access_token!)]).toEqual([200, 200])
    const again = await refreshed(clientId, refresh)
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant'])
    expect([await statusOf(access), await statusOf(body.access_token!)]).toEqual([401, 401])
    expect((await refreshed(clientId, body.refresh_token!)).body.error).toBe('invalid_grant')
  })

  test('error: two uses at the same moment give at most one answer, and end the grant', async () => {
    const { clientId, access, refresh } = await hand.signIn()
    const both = await Promise.all([refreshed(clientId, refresh), refreshed(clientId, refresh)])
    expect(both.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(both.map(({ body }) => body.error)).toContain('invalid_grant')
    expect(await statusOf(access)).toBe(401)
  })

  test('error: another application cannot use them', async () => {
    const { refresh } = await hand.signIn()
    const { body: other } = await hand.register()
    expect((await refreshed(other.client_id!, refresh)).body.error).toBe('invalid_grant')
  })

  test('behavior: the owner sees the grant and ends it, at once', async () => {
    const { clientId, access, refresh } = await hand.signIn({ email: 'eve@rackmail.net' })
    const owner = await loginOf('eve@rackmail.net')
    const { body: tokens } = await service.ask('GET', '/tokens', { token: owner })
    const grant = tokens.find(({ kind }: { kind: string }) => kind === 'grant')
    expect(grant).toMatchObject({ name: 'Hand (a program on this computer)', status: 'active' })
    await service.ask('DELETE', `/tokens/${grant.id}`, { token: owner })
    expect(await statusOf(access)).toBe(401)
    expect((await refreshed(clientId, refresh)).body.error).toBe('invalid_grant')
  })

  test('behavior: the application ends its grant by any text of it (RFC 7009)', async () => {
    for (const which of ['access', 'refresh'] as const) {
      const { clientId, ...texts } = await hand.signIn()
      const { body } = await refreshed(clientId, texts.refresh)
      const newest = { access: body.access_token!, refresh: body.refresh_token! }
      expect(await hand.revoke({ client_id: 'another', token: newest[which] })).not.toBe(200)
      expect(await hand.revoke({ client_id: clientId, token: newest[which] })).toBe(200)
      expect([await statusOf(texts.access), await statusOf(newest.access)]).toEqual([401, 401])
      expect((await refreshed(clientId, newest.refresh)).body.error).toBe('invalid_grant')
      expect(await hand.revoke({ client_id: clientId, token: 'no such text' })).toBe(200)
    }
  })

  test('behavior: an access token is good for an hour, and an account that is suspended gets none', async () => {
    const { clientId, access, refresh } = await hand.signIn({ email: 'late@rackmail.net' })
    service.clock.advance(3_599_000)
    expect(await statusOf(access)).toBe(200)
    service.clock.advance(1_000)
    expect(await statusOf(access)).toBe(401)
    await service.services.db.query(
      `update account set suspended_at = now() where email = 'late@rackmail.net'`,
    )
    expect((await refreshed(clientId, refresh)).body.error).toBe('invalid_grant')
  })

  test('behavior: none of them, and no other secret, stands in the database', async () => {
    const { access, refresh } = await hand.signIn()
    const { rows } = await service.services.db.query('select * from oauth_state')
    expect(rows.length).toBeGreaterThan(3)
    const stored = rows.map(({ payload, ...row }) => JSON.stringify(row) + payload.toString('latin1'))
    for (const text of [access, refresh]) expect(stored.filter((row) => row.includes(text))).toEqual([])
  })

  async function loginOf(email: string): Promise<string> {
    await service.ask('POST', '/auth/otp/request', { body: { email } })
    const code = /\d{6}/.exec(service.mails.at(-1)!.text)![0]
    return (await service.ask('POST', '/auth/otp/verify', { body: { email, code } })).body.token
  }
})

describe('a request for access', () => {
  const ask = async (params: Record<string, string | undefined> = {}, metadata: object = {}) => {
    const { body: client } = await hand.register(metadata)
    const { verifier, challenge } = pkce()
    const all = {
      client_id: client.client_id!,
      redirect_uri: REDIRECT,
      response_type: 'code',
      state: 'a state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      resource: `${origin}/mcp/connect`,
      ...params,
    }
    const given = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    return { first: await hand.authorize(Object.fromEntries(given)), clientId: client.client_id!, verifier }
  }
  const errorIn = (response: Response) => new URL(response.headers.get('location')!).searchParams.get('error')
  const exchange = (clientId: string, code: string, verifier: string, more: Record<string, string> = {}) =>
    hand.token({
      ...{ grant_type: 'authorization_code', client_id: clientId, code, code_verifier: verifier },
      redirect_uri: REDIRECT,
      ...more,
    })

  test('error: without PKCE, or with a challenge that is no hash', async () => {
    const { first: without } = await ask({ code_challenge: undefined, code_challenge_method: undefined })
    expect(errorIn(without)).toBe('invalid_request')
    const { first: plain } = await ask({ code_challenge_method: 'plain' })
    expect(errorIn(plain)).toBe('invalid_request')
  })

  test('error: for another resource', async () => {
    for (const resource of [`${origin}/mcp`, 'https://elsewhere.example/mcp'])
      expect(errorIn((await ask({ resource })).first)).toBe('invalid_target')
    const { first, clientId, verifier } = await ask()
    const code = (await hand.consent(first)).searchParams.get('code')!
    const { body } = await exchange(clientId, code, verifier, { resource: `${origin}/mcp` })
    expect(body.error).toBe('invalid_target')
  })

  test('error: an address to call back that is not registered to the letter leads nowhere', async () => {
    const registered = { redirect_uris: ['https://app.example/callback', REDIRECT] }
    for (const redirect_uri of [
      'https://app.example/callback/',
      'https://app.example/callback?more=1',
      'https://app.example:444/callback',
      'https://evil.example/callback',
      'http://127.0.0.1:9/other',
      'http://localhost:9/callback',
    ]) {
      const { first } = await ask({ redirect_uri }, registered)
      expect([redirect_uri, first.status, first.headers.get('location')]).toEqual([redirect_uri, 400, null])
      expect(await first.text()).toContain('The application cannot sign in')
    }
  })

  test('behavior: a program on this computer may listen at any port (RFC 8252)', async () => {
    const redirect_uri = 'http://127.0.0.1:34567/callback'
    const { first, clientId, verifier } = await ask({ redirect_uri })
    const back = await hand.consent(first)
    expect(back.origin).toBe('http://127.0.0.1:34567')
    const { status } = await exchange(clientId, back.searchParams.get('code')!, verifier, { redirect_uri })
    expect(status).toBe(200)
  })

  test('behavior: a refusal is answered as one, with the state and the issuer', async () => {
    const { first } = await ask()
    const back = await hand.consent(first, { decision: 'deny' })
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      ...{ error: 'access_denied', state: 'a state', iss: origin },
    })
  })

  test('error: a wrong verifier, and a code that was used: its grant ends', async () => {
    const { first, clientId, verifier } = await ask()
    const code = (await hand.consent(first)).searchParams.get('code')!
    expect((await exchange(clientId, code, pkce().verifier)).body.error).toBe('invalid_grant')
    const { body } = await exchange(clientId, code, verifier)
    expect((await hand.call(body.access_token!, 'get_balance')).status).toBe(200)
    expect((await exchange(clientId, code, verifier)).body.error).toBe('invalid_grant')
    expect((await hand.call(body.access_token!, 'get_balance')).status).toBe(401)
  })

  test('behavior: when its tokens cannot be written the code is not used up, so that a new try gets them', async () => {
    const { first, clientId, verifier } = await ask()
    const code = (await hand.consent(first)).searchParams.get('code')!
    const { db } = service.services
    await db.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'killed'; end $$`,
    )
    await db.query(`create trigger refuse before insert on oauth_state for each row when (new.model = 'AccessToken')
      execute function refuse()`)
    expect((await exchange(clientId, code, verifier)).status).toBe(503)
    await db.query('drop function refuse() cascade')
    expect((await exchange(clientId, code, verifier)).status).toBe(200)
  })

  test('behavior: a scope of another service is left out, and the person may leave out more', async () => {
    const { first, clientId, verifier } = await ask({ scope: 'openid profile read order offline_access' })
    const code = (await hand.consent(first, { scopes: ['read'] })).searchParams.get('code')!
    const { body } = await exchange(clientId, code, verifier)
    expect(body.scope).toBe('read')
  })

  test('error: a browser that did not bring the request cannot answer it', async () => {
    const { first } = await ask()
    const page = new URL(first.headers.get('location')!, origin).href
    const other = await fetch(page)
    expect(other.status).toBe(400)
    expect(await other.text()).toContain('begun in another browser')
  })

  test('behavior: another replica goes on with a code when the one that gave it is gone', async () => {
    const { first, clientId, verifier } = await ask()
    const code = (await hand.consent(first)).searchParams.get('code')!
    const { createApp } = await import('../../process/app.ts')
    const { createMetrics } = await import('../../process/metrics.ts')
    const { createReadiness } = await import('../../process/readiness.ts')
    const app = createApp(service.services, createReadiness(service.services), createMetrics([]))
    const other = await app.listen({ host: '127.0.0.1', port: 0 })
    const response = await fetch(`${other}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', client_id: clientId, code, code_verifier: verifier },
        redirect_uri: REDIRECT,
      }),
    })
    const { access_token } = await response.json()
    expect((await hand.call(access_token, 'get_balance')).status).toBe(200)
    await app.close()
  })
})

describe('registration', () => {
  test('error: where others could read the answer', async () => {
    for (const uri of [
      'http://app.example/callback',
      'javascript:alert(1)',
      'data:text/html,x',
      'nonsense',
    ]) {
      const { status, body } = await hand.register({ redirect_uris: [uri] })
      expect([uri, status]).toEqual([uri, 400])
      expect(body.error).toMatch(/^invalid_(client_metadata|redirect_uri)$/)
    }
    const web = await hand.register({ redirect_uris: ['http://app.example/cb'], application_type: 'web' })
    expect(web.status).toBe(400)
  })

  test('behavior: scopes and kinds that are not here do not hold it up, and programs may have schemes of their own', async () => {
    const { status, body } = await hand.register({
      redirect_uris: ['cursor://anysphere.cursor-mcp/callback'],
      scope: 'openid email read',
    })
    expect([status, body.scope]).toEqual([201, undefined])
  })

  test('behavior: one that nobody lets in is forgotten after a day', async () => {
    const { body } = await hand.register()
    service.clock.advance(86_400_000)
    const first = await hand.authorize({
      client_id: body.client_id!,
      redirect_uri: REDIRECT,
      response_type: 'code',
    })
    expect(first.status).toBe(400)
  })

  test('error: a body that is no object, and one that is too large', async () => {
    for (const body of ['[]', '1', 'x', `{"client_name":"${'x'.repeat(70_000)}"}`]) {
      const response = await fetch(`${origin}/oauth/register`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body },
      })
      expect(response.status).toBe(body.length > 56 * 1024 ? 413 : 400)
    }
  })
})
