import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFakeSandboxChannel } from '../fake/sandbox-channel.ts'
import { createFakeRuntime } from '../fake/sandbox-runtime.ts'
import type { SandboxArtifacts } from '../ports/sandbox-artifacts.ts'
import { sandboxChannelSuite } from '../ports/suites/sandbox-channel.suite.ts'
import { sandboxRuntimeSuite } from '../ports/suites/sandbox-runtime.suite.ts'
import { makeSandboxSpec } from '../testing.ts'
import { reachOverTcp } from './testing.ts'

async function makeRemote() {
  const folder = await mkdtemp(join(tmpdir(), 'coinrack-sandboxes-'))
  let skipped = 0
  const clock = { now: () => new Date(Date.now() + skipped) }
  const fake = createFakeRuntime({ clock })
  const inside = createFakeSandboxChannel(fake, folder)
  const artifacts = {} as SandboxArtifacts
  const { runtime, channel, close } = await reachOverTcp({ runtime: fake, channel: inside, artifacts })
  return {
    fake,
    inside,
    runtime,
    channel,
    skip: (ms: number) => {
      skipped += ms
    },
    async close() {
      close()
      await inside.close()
      await sleep(100)
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

sandboxRuntimeSuite('remote', async () => {
  const { fake, inside, runtime, channel, skip, close } = await makeRemote()
  return {
    runtime,
    channel,
    newSpec: makeSandboxSpec,
    pass: async (ms) => skip(ms),
    crash: async (id) => fake.crash(id),
    traces: async (id) => [
      ...(fake.sandboxes.has(id) ? [`process of ${id}`] : []),
      ...((await stat(inside.rootOf(id)).catch(() => undefined)) ? [inside.rootOf(id)] : []),
    ],
    damage: async () => {},
    copiesPrograms: false,
    close,
  }
})

sandboxChannelSuite('remote', async () => {
  const { fake, channel, close } = await makeRemote()
  const spec = makeSandboxSpec({ env: { FROM: 'spec' } })
  await fake.ensure(spec)
  return { channel, id: spec.id, hasInside: false, close }
})
