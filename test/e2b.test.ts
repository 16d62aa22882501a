import { freePort } from '@coinrack/host/free-port.ts'
import { startTestService, type TestService } from '@coinrack/server/process/testing.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { failuresOf, packages, playSteps } from './support/e2b/play.ts'

/*
 * E2B's packages, unmodified, against the service with fake sandboxes, by the two variables that lead them here.
 */

vi.setConfig({ testTimeout: 240_000 })

const behind = { isReal: false, hasDomain: false }
let service: TestService
let env: Record<string, string>

beforeAll(async () => {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  service = await startTestService({ env: { COINRACK_PUBLIC_URL: origin } })
  await service.app.listen({ host: '127.0.0.1', port })
  const { token } = await service.customer(5_000_000n)
  const { body } = await service.ask('POST', '/tokens', {
    token,
    body: { format: 'e2b', budget: { total: '1.00' } },
  })
  env = { E2B_API_KEY: body.token, E2B_API_URL: `${origin}/e2b`, E2B_SANDBOX_URL: `${origin}/e2b` }
})
afterAll(() => service.close())

describe.each([...packages.e2b, ...packages.codeInterpreter])('%s', (name) => {
  test('default: every method that it has does what it does at home', async () => {
    const played = await playSteps(name, behind, env)
    expect(failuresOf(played)).toEqual([])
    expect(played.filter(({ outcome }) => outcome === 'works').length).toBeGreaterThanOrEqual(6)
  })
})
