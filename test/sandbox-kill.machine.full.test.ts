import { setTimeout as sleep } from 'node:timers/promises'
import { meteredCost } from '@coinrack/money/index.ts'
import { Sandbox } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { chances } from './support/chances.ts'
import { newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'
import { expectExactBill } from './support/sandbox-bill.ts'
import { countedBy, sandboxTraces } from './support/sandbox-traces.ts'

/*
 * SIGKILL of the service while sandboxes run: afterwards each is found again, or has ended, and what is charged is to the
 * micro-dollar what the runtime counted.
 */

const SANDBOXES = 20
/** How many of those end by themselves while no service watches. */
const ENDED_MEANWHILE = 4
/** How many of those that are found again are paused; the others are killed as they are. */
const PAUSED = 3
const AWAY_MS = 5_000
/** How much of a run may be forgotten when its end was not observed. */
const SEEN_EVERY_MS = 3_000

vi.setConfig({ testTimeout: 30 * 60_000 })

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))
let service: RunningService
let before: string[]

beforeAll(async () => {
  before = await sandboxTraces('/nonexistent')
  service = await startService({
    COINRACK_SANDBOXES: 'true',
    COINRACK_SANDBOX_POOL: '0',
    COINRACK_RATE_SANDBOXES: '1000/min',
  })
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
}, 180_000)

test(`behavior: killed with ${SANDBOXES} running, each is found again or has ended, and is billed what ran`, async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  const chance = chances(seed)
  const customer = await newCustomer(service, '5')
  const options = { url: service.origin, token: customer.token }
  const sandboxes: Sandbox[] = []
  for (let made = 0; made < SANDBOXES; made++) {
    const sandbox = await Sandbox.create(options, { mode: 'persistent', timeout: 3600, idle_timeout: 0 })
    await sandbox.exec(`echo ${made} > ~/number`)
    sandboxes.push(sandbox)
  }
  await sleep(chance.next().value! * 30_000)
  const begun = Date.now()
  await service.kill()
  const killedAt = Date.now()

  const counted = await countedBy(service.dataFolder)
  const lost = sandboxes.filter((_, index) => index % (SANDBOXES / ENDED_MEANWHILE) === 0)
  for (const { id } of lost) process.kill(counted.get(id)!.process!.pid, 'SIGKILL')
  await sleep(AWAY_MS)
  await service.start()

  for (const { id } of lost) {
    const ended = await vi.waitUntil(
      async () => {
        const seen = await customer.getSandbox({ sandbox_id: id })
        return seen.ended_at && seen
      },
      { timeout: 60_000, interval: 200 },
    )
    expect(ended).toMatchObject({ state: 'ended', reason: 'crashed' })
    // Until it was seen last, and no longer than until the service was gone.
    const { startedAt } = counted.get(id)!
    expect(ended.seconds * 1000).toBeLessThanOrEqual(killedAt - startedAt)
    expect(ended.seconds * 1000).toBeGreaterThanOrEqual(begun - startedAt - SEEN_EVERY_MS)
  }
  const found = sandboxes.filter((sandbox) => !lost.includes(sandbox))
  const paused = found.slice(0, PAUSED)
  for (const sandbox of found) {
    expect((await sandbox.exec('cat ~/number')).stdout).toBe(`${sandboxes.indexOf(sandbox)}\n`)
    if (paused.includes(sandbox)) {
      // The runtime has written down what it counted.
      await sandbox.pause()
      await customer.getSandbox({ sandbox_id: sandbox.id, wait: 'paused', timeout: 50 })
      const { state, ranMs } = (await countedBy(service.dataFolder)).get(sandbox.id)!
      const info = await sandbox.info()
      expect([state, info.state, info.seconds]).toEqual(['paused', 'paused', ranMs / 1000])
      expect(info.cost).toBe(meteredCost(info.price_per_hour, ranMs))
    }
    const { startedAt } = counted.get(sandbox.id)!
    const asked = Date.now()
    await sandbox.kill()
    const ranMs = (await sandbox.info()).seconds * 1000
    expect(ranMs).toBeLessThanOrEqual(Date.now() - startedAt)
    expect(ranMs).toBeGreaterThanOrEqual(paused.includes(sandbox) ? AWAY_MS : asked - startedAt)
  }
  const ids = sandboxes.map(({ id }) => id)
  const { charged } = await expectExactBill(customer, 5_000_000n, ids)
  console.log(`${found.length} found again, ${lost.length} had ended; charged ${charged} micro-USD`)
  await service.end()
  expect((await sandboxTraces(service.dataFolder)).filter((trace) => !before.includes(trace))).toEqual([])
})
