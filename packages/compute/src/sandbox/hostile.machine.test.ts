import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxChannel } from '../ports/sandbox-channel.ts'
import type { SandboxSpec } from '../ports/sandbox-runtime.ts'
import { runTask } from '../ports/suites/sandbox-channel.suite.ts'
import { makeSandboxSpec } from '../testing.ts'
import type { Sandboxes } from './runtime.ts'
import { folderOf, groupsOf, makeSandboxes, processesIn } from './testing.ts'

/** A hostile sandbox harms only itself. */
describe.skipIf(process.getuid?.() !== 0)('a hostile sandbox', { timeout: 4 * 60_000 }, () => {
  let sandboxes: Sandboxes & { dataFolder: string }
  let channel: SandboxChannel
  let hostile: SandboxSpec
  let neighbour: SandboxSpec
  const size = { vcpus: 0.25, memoryMb: 256, diskGb: 2 }

  beforeAll(async () => {
    sandboxes = await makeSandboxes({ pool: { most: 1, always: [{ ...size, template: 'base' }] } })
    channel = sandboxes.channel
    await sandboxes.keepTemplate('base', size)
    neighbour = makeSandboxSpec(size)
    await sandboxes.runtime.ensure(neighbour)
    await sandboxes.tendPool()
    hostile = makeSandboxSpec(size)
  }, 5 * 60_000)
  afterAll(async () => {
    for (const { id } of [hostile, neighbour]) await sandboxes?.runtime.destroy(id)
    await sandboxes?.close()
  })

  const sh = async (id: string, command: string) => (await runTask(channel, id, { run: { command } })).stdout
  const background = (taskId: string, command: string) =>
    channel.tasks.start(hostile.id, taskId, { run: { command } })
  const bothAnswer = async () => {
    expect(await sh(hostile.id, 'echo alive')).toBe('alive\n')
    expect(await sh(neighbour.id, 'echo alive')).toBe('alive\n')
  }

  test('default: one that was made in advance is had at once, and is its owner’s', async () => {
    const begun = performance.now()
    await sandboxes.runtime.ensure({ ...hostile, env: { OWN: 'yes' } })
    const took = performance.now() - begun
    expect(await sh(hostile.id, 'echo "$OWN" "$(hostname)"')).toBe(`yes ${hostile.id}\n`)
    console.log(`out of the pool in ${Math.round(took)} ms`)
  })

  test('behavior: one that ends every process that it may is served as before', async () => {
    await background('reaper', 'kill -9 -1')
    await sleep(1_000)
    for (const word of ['one', 'two', 'three']) expect(await sh(hostile.id, `echo ${word}`)).toBe(`${word}\n`)
    const run = { code: 'print(6 * 7)', language: 'python' as const }
    expect((await runTask(channel, hostile.id, { run })).stdout).toBe('42\n')
  })

  test('behavior: its QEMU has no rights, a filter of system calls, and limits', async () => {
    const folder = (await folderOf(sandboxes.dataFolder, hostile.id))!
    const [pid] = await processesIn(folder)
    const { readFile } = await import('node:fs/promises')
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)![1]
    expect(Number(field('Uid')!.split('\t')[0])).toBeGreaterThan(1_000_000)
    expect([field('CapEff'), field('CapBnd'), field('NoNewPrivs'), field('Seccomp')]).toEqual([
      ...['0000000000000000', '0000000000000000', '1', '2'],
    ])
    expect((await groupsOf(folder.split('/').at(-1)!)).length).toBeGreaterThan(0)
  })

  test('behavior: a fork bomb stops at its limit, and is killed', async () => {
    await background('bomb', 'bomb() { bomb | bomb & }; bomb; sleep 60')
    await sleep(3_000)
    await channel.tasks.remove(hostile.id, 'bomb')
    await bothAnswer()
  })

  test('behavior: a memory hog is killed, and the sandbox lives', async () => {
    const hog = `python3 -c 'x = []
while True: x.append(bytearray(b"x") * (10 << 20))'`
    const { end } = await runTask(channel, hostile.id, { run: { command: hog }, timeoutMs: 60_000 })
    expect(end.exitCode).not.toBe(0)
    await bothAnswer()
  })

  test('behavior: a disk filler fills its own disk, and no more of the host’s', async () => {
    const { stderr } = await runTask(channel, hostile.id, {
      run: { command: 'dd if=/dev/zero of=~/fill bs=1M; df --output=avail / | tail -1' },
      timeoutMs: 120_000,
    })
    expect(stderr).toContain('No space left on device')
    const folder = (await folderOf(sandboxes.dataFolder, hostile.id))!
    const { stdout } = await runCommand('du', ['-sm', folder])
    expect(Number.parseInt(stdout, 10)).toBeGreaterThan(2_000)
    expect(Number.parseInt(stdout, 10)).toBeLessThan(2_500)
    await sh(hostile.id, 'rm ~/fill')
    await bothAnswer()
  })

  test('behavior: output without end, in many tasks, costs the service nothing that is not read', async () => {
    const before = process.memoryUsage().rss
    for (let n = 0; n < 8; n++) await background(`yes-${n}`, 'yes')
    await sleep(2_000)
    await bothAnswer()
    for (let n = 0; n < 8; n++) await channel.tasks.remove(hostile.id, `yes-${n}`)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 ** 2)
  })

  test('behavior: one that overwrites its agent’s line, or ends its kernel, ends alone', async () => {
    await background(
      'end',
      'sudo sh -c "echo 1 > /proc/sys/kernel/sysrq; echo o > /proc/sysrq-trigger; echo b > /proc/sysrq-trigger"',
    )
    const state = async () => (await sandboxes.runtime.observe()).get(hostile.id)?.state
    for (let waited = 0; waited < 20_000 && (await state()) === 'running'; waited += 200) await sleep(200)
    expect(await state()).toBe('ended')
    expect(await sh(neighbour.id, 'echo alive')).toBe('alive\n')
  })
})
