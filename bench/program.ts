/**
 * From the request for a program to what it printed, over REST, beside the same code by create_sandbox, run_code and
 * kill_sandbox, in turns, out of the pool.
 *
 *   npm run bench:program -- [rounds]
 *
 * As root, on a host that runs nothing else.
 */
import { newCustomer } from '../test/support/order-life.ts'
import { startService } from '../test/support/running-service.ts'
import { untilTemplatesAreThere } from '../test/support/sandbox-templates.ts'
import { untilQuiet } from './until-quiet.ts'

const rounds = Number(process.argv[2] ?? '20')
/** In the pool. */
const WAITING = 1
const CODE = 'console.log(1)'

const service = await startService({
  COINRACK_SANDBOXES: 'true',
  COINRACK_SANDBOX_POOL: String(WAITING),
  COINRACK_RATE_SANDBOXES: '100000/min',
  COINRACK_RATE_DEFAULT: '100000/min',
})
try {
  await untilTemplatesAreThere(service)
  const customer = await newCustomer(service, '10')
  const timed = async (work: () => Promise<{ stdout: string }>) => {
    await untilQuiet(service.dataFolder, WAITING)
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
