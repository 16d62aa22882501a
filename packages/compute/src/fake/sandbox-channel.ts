import { cp, mkdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { CodeContext, CodeLanguage, SandboxChannel, SandboxMetrics } from '../ports/sandbox-channel.ts'
import { SandboxError } from '../ports/sandbox-runtime.ts'
import { createFakeFiles } from './sandbox-files.ts'
import { type FakeRuntime, says } from './sandbox-runtime.ts'
import { createFakeTasks, type FakeContext } from './sandbox-tasks.ts'

/*
 * A channel into sandboxes of the fake runtime. Each has a folder as its root: programs really run there, as this user,
 * and stop while the sandbox is paused. Code in a context runs after all that ran in it before, without its output. A
 * fork or a snapshot has its origin's files and contexts, and none of its programs.
 */

export interface FakeSandboxChannel extends SandboxChannel {
  /** The folder that stands for the root of a sandbox. */
  rootOf(id: string): string
  /** Ends all that runs in any sandbox. */
  close(): Promise<void>
}

export function createFakeSandboxChannel(runtime: FakeRuntime, folder: string): FakeSandboxChannel {
  const rootOf = (id: string) => join(folder, id)
  const homeOf = (id: string) => join(rootOf(id), 'home/user')
  const contexts = new Map<string, Map<string, FakeContext>>()

  /** The folder of a sandbox that can work. */
  const here = async (id: string) => {
    const sandbox = runtime.sandboxes.get(id)
    if (!sandbox) throw new SandboxError('sandbox_unknown', `There is no sandbox ${id}`)
    if (sandbox.state !== 'running')
      throw new SandboxError(`sandbox_${sandbox.state}`, `Sandbox ${id} is ${sandbox.state}`)
    if (says(sandbox.spec, 'no-agent')) throw new SandboxError('guest_failed', 'scripted: no agent answers')
    await mkdir(homeOf(id), { recursive: true })
    await mkdir(join(rootOf(id), 'tmp'), { recursive: true })
    return { root: rootOf(id), home: homeOf(id), env: sandbox.spec.env ?? {} }
  }

  const contextsOf = (id: string) => {
    const there = contexts.get(id)
    if (there) return there
    const made = new Map(
      (['python', 'node', 'bash'] as const).map((language) => [language as string, newContext(language)]),
    )
    contexts.set(id, made)
    return made
  }
  const context = async (id: string, contextId: string) => {
    await here(id)
    const found = contextsOf(id).get(contextId)
    if (!found) throw new SandboxError('context_unknown', `There is no context ${contextId}`)
    return found
  }

  const tasks = createFakeTasks({ here, context })

  runtime.follow({
    pause: (id) => tasks.signalAll(id, 'SIGSTOP'),
    resume: (id) => tasks.signalAll(id, 'SIGCONT'),
    async end(id) {
      tasks.signalAll(id, 'SIGKILL')
      tasks.forget(id)
      contexts.delete(id)
      await rm(rootOf(id), { recursive: true, force: true, maxRetries: 5 })
    },
    async copy(from, to) {
      contexts.set(to, structuredClone(contextsOf(from)))
      await cp(rootOf(from), rootOf(to), { recursive: true, verbatimSymlinks: true }).catch(() => {})
    },
  })

  return {
    rootOf,
    tasks,
    files: createFakeFiles(here),

    contexts: {
      async create(id, contextId, { language, cwd }) {
        await here(id)
        const all = contextsOf(id)
        if (!all.has(contextId)) all.set(contextId, newContext(language, cwd))
      },
      async list(id) {
        await here(id)
        return [...contextsOf(id)].map(
          ([contextId, { language, cwd }]): CodeContext => ({ contextId, language, cwd }),
        )
      },
      async restart(id, contextId) {
        const found = await context(id, contextId)
        found.ran = []
      },
      async remove(id, contextId) {
        await here(id)
        contextsOf(id).delete(contextId)
      },
    },

    async connect(id, port) {
      await here(id)
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve)
        socket.once('error', (cause) =>
          reject(new SandboxError('port_refused', `Nothing listens at port ${port}`, { cause })),
        )
      })
      return socket
    },

    async history(id, { since, until } = {}) {
      const { processes: _, ...now } = await metrics(id)
      const sample = {
        ...now,
        at: runtime.now(),
        cpuPercent: 12.5,
        memoryCacheBytes: now.memoryTotalBytes / 32,
      }
      return [sample].filter(({ at }) => (since ?? at) <= at && at <= (until ?? at))
    },
    metrics,

    async close() {
      for (const id of runtime.sandboxes.keys()) tasks.signalAll(id, 'SIGKILL')
    },
  }

  async function metrics(id: string): Promise<SandboxMetrics> {
    await here(id)
    const { spec } = runtime.sandboxes.get(id)!
    const memoryTotalBytes = spec.memoryMb * 1024 ** 2
    const diskTotalBytes = spec.diskGb * 1024 ** 3
    return {
      cpuSeconds: 1.5,
      vcpus: Math.ceil(spec.vcpus),
      memoryUsedBytes: memoryTotalBytes / 8,
      memoryTotalBytes,
      diskUsedBytes: diskTotalBytes / 16,
      diskTotalBytes,
      processes: 12,
    }
  }
}

const newContext = (language: CodeLanguage, cwd = '/home/user'): FakeContext => ({ language, cwd, ran: [] })
