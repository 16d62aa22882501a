import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createImageStore } from '@coinrack/compute/images/image-store.ts'
import { hostAcceleration } from '@coinrack/compute/machine/host-acceleration.ts'
import { withMonitor } from '@coinrack/compute/machine/monitor.ts'
import type { MachineNetworks } from '@coinrack/compute/network/machine-networks.ts'
import type { TaskRequest } from '@coinrack/compute/ports/sandbox-channel.ts'
import { sandboxFiles } from '@coinrack/compute/sandbox/command-line.ts'
import { createSandboxes } from '@coinrack/compute/sandbox/runtime.ts'
import { folderOf } from '@coinrack/compute/sandbox/testing.ts'
import { makeSandboxSpec } from '@coinrack/compute/testing.ts'
import { serviceUser } from '@coinrack/host/service-user.ts'

/*
 * From the wish for a sandbox to the first output of what runs in it: as a clone, out of the pool, and by a boot. Under
 * emulation also how many blocks of the guest's code QEMU has translated by then, which hardly depends on the host.
 *   npm run bench:sandbox -- [ROUNDS] [COLD_ROUNDS] [MEMORY_MB]
 */

const [rounds = 10, coldRounds = 2, memoryMb = 512] = process.argv.slice(2).map(Number)
const cacheFolder = '/var/cache/coinrack'
const dataFolder = await mkdtemp(join(tmpdir(), 'sbx-bench-'))
await chmod(dataFolder, 0o755)
const user = await serviceUser()
const images = createImageStore({ cacheFolder })
const acceleration = hostAcceleration({ cacheFolder, images, user })
const make = (most: number) =>
  createSandboxes({
    ...{ dataFolder, cacheFolder, user, acceleration, pool: { most }, templateNiceness: 0 },
    clock: { now: () => new Date() },
    log: { info: (fields, message) => 'err' in fields && console.error(message, fields.err) },
    networks: { isPossible: async () => false } as MachineNetworks,
  })
const size = { vcpus: 0.25, memoryMb, diskGb: 2 }
const work: [string, TaskRequest['run']][] = [
  ['echo', { command: 'echo 1' }],
  ['python -c', { program: ['python3', '-c', 'print(1)'] }],
  ['node -e', { program: ['node', '-e', 'console.log(1)'] }],
  ['python code', { language: 'python', code: 'print(1)' }],
  ['node code', { language: 'node', code: 'console.log(1)' }],
]

type Sandboxes = Awaited<ReturnType<typeof make>>

async function firstOutput({ runtime, channel }: Sandboxes, run: TaskRequest['run']) {
  const spec = makeSandboxSpec(size)
  const begun = performance.now()
  await runtime.ensure(spec)
  const made = performance.now()
  const { stdout } = await channel.tasks.run(spec.id, 'task', { run }, { waitMs: 60_000, untilEnd: true })
  const ended = performance.now()
  if (Buffer.from(stdout).toString() !== '1\n') throw new Error(`It said ${Buffer.from(stdout)}`)
  const blocks = await blocksOf(spec.id)
  await runtime.destroy(spec.id)
  return { made: made - begun, output: ended - begun, blocks }
}

/** Translated for the sandbox since its QEMU began. */
async function blocksOf(id: string): Promise<number> {
  if ((await acceleration()).accelerator !== 'tcg') return 0
  const folder = (await folderOf(dataFolder, id))!
  const { 'human-readable-text': text } = await withMonitor(
    join(folder, sandboxFiles.monitor),
    ({ execute }) => execute<{ 'human-readable-text': string }>('x-query-jit'),
  )
  return Number(/^TB count +(\d+)/m.exec(text)![1])
}

const at = (sorted: number[], share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1]!)
function tell(name: string, times: { made: number; output: number; blocks: number }[]): void {
  const sorted = (key: 'made' | 'output' | 'blocks') => times.map((time) => time[key]).sort((a, b) => a - b)
  const [made, output, blocks] = [sorted('made'), sorted('output'), sorted('blocks')]
  console.log(
    `${name}: made p50 ${at(made, 0.5)} ms; first output p50 ${at(output, 0.5)} p95 ${at(output, 0.95)} ms, ${at(blocks, 0.5)} blocks (n ${times.length})`,
  )
}

try {
  const sandboxes = await make(0)
  await sandboxes.prepare('base', console.log)
  console.log(`accelerator: ${(await acceleration()).accelerator}`)
  const cold = []
  for (let round = 0; round < coldRounds; round++) cold.push(await firstOutput(sandboxes, work[0]![1]))
  if (coldRounds > 0) tell('boot, echo', cold)
  await sandboxes.keepTemplate('base', size)
  for (const [name, run] of work) {
    const times = []
    for (let round = 0; round < rounds; round++) times.push(await firstOutput(sandboxes, run))
    tell(`clone, ${name}`, times)
  }
  await sandboxes.close()
  const pooled = await make(1)
  for (const [name, run] of work) {
    const times = []
    for (let round = 0; round <= rounds; round++) {
      const time = await firstOutput(pooled, run)
      if (round > 0) times.push(time)
      await pooled.tendPool()
    }
    tell(`pool, ${name}`, times)
  }
  await pooled.close()
} finally {
  await rm(dataFolder, { recursive: true, force: true })
}
