import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { expect, test } from 'vitest'
import { makeDataFolder } from '../local-vps/testing-clones.ts'
import { withMonitor } from '../machine/monitor.ts'
import { runTask, sandboxChannelSuite } from '../ports/suites/sandbox-channel.suite.ts'
import { sandboxRuntimeSuite } from '../ports/suites/sandbox-runtime.suite.ts'
import { makeSandboxSpec, makeSnapshotId } from '../testing.ts'
import { folderOf, makeSandboxes, processesIn, processesOf } from './testing.ts'
import { channelUnderTest, ready, runtimeUnderTest, size } from './testing-suites.ts'

const LONG_MS = 5 * 60_000
/** A second of processor time, as Linux counts it for programs. */
const TICKS = 100

sandboxRuntimeSuite('qemu', () => runtimeUnderTest())
sandboxChannelSuite('qemu', () => channelUnderTest())

test('behavior: a clone that nobody uses does nothing', { timeout: LONG_MS }, async () => {
  const sandboxes = await makeSandboxes({ dataFolder: (await ready()).dataFolder })
  const spec = makeSandboxSpec(size)
  await sandboxes.runtime.ensure(spec)
  const [pid] = await processesIn((await folderOf(sandboxes.dataFolder, spec.id))!)
  const before = await processorSeconds(pid!)
  await sleep(3_000)
  expect((await processorSeconds(pid!)) - before).toBeLessThan(0.5)
  await sandboxes.runtime.destroy(spec.id)
  await sandboxes.close()
})

/** That the process has used, in its programs and in the kernel. */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return (user! + system!) / TICKS
}

test('behavior: one that writes while the disk is full stands still uncounted, and goes on with room', {
  timeout: LONG_MS,
}, async () => {
  const { dataFolder: other } = await ready()
  const dataFolder = await makeDataFolder()
  const resize = (options: string) => runCommand('mount', ['-o', options, dataFolder])
  await runCommand('mount', ['-t', 'tmpfs', '-o', 'size=4g,mode=711', 'coinrack-full', dataFolder])
  try {
    for (const name of ['base-images', 'sandbox-templates'])
      await runCommand('cp', ['-a', '--sparse=always', join(other, name), dataFolder])
    const { runtime, channel } = await makeSandboxes({ dataFolder })
    const spec = makeSandboxSpec(size)
    await runtime.ensure(spec)
    const { stdout } = await runCommand('df', ['--output=used', '-BM', dataFolder])
    await resize(`remount,size=${Number(/(\d+)M/.exec(stdout)![1]) + 20}m`)
    const command = 'dd if=/dev/urandom of=large bs=1M count=60 conv=fsync 2>/dev/null; stat -c %s large'
    const written = runTask(channel, spec.id, { run: { command } })
    written.catch(() => {})
    const monitor = join((await folderOf(dataFolder, spec.id))!, 'run/control.sock')
    const isStopped = () =>
      withMonitor(monitor, async ({ execute }) => {
        return (await execute<{ status: string }>('query-status')).status === 'io-error'
      })
    await until(isStopped)
    const ranMs = async () => (await runtime.observe()).get(spec.id)!.ranMs
    await until(async () => {
      const before = await ranMs()
      await sleep(300)
      return (await ranMs()) === before
    })
    await resize('remount,size=4g')
    await until(async () => {
      await runtime.observe()
      return !(await isStopped())
    })
    expect((await written).stdout).toBe(`${60 * 1024 ** 2}\n`)
  } finally {
    for (const pid of await processesOf(dataFolder)) process.kill(pid, 'SIGKILL')
    await runCommand('umount', ['--lazy', dataFolder])
  }
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + LONG_MS / 5; !(await isSo()); await sleep(100))
    if (performance.now() > end) throw new Error('It did not come true')
}

