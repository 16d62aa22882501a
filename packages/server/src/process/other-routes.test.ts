import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DemoBody } from '../chain/demo-chains.ts'
import type { Config } from '../config/config.ts'
import { createApp } from './app.ts'
import { createMetrics } from './metrics.ts'
import { createReadiness } from './readiness.ts'
import { startTestService, type TestService } from './testing.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

describe('the agent endpoint, asked by a page', () => {
  const origins: [Config['profile'], string | undefined, number][] = [
    ['production', undefined, 200],
    ['production', 'https://rack.rackmail.net', 200],
    ['production', 'http://rack.rackmail.net', 403],
    ['production', 'https://rack.rackmail.net:8443', 403],
    ['production', 'http://localhost:6274', 403],
    ['production', 'http://127.0.0.1', 403],
    ['production', 'https://evil.example', 403],
    ['production', 'null', 403],
    ['demo', 'http://localhost:6274', 200],
    ['demo', 'https://evil.example', 403],
  ]

  test.each(origins)('behavior: %s, of the origin %s: %i', async (profile, origin, status) => {
    const config = { ...service.services.config, profile, publicUrl: 'https://rack.rackmail.net' }
    const services = { ...service.services, config }
    const app = createApp(services, createReadiness(services), createMetrics())
    const reply = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(origin === undefined ? {} : { origin }),
      },
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    })
    expect(reply.statusCode).toBe(status)
  })
})

test.each([{}, ['a'], 1, true])('error: a tool is called with the idempotency key %j', async (key) => {
  const { token } = await service.customer()
  const input = { amount: 5, idempotency_key: key }
  const { isError, body } = await service.tool('topup_balance', input, { token })
  expect([isError, body.code, body.details[0].path]).toEqual([true, 'invalid_input', 'idempotency_key'])
})

test('default: no page of another origin shows the documentation in a frame', async () => {
  const { headers } = await service.app.inject('/docs')
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
})

test("default: the demo says where E2B's packages find the service", async () => {
  const { config } = service.services
  const demo = { faucet_key: '0x1', chains: [] } as unknown as DemoBody
  const services = { ...service.services, demo }
  const app = createApp(services, createReadiness(services), createMetrics())
  const { e2b_url, ...rest } = (await app.inject('/demo')).json()
  expect(rest).toEqual(demo)
  expect(e2b_url).toBe(`${config.publicUrl}/e2b`)
  expect((await app.inject('/e2b/v2/sandboxes')).json()).toMatchObject({ code: 401 })
})
