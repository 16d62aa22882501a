/**
 * From the request for a sandbox to the first output in the answer, the whole way over REST: as a clone, and out of the
 * pool; beside a boot of the same image by hand, and a container of the same files. And what a sandbox that does
 * nothing takes of the host's memory.
 *
 *   npm run bench:sandbox-rest -- [rounds] [boots by hand] [idle sandboxes] [container runtime] [which work]
 *
 * As root, on a host that runs nothing else. The container runtime is `runc` or `crun`, as Debian has them.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createImageStore } from '@coinrack/compute/images/image-store.ts'
import { hostAcceleration } from '@coinrack/compute/machine/host-acceleration.ts'
import { sandboxTariffs } from '@coinrack/contract/sandbox-tariffs.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'
import { type Client, CoinrackError } from '@coinrack/sdk/index.ts'
import { newCustomer } from '../test/support/order-life.ts'
import { startService } from '../test/support/running-service.ts'
import { untilTemplatesAreThere } from '../test/support/sandbox-templates.ts'
import { countedBy, machinesOf } from '../test/support/sandbox-traces.ts'
import { bootByHand, containersOf, sandboxImage } from './sandbox-by-hand.ts'

const [rounds = '50', boots = '5', idle = '30', containerRuntime = 'runc', only] = process.argv.slice(2)
const cacheFolder = process.env.COINRACK_CACHE ?? '/var/cache/coinrack'
const { memory_mb: memoryMb } = sandboxTariffs.micro
/** The work that is measured: a command inside and the same program of a container, or code for an interpreter. */
const WORK: Record<string, { command: string; program: string[] } | { code: string }> = {
  echo: { command: 'echo 1', program: ['echo', '1'] },
  'python3 -c': { command: "python3 -c 'print(1)'", program: ['python3', '-c', 'print(1)'] },
  'node -e': { command: "node -e 'console.log(1)'", program: ['node', '-e', 'console.log(1)'] },
  'run_code in Python': { code: 'print(1)' },
}
const works = Object.entries(WORK).filter(([name]) => only === undefined || name === only)
const QUIET_MS = 400
/** In the pool, when it is measured. */
const WAITING = 1
const IN_MB = 8 * 1024

interface Times {
  p50: number
  p95: number
}

function tell(name: string, times: number[], beside?: Times): Times {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1]!
  const found = { p50: at(0.5), p95: at(0.95) }
  const ratio = beside ? `; ${(found.p50 / beside.p50).toFixed(3)} of a boot by hand` : ''
  console.log(
    `${name}: p50 ${found.p50.toFixed(0)} ms, p95 ${found.p95.toFixed(0)} ms (n ${times.length})${ratio}`,
  )
  return found
}

async function repeat(times: number, work: () => Promise<number>): Promise<number[]> {
  const taken: number[] = []
  for (let round = 0; round < times; round++) taken.push(await work())
  return taken
}

/** Works with a service that has real sandboxes of its own, as a customer with money there. */
async function withService(pool: number, work: (customer: Client, dataFolder: string) => Promise<void>) {
  const service = await startService({
    COINRACK_SANDBOXES: 'true',
    COINRACK_SANDBOX_POOL: String(pool),
    COINRACK_SANDBOX_OVERCOMMIT: '16',
    COINRACK_RATE_SANDBOXES: '100000/min',
    COINRACK_RATE_DEFAULT: '100000/min',
  })
  try {
    await untilTemplatesAreThere(service)
    await work(await newCustomer(service, '10'), service.dataFolder)
  } finally {
    await service.stop()
  }
}

async function firstOutput(customer: Client, work: { command: string } | { code: string }): Promise<number> {
  const begun = performance.now()
  const sandbox = await customer.createSandbox({})
  const { stdout } =
    'code' in work
      ? await customer.runCode({ sandbox_id: sandbox.id, language: 'python', code: work.code })
      : await customer.execCommand({ sandbox_id: sandbox.id, command: work.command })
  const took = performance.now() - begun
  if (stdout !== '1\n') throw new Error(`It said ${stdout}`)
  await customer.killSandbox({ sandbox_id: sandbox.id })
  return took
}

