import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runTask } from '../ports/suites/sandbox-channel.suite.ts'
import { makeSandboxId, makeSandboxSpec } from '../testing.ts'
import { makeSandboxes, processesOf } from './testing.ts'

/** As the smallest sandbox that is sold. */
const micro = { template: 'base', vcpus: 0.25, memoryMb: 512, diskGb: 1 }

describe('sandboxes that are made in advance', { timeout: 3 * 60_000 }, () => {
  let sandboxes: Awaited<ReturnType<typeof makeSandboxes>>
  let roomMb = 10_000
  const given: string[] = []
  const running = () => processesOf(sandboxes.dataFolder)
  const begin = async () => {
    const spec = makeSandboxSpec({ ...micro, id: makeSandboxId() })
    const begun = performance.now()
    await sandboxes.runtime.ensure(spec)
    given.push(spec.id)
    return Math.round(performance.now() - begun)
  }

  beforeAll(async () => {
    sandboxes = await makeSandboxes({ pool: { most: 3, always: [micro], roomMb: async () => roomMb } })
    await sandboxes.keepTemplate('base', micro)
  }, 8 * 60_000)
  afterAll(async () => {
    for (const id of given) await sandboxes?.runtime.destroy(id)
    await sandboxes?.close()
  })

  test('default: one is there before anybody asked, and is nobody’s', async () => {
    await sandboxes.tendPool()
    expect(await running()).toHaveLength(1)
    expect((await sandboxes.runtime.observe()).size).toBe(0)
    const [pid] = await running()
    const memory = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
    console.log(`memory of its own of one that waits: ${/^Anonymous: +(\d+)/m.exec(memory)![1]} kB`)
  })

  test('default: it is had at once; those that were wanted within a minute are made for the next', async () => {
    const [waiting] = await running()
    const took = await begin()
    console.log(`out of the pool in ${took} ms`)
    expect(await running()).toContain(waiting)
    expect((await sandboxes.runtime.observe()).size).toBe(1)
    await begin()
    await sandboxes.tendPool()
    expect(await running()).toHaveLength(2 + 2)
  })

  test('behavior: when its memory is wanted they are gone at once, and no sandbox of anybody’s is', async () => {
    roomMb = 600
    await sandboxes.tendPool()
    expect(await running()).toHaveLength(2 + 1)
    roomMb = -100
    await sandboxes.tendPool()
    expect(await running()).toHaveLength(2)
    for (const id of given) {
      const done = await runTask(sandboxes.channel, id, { run: { command: 'echo alive' } })
      expect(done.stdout).toBe('alive\n')
    }
    await begin()
    expect(await running()).toHaveLength(3)
  })

  test('behavior: the service takes those that nobody has along when it ends', async () => {
    roomMb = 10_000
    await sandboxes.tendPool()
    expect(await running()).toHaveLength(3 + 3)
    await sandboxes.close()
    expect(await running()).toHaveLength(3)
  })
})
