import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { failuresOf, packages, playSteps } from './support/e2b/play.ts'
import { type ForE2b, startForE2b } from './support/e2b/real-service.ts'

/*
 * Each version of E2B's packages, unmodified, by a domain against the service with real sandboxes.
 */

vi.setConfig({ testTimeout: 15 * 60_000 })

let world: ForE2b
beforeAll(async () => {
  world = await startForE2b()
}, 40 * 60_000)
afterAll(async () => {
  await world?.stop()
}, 180_000)

test.each([...packages.e2b, ...packages.codeInterpreter])(
  'default: %s: every method does what it does at home',
  async (name) => {
    const played = await playSteps(name, { isReal: true, hasDomain: true }, world.byDomain)
    expect(failuresOf(played)).toEqual([])
  },
)
