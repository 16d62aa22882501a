import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
    const { access, scope } = await hand.signIn({ scopes: ['read', 'sandbox'], perDay: '1.50', total: '3' })
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
