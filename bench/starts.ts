/**
 * How long a sandbox takes from the request for it to the answer of `node -v` inside, as public comparisons of sandbox
 * services measure it: one after the other, one each 200 ms, and all at once; beside as many starts of a Node.js on the
 * host itself. And what the processors did meanwhile, which tells what bounds it.
 *
 *   npm run bench:starts -- [starts] [in the pool]
 *
 * As root, on a host that runs nothing else.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CoinrackError, Sandbox } from '@coinrack/sdk/index.ts'
import { newCustomer } from '../test/support/order-life.ts'
import { startService } from '../test/support/running-service.ts'
import { untilTemplatesAreThere } from '../test/support/sandbox-templates.ts'
import { untilQuiet } from './until-quiet.ts'

const starts = Number(process.argv[2] ?? '100')
const pool = process.argv[3] ?? '4'
const APART_MS = 200
/** Ticks of a processor in a second, as /proc/stat counts them. */
const TICKS = 100

/** Seconds of all processors in which they did something, since the host began. */
async function busySeconds(): Promise<number> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number)
  return (user + nice + system + irq + softirq) / TICKS
}

const service = await startService({
  COINRACK_SANDBOXES: 'true',
  COINRACK_SANDBOX_POOL: pool,
  COINRACK_SANDBOX_OVERCOMMIT: '16',
  COINRACK_RATE_SANDBOXES: '100000/min',
  COINRACK_RATE_DEFAULT: '100000/min',
})
try {
  await untilTemplatesAreThere(service)
  const { token } = await newCustomer(service, '50')

  /** One start: how long it took in milliseconds, or why it failed. */
  async function start(): Promise<number | string> {
    const begun = performance.now()
    try {
      await using sandbox = await Sandbox.create({ url: service.origin, token })
      const { stdout } = await sandbox.exec('node -v')
      return stdout.startsWith('v') ? performance.now() - begun : `It said ${stdout}`
    } catch (error) {
      if (error instanceof CoinrackError) return error.code
      throw error
    }
  }
  async function bare(): Promise<number> {
    const begun = performance.now()
    await promisify(execFile)(process.execPath, ['-v'])
    return performance.now() - begun
  }

  async function measure(name: string, run: <T>(one: () => Promise<T>) => Promise<T[]>): Promise<void> {
    const beside = (await run(bare)).toSorted((a, b) => a - b)
    await untilQuiet(service.dataFolder, 1)
    const [busy, begun] = [await busySeconds(), performance.now()]
    const all = await run(start)
    const [seconds, spent] = [(performance.now() - begun) / 1000, (await busySeconds()) - busy]
    const times = all.filter((each) => typeof each === 'number').toSorted((a, b) => a - b)
    const at = (share: number, of = times) => of[Math.ceil(of.length * share) - 1] ?? Number.NaN
    const failures = Map.groupBy(
      all.filter((each) => typeof each === 'string'),
      (each) => each,
    )
    const share = (100 * spent) / seconds / availableParallelism()
    console.log(
      `${name}: median ${at(0.5).toFixed(0)} ms, p95 ${at(0.95).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms, ` +
        `${times.length} of ${all.length} started; ${(at(0.5) / at(0.5, beside)).toFixed(1)} of a node -v on the host; ` +
        `${(spent / all.length).toFixed(2)} s of processor each, processors ${share.toFixed(0)} % busy`,
    )
    for (const [code, each] of failures) console.log(`  ${each.length} failed: ${code}`)
  }

  const turns = Array.from({ length: starts }, (_, index) => index)
  await measure('one after the other', async (one) => {
    const all = []
    for (const _ of turns) all.push(await one())
    return all
  })
  await measure('one each 200 ms', (one) =>
    Promise.all(turns.map((turn) => sleep(turn * APART_MS).then(one))),
  )
  await measure('all at once', (one) => Promise.all(turns.map(one)))
} finally {
  await service.stop()
}
