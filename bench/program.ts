/**
 * From the request for a program to what it printed, over REST, beside the same code by create_sandbox, run_code and
 * kill_sandbox, in turns, out of the pool.
 *
 *   npm run bench:program -- [rounds]
 *
 * As root, on a host that runs nothing else.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sandboxTemplates } from '@coinrack/compute/sandbox/image/recipes.ts'
import { newCustomer } from '../test/support/order-life.ts'
import { startService } from '../test/support/running-service.ts'
import { machinesOf } from '../test/support/sandbox-traces.ts'

const rounds = Number(process.argv[2] ?? '20')
const QUIET_MS = 1_000
const CODE = 'console.log(1)'

const service = await startService({
  COINRACK_SANDBOXES: 'true',
  COINRACK_SANDBOX_POOL: '1',
  COINRACK_RATE_SANDBOXES: '100000/min',
  COINRACK_RATE_DEFAULT: '100000/min',
})
try {
  const folder = join(service.dataFolder, 'sandbox-templates')
  const built = async () => {
    const names = await readdir(folder).catch(() => [])
    return names.filter((name) => !/\.(building|pid)$/.test(name)).length
  }
  while ((await built()) < sandboxTemplates.length) await sleep(QUIET_MS)
  const customer = await newCustomer(service, '10')
  const pooled = async () => {
    while ((await machinesOf(service.dataFolder)).length === 0) await sleep(QUIET_MS)
    await sleep(QUIET_MS)
  }
  const timed = async (work: () => Promise<{ stdout: string }>) => {
    await pooled()
    const begun = performance.now()
    const { stdout } = await work()
    if (stdout !== '1\n') throw new Error(`It said ${stdout}`)
    return performance.now() - begun
  }
  const program = () => customer.runProgram({ code: CODE })
  const byHand = async () => {
    const { id: sandbox_id } = await customer.createSandbox({ network: { allow_internet: false } })
    const ran = await customer.runCode({ sandbox_id, language: 'node', code: CODE })
    await customer.killSandbox({ sandbox_id })
    return ran
  }
  const times: { program: number; byHand: number }[] = []
  await program()
  for (let round = 0; round < rounds; round++)
    times.push({ program: await timed(program), byHand: await timed(byHand) })
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
  const [one, other] = [median(times.map((each) => each.program)), median(times.map((each) => each.byHand))]
  const ratio = median(times.map((each) => each.program / each.byHand))
  console.log(`run_program: p50 ${one.toFixed(0)} ms (n ${rounds})`)
  console.log(`create_sandbox, run_code, kill_sandbox: p50 ${other.toFixed(0)} ms; ratio ${ratio.toFixed(2)}`)
} finally {
  await service.stop()
}
