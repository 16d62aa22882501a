import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '@coinrack/host/run-command.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeVpsId } from '../../testing.ts'
import { blockDeviceOf } from './block-device.ts'
import { createControlGroups, groupFolders } from './control-groups.ts'
import { defaultDiskLimits } from './limits.ts'

const PARENT = `/coinrack-test-${process.pid}`
const notes: string[] = []
const groups = createControlGroups({
  parent: PARENT,
  disk: defaultDiskLimits,
  dataFolder: tmpdir(),
  log: { info: (_, message) => notes.push(message) },
})
const canLimit = await groups.isPossible()

test('behavior: a host that cannot is said to be one', () => {
  expect(notes).toHaveLength(canLimit || process.getuid?.() !== 0 ? 0 : 1)
})

describe.skipIf(!canLimit)('a group for each machine', () => {
  const id = makeVpsId()
  const size = { vcpus: 1, memoryMb: 256 }
  let joinBy: string[]

  beforeAll(async () => {
    joinBy = await groups.make(id, size)
  })
  afterAll(() => groups.remove(id))

  /** A program that joined the group before it did anything. */
  const inGroup = (script: string) => {
    const join = joinBy.map((file) => `echo $$ >${file}; `).join('')
    return spawn('sh', ['-c', `${join}exec ${script}`], { stdio: ['ignore', 'pipe', 'pipe'] })
  }
  const processorSeconds = async (pid: number) => {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  }

  test('default: it is joined by the same files later, while it is there', async () => {
    expect((await groups.files(id)).sort()).toEqual([...joinBy].sort())
    expect(await groups.files(makeVpsId())).toEqual([])
  })

  test('behavior: two busy threads get one processor together, and no more', {
    timeout: 90_000,
  }, async () => {
    const script = 'perl -e "fork; while (1) {}"'
    const child = inGroup(script)
    await sleep(500)
    const [procs] = joinBy
    const pids = (await readFile(procs!, 'utf8')).trim().split('\n').map(Number)
    expect(pids).toHaveLength(2)
    const used = async () => {
      const each = await Promise.all(pids.map(processorSeconds))
      return each.reduce((sum, seconds) => sum + seconds, 0)
    }
    const [before, begun] = [await used(), performance.now()]
    await sleep(3_000)
    const share = ((await used()) - before) / ((performance.now() - begun) / 1000)
    const counted = async () => {
      const folders = await groupFolders(PARENT, id)
      const stats = await Promise.all(
        folders.map((folder) => readFile(join(folder, 'cpu.stat'), 'utf8').catch(() => '')),
      )
      return stats.join('')
    }
    // A busy host hardly gives two threads more than one processor, but now and then it does.
    await vi.waitUntil(async () => /^nr_throttled [1-9]/m.test(await counted()), {
      timeout: 60_000,
      interval: 500,
    })
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    await once(child, 'exit')
    expect(share).toBeLessThan(1.1)
  })

  test('behavior: more threads than the limit are refused', async () => {
    const script =
      'perl -e "my \\$n = 0; while (\\$n < 400) { my \\$p = fork; last unless defined \\$p; if (!\\$p) { sleep 30; exit } push @k, \\$p; \\$n++ } kill 9, @k; print \\$n"'
    const child = inGroup(script)
    const started = Number(await text(child.stdout!))
    expect(started).toBeGreaterThan(100)
    expect(started).toBeLessThan(129)
  })

  test('behavior: memory beyond the limit is not given', async () => {
    const allocate = (megabytes: number) =>
      inGroup(`perl -e "my \\$x = 'x' x (${megabytes} * 1048576); print length \\$x"`)
    const within = allocate(300)
    expect(await text(within.stdout!)).toBe(String(300 * 1048576))
    const beyond = allocate(1000)
    const [code, signal] = await once(beyond, 'exit')
    expect([code, signal]).toEqual([null, 'SIGKILL'])
  })

  test('behavior: what goes to the disk and comes from it is held back', {
    timeout: 60_000,
  }, async (context) => {
    const dataFolder = await mkdtemp('/var/tmp/coinrack-disk-')
    const slow = createControlGroups({
      parent: PARENT,
      disk: { megabytes: 8, operations: 10_000 },
      dataFolder,
      log: { info: () => {} },
    })
    const slowId = makeVpsId()
    try {
      const files = await slow.make(slowId, size)
      context.skip(
        (await blockDeviceOf(dataFolder)) === undefined,
        'The folder is on no disk that can be limited',
      )
      const join = files.map((file) => `echo $$ >${file}; `).join('')
      /** How long 24 MiB take, past the page cache as QEMU goes. */
      const seconds = async (copy: string) => {
        const begun = performance.now()
        await runCommand('sh', ['-c', `${join}exec dd bs=1M count=24 ${copy}`])
        return (performance.now() - begun) / 1000
      }
      const file = `${dataFolder}/file`
      expect(await seconds(`if=/dev/zero of=${file} oflag=direct`)).toBeGreaterThan(2.5)
      expect(await seconds(`if=${file} of=/dev/null iflag=direct`)).toBeGreaterThan(2.5)
    } finally {
      await slow.remove(slowId)
      await rm(dataFolder, { recursive: true })
    }
  })

  test('behavior: made anew while nothing runs in it, it has the new size', async () => {
    joinBy = await groups.make(id, { vcpus: 3, memoryMb: 512 })
    const values = await Promise.all(
      (await groupFolders(PARENT, id)).flatMap((folder) =>
        ['cpu.cfs_quota_us', 'cpu.max'].map((file) => readFile(join(folder, file), 'utf8').catch(() => '')),
      ),
    )
    expect(values.join('')).toMatch(/^300000( 100000)?\n$/)
  })

  test('behavior: removed, nothing is left, also of the group above the last one', async () => {
    const folders = await groupFolders(PARENT, id)
    expect(folders.length).toBeGreaterThan(0)
    expect(folders.every((folder) => existsSync(folder))).toBe(true)
    await groups.remove(id)
    await groups.remove(id)
    expect(folders.filter((folder) => existsSync(folder) || existsSync(join(folder, '..')))).toEqual([])
  })
})
