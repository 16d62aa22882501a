import { setTimeout as sleep } from 'node:timers/promises'
import { type CoinrackError, Sandbox } from '@coinrack/sdk/index.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { chances } from './support/chances.ts'
import { newCustomer } from './support/order-life.ts'
import { type RunningService, startService } from './support/running-service.ts'
import { expectExactBill } from './support/sandbox-bill.ts'
import { countedBy, sandboxTraces } from './support/sandbox-traces.ts'

/*
 * SIGKILL of the service in the middle of a pause, a resume and a fork: what was wanted comes true once the service
 * runs again, with all that the sandbox knew, and the time in which it stood still is not charged.
 */

const ROUNDS = 4
/** Longer than the service takes to notice anything, so that time that is counted wrongly is seen. */
const AWAY_MS = 3_000

vi.setConfig({ testTimeout: 30 * 60_000 })

const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))
const chance = chances(seed)
let service: RunningService
let customer: Awaited<ReturnType<typeof newCustomer>>
let sandbox: Sandbox
let before: string[]
const ids: string[] = []
let known = 0

beforeAll(async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  before = await sandboxTraces('/nonexistent')
  service = await startService({ COINRACK_SANDBOXES: 'true', COINRACK_RATE_SANDBOXES: '1000/min' })
  customer = await newCustomer(service, '5')
  const options = { url: service.origin, token: customer.token }
  sandbox = await Sandbox.create(options, { mode: 'persistent', timeout: 3600, idle_timeout: 0 })
  ids.push(sandbox.id)
}, 40 * 60_000)

afterAll(async () => {
  await service?.stop()
}, 180_000)

/** Writes values that only its memory or only its disk knows, new each time. */
async function learn(): Promise<void> {
  known++
  await sandbox.runCode(`known = ${known}`, { context: 'python' })
  await sandbox.exec(`echo ${known} > ~/known`)
}

async function expectToKnow(subject = sandbox): Promise<void> {
  const { stdout } = await subject.runCode('print(known, open("/home/user/known").read())', {
    context: 'python',
  })
  expect(stdout).toBe(`${known} ${known}\n\n`)
}

/** Asks, kills the service within the time that it takes, and starts it again. */
async function interrupted(name: string, tookMs: number, ask: () => Promise<unknown>): Promise<void> {
  const asked = ask().catch(() => undefined)
  const afterMs = Math.round(chance.next().value! * tookMs)
  await sleep(afterMs)
  await service.kill()
  await asked
  await sleep(AWAY_MS)
  await service.start()
  console.log(`${name}: SIGKILL after ${afterMs} ms of ${Math.round(tookMs)}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** Repeats what is refused while the service opens its sandboxes. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      if ((error as CoinrackError).code !== 'sandboxes_unavailable' || attempt === 100) throw error
      await sleep(100)
    }
  }
}

const expectCountedAsRan = async () => {
  const { ranMs } = (await countedBy(service.dataFolder)).get(sandbox.id)!
  expect((await sandbox.info()).seconds).toBe(ranMs / 1000)
}

test('behavior: killed while it pauses a sandbox, it pauses it, or it runs on', async () => {
  await learn()
  const tookMs = await timed(() => sandbox.pause())
  await sandbox.resume()
  for (let round = 0; round < ROUNDS; round++) {
    await learn()
    const { seconds } = await sandbox.info()
    const begun = Date.now()
    await interrupted('pause', tookMs, () => sandbox.pause())
    await patiently(() => sandbox.pause())
    await expectCountedAsRan()
    // Once a pause was begun, the time that the service was away does not count as running.
    const ranMs = ((await sandbox.info()).seconds - seconds) * 1000
    console.log(`ran ${Math.round(ranMs)} ms of ${Date.now() - begun}`)
    await sandbox.resume()
    await expectToKnow()
  }
})

test('behavior: killed while it resumes a sandbox, what was saved is kept until it runs', async () => {
  await learn()
  await sandbox.pause()
  const tookMs = await timed(() => sandbox.resume())
  for (let round = 0; round < ROUNDS; round++) {
    await learn()
    await sandbox.pause()
    await interrupted('resume', tookMs, () => sandbox.resume())
    await patiently(() => sandbox.resume())
    await expectToKnow()
    // The remains of a resume that was killed do not hinder the next one.
    await sandbox.pause()
    await expectCountedAsRan()
    await sandbox.resume()
    await expectToKnow()
  }
})

test('behavior: killed while it forks a sandbox, the parent runs on, and the fork comes or costs nothing', async () => {
  await learn()
  const tookMs = await timed(async () => (await sandbox.fork()).kill())
  for (const { id } of (await customer.listSandboxes({ state: 'ended' })).items)
    if (!ids.includes(id)) ids.push(id)
  for (let round = 0; round < ROUNDS; round++) {
    await learn()
    await interrupted('fork', tookMs, () => sandbox.fork())
    await patiently(() => expectToKnow())
    for (const { id } of (await customer.listSandboxes({})).items.filter(({ id }) => id !== sandbox.id)) {
      ids.push(id)
      expect(await customer.getSandbox({ sandbox_id: id, wait: 'running', timeout: 50 })).toMatchObject({
        state: 'running',
      })
      const fork = Sandbox.connect({ url: service.origin, token: customer.token }, id)
      await expectToKnow(fork)
      await fork.kill()
    }
  }
})

test('behavior: after all that nothing is left, and exactly what ran is paid', async () => {
  await sandbox.kill()
  await expectExactBill(customer, 5_000_000n, ids)
  await service.end()
  expect((await sandboxTraces(service.dataFolder)).filter((trace) => !before.includes(trace))).toEqual([])
})
