import { Sandbox } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'
import { expectExactBill } from './support/sandbox-bill.ts'
import { sandboxTraces } from './support/sandbox-traces.ts'

/*
 * Sandboxes made, used and killed one after the other, several at a time: in the end nothing is left of any of them, and
 * the milliseconds that they ran are paid, no more and no less.
 */

const CYCLES = 200
const AT_ONCE = 8

vi.setConfig({ testTimeout: 60 * 60_000 })

let service: RunningService
let before: string[]

beforeAll(async () => {
  before = await sandboxTraces('/nonexistent')
  service = await startService({
    COINRACK_SANDBOXES: 'true',
    COINRACK_RATE_SANDBOXES: '100000/min',
    COINRACK_RATE_DEFAULT: '100000/min',
  })
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
}, 180_000)

test(`behavior: after ${CYCLES} cycles of create, run and kill, ${AT_ONCE} at a time, nothing is left and all is paid`, async () => {
  const customer = await newCustomer(service, '5')
  const options = { url: service.origin, token: customer.token }
  const ids: string[] = []
  const tookMs: number[] = []
  /** From before each was asked for until after it was killed: it cannot have run longer. */
  const longestMs = new Map<string, number>()
  let left = CYCLES
  const worker = async () => {
    while (left-- > 0) {
      const begun = performance.now()
      const sandbox = await Sandbox.create(options)
      ids.push(sandbox.id)
      expect((await sandbox.exec(`echo ${sandbox.id}`)).stdout).toBe(`${sandbox.id}\n`)
      tookMs.push(performance.now() - begun)
      await sandbox.kill()
      longestMs.set(sandbox.id, performance.now() - begun)
    }
  }
  const begun = performance.now()
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const seconds = (performance.now() - begun) / 1000

  const { ranMs, charged } = await expectExactBill(customer, 5_000_000n, ids)
  for (const [id, ran] of ranMs) expect(ran).toBeLessThanOrEqual(Math.ceil(longestMs.get(id)!))
  const ran = [...ranMs.values()].reduce((sum, each) => sum + each, 0)
  tookMs.sort((a, b) => a - b)
  const at = (share: number) => Math.round(tookMs[Math.ceil(tookMs.length * share) - 1]!)
  console.log(
    `${ids.length} cycles in ${seconds.toFixed(1)} s; create to output p50 ${at(0.5)} ms p95 ${at(0.95)} ms; ran ${ran} ms, charged ${charged} micro-USD`,
  )

  expect((await customer.listSandboxes({})).items).toEqual([])
  // Machines that wait in the pool go with the service.
  await service.end()
  expect((await sandboxTraces(service.dataFolder)).filter((trace) => !before.includes(trace))).toEqual([])
})