test('behavior: of a snapshot that is kept warm sandboxes are clones, whose program goes on', {
  timeout: LONG_MS,
}, async () => {
  const sandboxes = await makeSandboxes({ dataFolder: (await ready()).dataFolder })
  const { runtime, channel } = sandboxes
  const spec = makeSandboxSpec(size)
  await runtime.ensure(spec)
  const count = 'i=0; while :; do echo $i; i=$((i + 1)); sleep 0.05; done'
  await channel.tasks.start(spec.id, 'cmd', { run: { command: count } })
  const snapshotId = makeSnapshotId()
  await runtime.takeSnapshot(spec.id, snapshotId)
  await runtime.destroy(spec.id)
  await runtime.keepWarm(snapshotId)
  const drawn = await Promise.all(
    [1, 2].map(async () => {
      const clone = makeSandboxSpec({ ...size, template: snapshotId })
      await runtime.ensure(clone)
      const [pid] = await processesIn((await folderOf(sandboxes.dataFolder, clone.id))!)
      expect(await readFile(`/proc/${pid}/cmdline`, 'utf8'), sandboxes.said.join('\n')).toContain(
        'mem-path=/proc/self/fd/4,share=off',
      )
      const from = { stdout: 0, stderr: 0 }
      const { next } = await channel.tasks.read(clone.id, 'cmd', from)
      const { stdout } = await channel.tasks.read(clone.id, 'cmd', next, { waitMs: 5_000 })
      expect(stdout.length).toBeGreaterThan(0)
      const { stdout: own } = await runTask(channel, clone.id, {
        run: { command: 'cat /proc/sys/kernel/random/uuid; hostname' },
      })
      await runtime.destroy(clone.id)
      return own
    }),
  )
  expect(drawn[0]).not.toBe(drawn[1])
  await runtime.removeSnapshot(snapshotId)
  expect(await readdir(join(sandboxes.dataFolder, 'sandbox-snapshot-templates'))).toEqual(['build.pid'])
  await sandboxes.close()
})

/** The values that no two sandboxes may share, one in each line. */
const PYTHON = `import os, random, uuid, secrets
print(os.urandom(8).hex()); print(uuid.uuid4()); print(random.random()); print(secrets.token_hex(8)); print(uuid.uuid1().node)`
const NODE = `const c = require('node:crypto')
console.log([c.randomBytes(8).toString('hex'), c.randomUUID(), Math.random()].join('\\n'))`
const SHELL = `cat /proc/sys/kernel/random/uuid /proc/sys/kernel/random/boot_id /etc/machine-id
hostname; cat /sys/class/net/eth0/address; head -c 8 /dev/urandom | od -An -tx1; echo $RANDOM$RANDOM
python3 -c 'import os, uuid, random; print(uuid.uuid4(), random.random(), hash("a"))'
node -e 'console.log(require("crypto").randomUUID(), Math.random())'`

test('behavior: two clones of one template draw nothing alike, and know what time it is', {
  timeout: LONG_MS,
}, async () => {
  const sandboxes = await makeSandboxes({ dataFolder: (await ready()).dataFolder })
  const specs = [makeSandboxSpec(size), makeSandboxSpec(size)]
  const drawn = await Promise.all(
    specs.map(async (spec) => {
      await sandboxes.runtime.ensure(spec)
      const out = async (code: string, language: 'python' | 'node' | 'bash', context?: string) => {
        const run = { code, language, ...(context && { context }) }
        return (await runTask(sandboxes.channel, spec.id, { run })).stdout
      }
      const now = Number(await out('date +%s', 'bash'))
      expect(Math.abs(now - Date.now() / 1000)).toBeLessThan(5)
      const parts = [
        await out(PYTHON, 'python'),
        await out(PYTHON, 'python', 'python'),
        await out(NODE, 'node'),
        await out(NODE, 'node', 'node'),
        await out(SHELL, 'bash'),
      ]
      await sandboxes.runtime.destroy(spec.id)
      return parts.join('').trim().split('\n')
    }),
  )
  expect(sandboxes.said.join('\n')).not.toContain('cold boot')
  expect(drawn[0]!.length).toBeGreaterThan(20)
  expect(drawn[0]!.filter((line) => drawn[1]!.includes(line))).toEqual([])
  await sandboxes.close()
})
