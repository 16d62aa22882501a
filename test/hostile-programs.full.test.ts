import { expect, test } from 'vitest'
import { playStreams } from './support/hostile/play-streams.ts'
import { attacks } from './support/hostile/streams.ts'

/*
 * Thousands of hostile programs against the relay, the token and a real database, in sandboxes of the fake runtime.
 */

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))
const PROGRAMS = Number(process.env.COINRACK_TEST_PROGRAMS ?? 9_700)

test(`error: ${PROGRAMS} hostile programs spend nothing above their budgets, reach nothing else and leave no token`, {
  timeout: 6 * 3_600_000,
}, async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  const played = await playStreams({ seed, programs: PROGRAMS })
  console.log(Object.fromEntries(played))
  expect(played.size).toBe(Object.keys(attacks).length)
})
