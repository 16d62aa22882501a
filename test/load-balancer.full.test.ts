import { setTimeout as sleep } from 'node:timers/promises'
import { createTestDatabase } from '@coinrack/server/database/testing.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startLoadBalancer } from './support/load-balancer.ts'
import { openReplicas, type Replica, type Replicas } from './support/replicas.ts'
import { startSteadyLoad } from './support/steady-load.ts'

/* The configurations of deploy/load-balancer, in front of replicas that end one after the other under load. */

const DRAIN_SECONDS = 2
/** After that both have seen that a replica is back. */
const SEEN_MS = 3_000

let database: Awaited<ReturnType<typeof createTestDatabase>>
let replicas: Replicas
beforeAll(async () => {
  database = await createTestDatabase()
  replicas = await openReplicas(database.url, {
    COINRACK_DRAIN_SECONDS: String(DRAIN_SECONDS),
    COINRACK_RATE_DEFAULT: '100000000/s',
  })
})
afterAll(async () => {
  await replicas.stop()
  await database.drop()
})

const ready = async ({ origin }: Replica) =>
  fetch(`${origin}/readyz`).then(
    ({ status }) => status,
    () => 'no connection',
  )

describe.each(['nginx', 'haproxy'] as const)('%s', (name) => {
  test('behavior: each replica ends and comes back under load, and no request fails', async () => {
    const [one, two] = [await replicas.start(), await replicas.start()]
    const balancer = await startLoadBalancer(name, [one.origin, two.origin])
    const load = await startSteadyLoad(balancer.origin)
    try {
      for (const replica of [one, two]) {
        await load.answered(50)
        const ending = replica.end()
        await expect.poll(() => ready(replica)).toBe(503)
        await load.answered(50)
        await ending
        expect(await ready(replica)).toBe('no connection')
        await load.answered(50)
        await replica.startAgain()
        await sleep(SEEN_MS)
      }
      await load.answered(50)
      expect(await load.stop()).toEqual({})
    } finally {
      await load.stop()
      await balancer.stop()
      await one.end()
      await two.end()
    }
  }, 60_000)
})
