import { mkdtemp, rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { interrupt, interruptions, type Subject } from './support/interruptions.ts'
import { orderVps, tracesOf } from './support/one-vps.ts'
import { type RunningService, startService } from './support/running-service.ts'

/*
 * SIGKILL of the service in the middle of every kind of operation, one after the other on one real machine.
 */

vi.setConfig({ testTimeout: 15 * 60_000 })

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 100_000))
const DEBIAN_13 = 2

let service: RunningService
let folder: string
let vps: Subject

beforeAll(async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  service = await startService()
  folder = await mkdtemp('/tmp/coinrack-faults-')
  vps = await orderVps(service, folder, DEBIAN_13)
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
}, 180_000)

test.each(interruptions.map((interruption, index) => ({ ...interruption, index })))(
  'behavior: killed in the middle of $name, the next service ends it',
  ({ index, ...interruption }) =>
    interrupt(service, vps, interruption, ((seed * 7919 + index * 4447) % 1_000) / 1_000),
)

test('behavior: nothing is left in the end', async () => {
  expect(await tracesOf(service, vps.id)).toEqual([])
})
