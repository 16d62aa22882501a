import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { failuresOf, playSteps } from './support/e2b/play.ts'
import { type ForE2b, startForE2b } from './support/e2b/real-service.ts'

/*
 * E2B's packages, unmodified, against the service with real sandboxes.
 */

vi.setConfig({ testTimeout: 15 * 60_000 })

let world: ForE2b
beforeAll(async () => {
  world = await startForE2b()
}, 40 * 60_000)
afterAll(async () => {
  await world?.stop()
}, 180_000)

test.each([
  ['e2b', 'a domain'],
  ['@e2b/code-interpreter', 'an address'],
] as const)('default: %s by %s: every method does what it does at home', async (name, by) => {
  const hasDomain = by === 'a domain'
  const played = await playSteps(name, { isReal: true, hasDomain }, hasDomain ? world.byDomain : world.byUrl)
  expect(failuresOf(played)).toEqual([])
  const leftOut = played.filter(({ outcome }) => outcome === 'left out').map(({ method }) => method)
  expect(leftOut).toEqual([])
})
