import { makeSandboxes } from '@coinrack/compute/sandbox/testing.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostileKinds } from './support/hostile/programs.ts'
import { POOL, runHostilePrograms } from './support/hostile/run-programs.ts'
import { openProgramWorld } from './support/program-world.ts'

/*
 * Programs in real sandboxes: what they print and call, and a few hostile ones; `hostile-programs.machine.full.test.ts`
 * has hundreds.
 */

const micro = { vcpus: 0.25, memoryMb: 512, diskGb: 1 }
const seed = Number(process.env.COINRACK_TEST_SEED ?? Math.floor(Math.random() * 1_000_000))
const HOSTILE = Number(process.env.COINRACK_TEST_PROGRAMS ?? 5)
let sandboxes: Awaited<ReturnType<typeof makeSandboxes>>

beforeAll(async () => {
  sandboxes = await makeSandboxes({ pool: { most: POOL, always: [{ ...micro, template: 'base' }] } })
  await sandboxes.keepTemplate('base', micro)
  await sandboxes.tendPool()
}, 20 * 60_000)
afterAll(() => sandboxes?.close(), 120_000)

test('default: a program calls operations from a sandbox that reaches nothing, which is destroyed with it', {
  timeout: 120_000,
}, async () => {
  const world = await openProgramWorld(sandboxes)
  const { token } = await world.customer(1_000_000n)
  const { status, body } = await world.ask('runProgram', token, {
    code: `import os from 'node:os'
interface Plan { slug: string }
const { items } = await coinrack.listPlans({})
display(items); console.log(items.every(({ slug }: Plan) => slug.length > 0), os.platform())
await coinrack.orderVps({ product: 'nano', os_id: 1 })`,
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    stdout: 'true linux\n',
    exit_code: 1,
    error: { name: 'CoinrackError', line: 5 },
    operations: [
      { operation: 'listPlans', calls: 1, failed: 0 },
      { operation: 'orderVps', calls: 1, failed: 1 },
    ],
    spent: '0.00',
  })
  expect(body.stderr).not.toContain('Warning')
  expect(await sandboxes.runtime.observe()).toEqual(new Map())
  await world.close()
})

test(`error: ${HOSTILE} hostile ones spend nothing above their budgets, reach nothing and leave nothing`, {
  timeout: 15 * 60_000,
}, async () => {
  console.log(`COINRACK_TEST_SEED=${seed}`)
  await runHostilePrograms(sandboxes, { seed, programs: HOSTILE, from: seed % hostileKinds.length })
})
