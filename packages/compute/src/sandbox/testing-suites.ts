import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SandboxChannelUnderTest } from '../ports/suites/sandbox-channel.suite.ts'
import type { RuntimeUnderTest } from '../ports/suites/sandbox-runtime.suite.ts'
import { makeSandboxSpec } from '../testing.ts'
import type { Sandboxes } from './runtime.ts'
import { folderOf, groupsOf, makeSandboxes, processesIn } from './testing.ts'

let whole: ReturnType<typeof makeSandboxes> | undefined
/** The size of the smallest sandbox that boots. */
export const size = { vcpus: 0.25, memoryMb: 256, diskGb: 2 }

/** Sandboxes of this file, with the saved machine that all of them begin as. */
export async function ready() {
  whole ??= makeSandboxes()
  const sandboxes = await whole
  await sandboxes.keepTemplate('base', size)
  return sandboxes
}

/** Where machines of sandboxes were, of those that are gone as well. */
const folders = new Map<string, string>()

type Reached = Pick<Sandboxes, 'runtime' | 'channel'>
/** How a suite reaches the sandboxes. */
export type Reach = (sandboxes: Sandboxes) => Promise<Reached>
const here: Reach = async (sandboxes) => sandboxes

/** The runtime of this host, for the suite of its port. */
export async function runtimeUnderTest(reach = here): Promise<RuntimeUnderTest> {
  const sandboxes = await ready()
  const { dataFolder } = sandboxes
  let current = sandboxes
  const pidsOf = async (id: string) => {
    const folder = await folderOf(dataFolder, id)
    if (folder) folders.set(id, folder)
    return folder ? processesIn(folder) : []
  }
  return {
    ...(await reach(sandboxes)),
    newSpec: () => makeSandboxSpec(size),
    pass: (ms) => sleep(ms),
    async crash(id) {
      for (const pid of await pidsOf(id)) process.kill(pid, 'SIGKILL')
      await sleep(200)
    },
    async traces(id) {
      const pids = await pidsOf(id)
      const folder = folders.get(id) ?? join(dataFolder, 'sandbox-snapshots', id)
      const groups = await groupsOf(folder.split('/').at(-1)!)
      return [
        ...pids.map((pid) => `process ${pid}`),
        ...(existsSync(folder) ? [`folder ${folder}`] : []),
        ...groups.map((group) => `group ${group}`),
      ]
    },
    async damage(id) {
      const file = await open(join((await folderOf(dataFolder, id))!, 'state'), 'r+')
      await file.write(Buffer.from('damaged'), 0, 7, 1_000_000)
      await file.close()
    },
    async restart() {
      await current.close()
      current = await makeSandboxes({ dataFolder })
      return reach(current)
    },
    copiesPrograms: true,
    close: () => current.close(),
  }
}

/** The inside of a sandbox of this host, for the suite of its port. */
export async function channelUnderTest(reach = here): Promise<SandboxChannelUnderTest> {
  const sandboxes = await makeSandboxes({ dataFolder: (await ready()).dataFolder })
  const spec = makeSandboxSpec({ ...size, env: { FROM: 'spec' } })
  await sandboxes.runtime.ensure(spec)
  return {
    channel: (await reach(sandboxes)).channel,
    id: spec.id,
    hasInside: true,
    async close() {
      await sandboxes.runtime.destroy(spec.id)
      await sandboxes.close()
    },
  }
}
