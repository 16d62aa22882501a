import { makeSandboxes } from '@coinrack/compute/sandbox/testing.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostileKinds } from './support/hostile/programs.ts'
import { POOL, runHostilePrograms } from './support/hostile/run-programs.ts'

/*
 * Hundreds of hostile programs, each in a real sandbox of its own.
 */

const micro = { vcpus: 0.25, memoryMb: 512, diskGb: 1 }
const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))
const PROGRAMS = Number(process.env.COINRACK_TEST_PROGRAMS ?? 300)
/** The programs follow from the seed and their number: a run can begin at a later one. */
const from = Number(process.env.COINRACK_TEST_FROM ?? 0)
let sandboxes: Awaited<ReturnType<typeof makeSandboxes>>

beforeAll(async () => {
  sandboxes = await makeSandboxes({ pool: { most: POOL, always: [{ ...micro, template: 'base' }] } })
  await sandboxes.keepTemplate('base', micro)
  await sandboxes.tendPool()
}, 20 * 60_000)
afterAll(() => sandboxes?.close(), 120_000)

test(`error: ${PROGRAMS} hostile programs in sandboxes of their own harm only themselves`, {
  timeout: 4 * 3_600_000,
}, async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  const ran = await runHostilePrograms(sandboxes, { seed, programs: PROGRAMS, from })
  console.log(Object.fromEntries(ran))
  expect(ran.size).toBe(Math.min(PROGRAMS, hostileKinds.length))
})
