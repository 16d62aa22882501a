import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { freePort } from '@coinrack/host/free-port.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestService, type TestService } from '../../process/testing.ts'
import { certificateFor } from './testing-certificate.ts'
import { type OauthHand, oauthHand, pkce, REDIRECT } from './testing-oauth.ts'

/*
 * Applications that are known by the address of their metadata: that of a server that answers well, and of worse ones.
 */

const HOST = 'app.example'
let service: TestService
let hand: OauthHand
let origin: string
let site: Server
let at: string
let authorities: string[]
/** The requests that the site was asked. */
const asked: string[] = []

beforeAll(async () => {
  const { key, certificate } = await certificateFor(HOST)
  authorities = getCACertificates('default')
  setDefaultCACertificates([...authorities, certificate])
  site = createServer({ key, cert: certificate }, (request, response) => {
    asked.push(request.url!)
    const metadata = (more: object = {}) =>
      JSON.stringify({
        client_id: `${at}${request.url}`,
        client_name: 'App of a host',
        redirect_uris: [REDIRECT],
        token_endpoint_auth_method: 'none',
        scope: 'openid read sandbox',
        ...more,
      })
    switch (request.url) {
      case '/good.json':
        return response.end(metadata())
      case '/other.json':
        return response.end(metadata({ client_id: `${at}/good.json` }))
      case '/huge.json':
        return response.end(metadata({ client_name: 'x'.repeat(65_536) }))
      case '/moved.json':
        return response.writeHead(302, { location: '/good.json' }).end()
      case '/open.json':
        return response.end(
          metadata({ redirect_uris: ['http://app.example/callback'], application_type: 'web' }),
        )
      case '/secret.json':
        return response.end(
          metadata({ token_endpoint_auth_method: 'client_secret_post', client_secret: 's' }),
        )
      case '/slow.json':
        response.write('{')
        return undefined
      default:
        return response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  at = `https://${HOST}:${(site.address() as AddressInfo).port}`
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  service = await startTestService({
    env: {
      COINRACK_PUBLIC_URL: origin,
      COINRACK_RATE_LOGIN: '1000/min',
      COINRACK_RATE_APPLICATIONS: '40/h',
      COINRACK_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
    },
    lookup: async (host) => {
      if (host === HOST) return ['127.0.0.1']
      if (host === 'inside.example') return ['10.0.0.7']
      if (host === 'both.example') return ['127.0.0.1', '169.254.169.254']
      return []
    },
  })
  await service.app.listen({ host: '127.0.0.1', port })
  hand = oauthHand(service, origin)
})
afterAll(async () => {
  setDefaultCACertificates(authorities)
  site?.closeAllConnections()
  site?.close()
  await service?.close()
})

const ask = async (clientId: string, challenge = pkce().challenge) =>
  hand.authorize({
    ...{ client_id: clientId, redirect_uri: REDIRECT, response_type: 'code' },
    ...{ code_challenge: challenge, code_challenge_method: 'S256', resource: `${origin}/mcp/connect` },
  })

test('default: its host is shown, and it gets its tokens without registering', async () => {
  const { verifier, challenge } = pkce()
  const clientId = `${at}/good.json`
  const first = await ask(clientId, challenge)
  const back = await hand.consent(first)
  const { status, body } = await hand.token({
    ...{ grant_type: 'authorization_code', client_id: clientId, code: back.searchParams.get('code')! },
    ...{ code_verifier: verifier, redirect_uri: REDIRECT },
  })
  expect([status, body.scope]).toEqual([200, 'read order manage sandbox billing'])
  const { body: me } = await hand.call(body.access_token!, 'whoami')
  expect(me.token).toMatchObject({ name: 'App of a host (a program on this computer)' })
})

describe('metadata that is not taken', () => {
  test.each([
    ['of another identifier', () => `${at}/other.json`],
    ['that is larger than 64 kB', () => `${at}/huge.json`],
    ['that has moved', () => `${at}/moved.json`],
    ['with an address to call back that others can read', () => `${at}/open.json`],
    ['with a secret', () => `${at}/secret.json`],
    ['that is not there', () => `${at}/nothing.json`],
    ['on a host that is not there', () => 'https://nowhere.example/client.json'],
    ['on a private address', () => 'https://inside.example/client.json'],
    ['on a host of which one address is private', () => 'https://both.example/client.json'],
    ['on a private address as it is', () => 'https://169.254.169.254/client.json'],
    ['without https', () => at.replace('https:', 'http:')],
    ['on a path that goes up', () => `${at}/a/../good.json`],
  ])('error: %s', async (_what, clientId) => {
    const answer = await ask(clientId())
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    expect(await answer.text()).toContain('The application cannot sign in')
  })

  test('error: of a host that is slow, after five seconds', async () => {
    const begun = performance.now()
    expect((await ask(`${at}/slow.json`)).status).toBe(400)
    expect(performance.now() - begun).toBeLessThan(9_000)
  })

  test('behavior: nothing is asked of the addresses that a redirect or a private name leads to', () => {
    expect(asked.filter((path) => path === '/good.json')).toHaveLength(1)
  })
})

test('error: more applications in an hour than one address may bring', async () => {
  let status = 0
  for (let count = 0; count < 45 && status !== 429; count++) ({ status } = await hand.register())
  expect(status).toBe(429)
  expect((await ask(`${at}/good.json`)).status).toBe(429)
})