/** Waits until machines of the folder do nothing, as many as wait for their first owner at least. */
async function untilQuiet(dataFolder: string, least: number): Promise<void> {
  const ticks = async () => {
    const machines = await machinesOf(dataFolder)
    const stats = await Promise.all(
      machines.map(({ pid }) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
    )
    return {
      machines: machines.length,
      of: stats.map((stat) => stat.split(' ').slice(13, 15).join()).join(';'),
    }
  }
  for (let before = await ticks(); ; ) {
    await sleep(QUIET_MS)
    const now = await ticks()
    if (now.machines >= least && now.of === before.of) return
    before = now
  }
}

/** Megabytes: of the process alone and its share of what it has in common, and what the host has left. */
async function shareOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)![1]) / 1024
}
const leftOfHost = async () =>
  Number(/^MemAvailable:\s+(\d+) kB/m.exec(await readFile('/proc/meminfo', 'utf8'))![1]) / 1024
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

async function measureMemory(dataFolder: string, customer: Client): Promise<void> {
  const before = await leftOfHost()
  const ids: string[] = []
  while (ids.length < Number(idle)) {
    try {
      const sandbox = await customer.createSandbox({ timeout: 3600, idle_timeout: 0 })
      ids.push(sandbox.id)
    } catch (error) {
      if (!(error instanceof CoinrackError) || error.code !== 'capacity') throw error
      console.log(`the service has room for ${ids.length} of ${memoryMb} MB`)
      break
    }
  }
  await sleep(5_000)
  const records = [...(await countedBy(dataFolder)).values()]
  const shares = await Promise.all(records.map(({ process }) => shareOf(process!.pid)))
  const lost = (before - (await leftOfHost())) / ids.length
  console.log(
    `idle, never used (n ${ids.length}): ${mean(shares).toFixed(0)} MB each by proportional share, ${lost.toFixed(0)} MB each that the host has less; ${Math.floor(IN_MB / Math.max(lost, mean(shares)))} in 8 GB by the larger, if more of them are like these`,
  )
  for (const sandbox_id of ids) await customer.execCommand({ sandbox_id, command: 'echo 1' })
  const used = await Promise.all(records.map(({ process }) => shareOf(process!.pid)))
  console.log(
    `after one echo each: ${mean(used).toFixed(0)} MB each; ${Math.floor(IN_MB / mean(used))} in 8 GB`,
  )
  for (const sandbox_id of ids) await customer.killSandbox({ sandbox_id })
}

const images = createImageStore({ cacheFolder })
const { accelerator } = await hostAcceleration({ cacheFolder, images, user: await serviceUser() })()
console.log(`accelerator: ${accelerator}`)

let byHand: Times
await withService(0, async (customer, dataFolder) => {
  const image = await sandboxImage(cacheFolder, 'sandbox-base')
  await untilQuiet(dataFolder, 0)
  const boot = () => bootByHand(image, accelerator, memoryMb)
  byHand = tell('boot by hand, echo', await repeat(Number(boots), boot))
  const containers = await containersOf(image, containerRuntime)
  for (const [name, work] of works) {
    if ('code' in work) continue
    const start = () => containers.start(work.program)
    tell(`${containerRuntime}, ${name}`, await repeat(Number(rounds), start), byHand)
  }
  await containers.remove()
  for (const [name, work] of works) {
    const clone = () => firstOutput(customer, work)
    tell(`clone over REST, ${name}`, await repeat(Number(rounds), clone), byHand)
  }
  await measureMemory(dataFolder, customer)
})
await withService(WAITING, async (customer, dataFolder) => {
  for (const [name, work] of works) {
    const fromPool = async () => {
      await untilQuiet(dataFolder, WAITING)
      return firstOutput(customer, work)
    }
    tell(`pool over REST, ${name}`, await repeat(Number(rounds), fromPool), byHand)
  }
  await untilQuiet(dataFolder, WAITING)
  const waiting = await Promise.all((await machinesOf(dataFolder)).map(({ pid }) => shareOf(pid)))
  console.log(`waiting in the pool: ${mean(waiting).toFixed(0)} MB each`)
})
