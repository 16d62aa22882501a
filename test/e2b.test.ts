import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@coinrack/host/free-port.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Domain, openDomain } from './support/e2b/domain.ts'
import { failuresOf, playSteps } from './support/e2b/play.ts'

/*
 * E2B's packages, unmodified, against the service with fake sandboxes: by the two variables that name an address, and by the
 * domain below which everything has names.
 */

vi.setConfig({ testTimeout: 240_000 })

let service: TestService
let domain: Domain
let building: Promise<void>
let stopped = false
let byUrl: Record<string, string>
let byDomain: Record<string, string>

beforeAll(async () => {
  const port = await freePort()
  domain = await openDomain(await freePort(), port)
  service = await startTestService({ env: domain.settings })
  await service.app.listen({ host: '127.0.0.1', port })
  const { token } = await service.customer(5_000_000n)
  const { body } = await service.ask('POST', '/tokens', {
    token,
    body: { format: 'e2b', budget: { total: '1.00' } },
  })
  const url = `http://127.0.0.1:${port}/e2b`
  byUrl = { E2B_API_KEY: body.token, E2B_API_URL: url, E2B_SANDBOX_URL: url }
  byDomain = { E2B_API_KEY: body.token, ...domain.env }
  building = (async () => {
    for (; !stopped; await sleep(100)) await service.buildTemplates()
  })()
})
afterAll(async () => {
  stopped = true
  await building
  await service.close()
  await domain.close()
})

const rows = [
  ['e2b', 'an address', () => byUrl],
  ['e2b', 'a domain', () => byDomain],
  ['e2b-2.14', 'an address', () => byUrl],
  ['@e2b/code-interpreter', 'an address', () => byUrl],
  // It asks for code by a name alone.
  ['code-interpreter-2.5', 'a domain', () => byDomain],
] as const

test.each(rows)('default: %s by %s: every method does what it does at home', async (name, by, env) => {
  const played = await playSteps(name, { isReal: false, hasDomain: by === 'a domain' }, env())
  expect(failuresOf(played)).toEqual([])
  expect(played.filter(({ outcome }) => outcome === 'works').length).toBeGreaterThanOrEqual(6)
})
