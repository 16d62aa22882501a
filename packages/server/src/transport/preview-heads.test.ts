import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { returnedHead } from './preview-heads.ts'

const below = { sandboxId: 'sbx0', port: 8000, path: '/', prefix: '/preview/sbx0/8000' }
const named = { ...below, prefix: '' }
const returned = (headers: IncomingHttpHeaders, address = below) => returnedHead({ headers }, address)

describe('below the address of the service', () => {
  test('default: what is about the answer goes through, and what programs say to each other', () => {
    const headers = {
      'content-type': 'text/html',
      'content-length': '3',
      'cache-control': 'no-cache',
      etag: '"1"',
      vary: 'accept',
      'access-control-allow-origin': '*',
      'content-encoding': 'gzip',
      'x-total-count': '7',
      'mcp-session-id': 'one',
    }
    expect(returned(headers)).toMatchObject(headers)
  })

  test.each([
    'accept-ch',
    'alt-svc',
    'clear-site-data',
    'critical-ch',
    'nel',
    'origin-agent-cluster',
    'origin-trial',
    'permissions-policy-report-only',
    'public-key-pins',
    'report-to',
    'reporting-endpoints',
    'service-worker-allowed',
    'set-cookie',
    'set-login',
    'speculation-rules',
    'strict-transport-security',
    'use-as-dictionary',
    'www-authenticate',
    'a-header-of-tomorrow',
  ])('behavior: %s acts on all of the origin, or may, and stays inside', (name) => {
    expect(returned({ [name]: name === 'set-cookie' ? ['a=1'] : 'x' })).not.toHaveProperty(name)
  })
})

describe('under a name of its own', () => {
  test('default: it says what it likes of that name', () => {
    const headers = {
      'strict-transport-security': 'max-age=1',
      'accept-ch': 'DPR',
      'a-header-of-tomorrow': 'x',
    }
    expect(returned(headers, named)).toMatchObject(headers)
  })

  test.each([
    ['a=1; Domain=sandbox.rackmail.net; Path=/', 'a=1; Path=/'],
    ['a=1;domain=.rackmail.net', 'a=1'],
    ['a=1; Secure; \tDOMAIN = rackmail.net ;HttpOnly; Domain', 'a=1; Secure;HttpOnly'],
    ['domain=1; Path=/', 'domain=1; Path=/'],
    ['a=domain=x', 'a=domain=x'],
  ])('behavior: the cookie %j goes to no other name: %j', (given, kept) => {
    expect(returned({ 'set-cookie': ['b=2', given] }, named)['set-cookie']).toEqual(['b=2', kept])
  })

  test('behavior: it does not clear the cookies of the names beside it', () => {
    expect(returned({ 'clear-site-data': '"cookies"' }, named)).not.toHaveProperty('clear-site-data')
  })
})

test.each(['x-accel-redirect', 'x-accel-expires', 'x-sendfile', 'x-lighttpd-send-file'])(
  'behavior: %s, an order to the proxy in front, stays inside',
  (name) => {
    for (const address of [below, named])
      expect(returned({ [name]: '/etc/passwd' }, address)).not.toHaveProperty(name)
  },
)
