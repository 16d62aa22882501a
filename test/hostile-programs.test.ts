import { expect, test } from 'vitest'
import { playStreams } from './support/hostile/play-streams.ts'
import { attacks } from './support/hostile/streams.ts'

/*
 * Hostile programs of each kind against the relay, the token and a real database; `hostile-programs.full.test.ts` has
 * thousands of them, and `hostile-programs.machine.full.test.ts` those in real sandboxes.
 */

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))
const PROGRAMS = 200

test(`error: ${PROGRAMS} hostile programs spend nothing above their budgets, reach nothing else and leave no token`, {
  timeout: 10 * 60_000,
}, async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  const played = await playStreams({ seed, programs: PROGRAMS })
  expect(played.size).toBe(Object.keys(attacks).length)
})
