import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { closedNetwork, openNetwork } from '../ports/sandbox-network.ts'
import { sandboxChannelSuite } from '../ports/suites/sandbox-channel.suite.ts'
import { sandboxRuntimeSuite } from '../ports/suites/sandbox-runtime.suite.ts'
import { makeSandboxSpec, makeSnapshotId } from '../testing.ts'
import { createFakeSandboxChannel } from './sandbox-channel.ts'
import { createFakeRuntime } from './sandbox-runtime.ts'

async function makeFake() {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-sandboxes-'))
  const clock = { now: () => new Date(Date.now() + skipped) }
  let skipped = 0
  const runtime = createFakeRuntime({ clock })
  const channel = createFakeSandboxChannel(runtime, folder)
  return {
    runtime,
    channel,
    skip: (ms: number) => {
      skipped += ms
    },
    close: async () => {
      await channel.close()
      await sleep(100)
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

sandboxRuntimeSuite('fake', async () => {
  const { runtime, channel, skip, close } = await makeFake()
  return {
    runtime,
    channel,
    newSpec: makeSandboxSpec,
    pass: async (ms) => skip(ms),
    crash: async (id) => runtime.crash(id),
    traces: async (id) => [
      ...(runtime.sandboxes.has(id) ? [`process of ${id}`] : []),
      ...((await stat(channel.rootOf(id)).catch(() => undefined)) ? [channel.rootOf(id)] : []),
    ],
    damage: async () => {},
    copiesPrograms: false,
    close,
  }
})

sandboxChannelSuite('fake', async () => {
  const { runtime, channel, close } = await makeFake()
  const spec = makeSandboxSpec({ env: { FROM: 'spec' } })
  await runtime.ensure(spec)
  return { channel, id: spec.id, hasInside: false, close }
})

describe('fake: failures by the variable FAKE', () => {
  const clock = { now: () => new Date('2030-01-01T00:00:00Z') }
  const runtime = createFakeRuntime({ clock, hasNetworks: false })
  const make = (FAKE: string) => makeSandboxSpec({ env: { FAKE } })

  test('error: fail-ensure-2 and fail-pause-1 throw as often', async () => {
    const spec = make('fail-ensure-2 fail-pause-1')
    await expect(runtime.ensure(spec)).rejects.toMatchObject({ code: 'guest_failed' })
    await expect(runtime.ensure(spec)).rejects.toMatchObject({ code: 'guest_failed' })
    await runtime.ensure(spec)
    await expect(runtime.pause(spec.id)).rejects.toMatchObject({ code: 'guest_failed' })
    expect((await runtime.observe()).get(spec.id)?.state).toBe('running')
    await runtime.pause(spec.id)
    expect((await runtime.observe()).get(spec.id)?.state).toBe('paused')
  })

  test('error: no-space and not-ready make none', async () => {
    await expect(runtime.ensure(make('no-space'))).rejects.toMatchObject({ code: 'no_space' })
    await expect(runtime.ensure(make('not-ready'))).rejects.toMatchObject({ code: 'template_not_ready' })
  })

  test('error: fail-fork, fail-snapshot and fail-network', async () => {
    const spec = make('fail-fork fail-snapshot fail-network')
    await runtime.ensure(spec)
    const failed = { code: 'guest_failed' }
    await expect(runtime.fork(spec.id, makeSandboxSpec())).rejects.toMatchObject(failed)
    await expect(runtime.takeSnapshot(spec.id, makeSnapshotId())).rejects.toMatchObject(failed)
    await expect(runtime.applyNetwork(spec.id, closedNetwork)).rejects.toMatchObject(failed)
  })

  test('error: no networks where there are none', async () => {
    const spec = makeSandboxSpec()
    await runtime.ensure(spec)
    await expect(runtime.applyNetwork(spec.id, openNetwork)).rejects.toMatchObject({ code: 'unsupported' })
    await expect(runtime.ensure(makeSandboxSpec({ network: openNetwork }))).rejects.toMatchObject({
      code: 'unsupported',
    })
  })

  test('error: no-agent answers nothing', async () => {
    const { runtime: other, channel, close } = await makeFake()
    const spec = make('no-agent')
    await other.ensure(spec)
    await expect(channel.metrics(spec.id)).rejects.toMatchObject({ code: 'guest_failed' })
    await close()
  })
})
