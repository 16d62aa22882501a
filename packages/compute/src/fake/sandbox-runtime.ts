import { isDeepStrictEqual } from 'node:util'
import { oneAtATime } from '@coinrack/host/one-at-a-time.ts'
import { checkNetwork, closedNetwork, type SandboxNetwork } from '../ports/sandbox-network.ts'
import {
  type SandboxCapacity,
  SandboxError,
  type SandboxRuntime,
  type SandboxSize,
  type SandboxSnapshot,
  type SandboxSpec,
  type TemplateStatus,
} from '../ports/sandbox-runtime.ts'
import { checkSandboxSpec } from '../ports/sandbox-spec.ts'

/*
 * A runtime without virtual machines, for tests of what stands above the port. Its sandboxes fail by the variable FAKE of
 * their environment, words with spaces between:
 *
 *   fail-ensure-N      the first N calls of `ensure` throw `guest_failed`
 *   no-space           `ensure` throws `no_space`
 *   not-ready          `ensure` throws `template_not_ready`
 *   fail-pause-N       the first N calls of `pause` throw `guest_failed`
 *   damaged            what `pause` keeps cannot be resumed: `state_damaged`
 *   fail-fork, fail-snapshot, fail-network    throw `guest_failed`
 *   no-agent           the channel's calls throw `guest_failed`
 */

export interface FakeRuntimeOptions {
  clock: { now(): Date }
  capacity?: Omit<SandboxCapacity, 'load'> & { load?: number }
  templates?: TemplateStatus[]
  /** Default true. */
  hasNetworks?: boolean
}

export interface FakeSandbox {
  spec: SandboxSpec
  state: 'running' | 'paused' | 'ended'
  /** Milliseconds of the runs that are over. */
  ranMs: number
  /** The start of the current run. */
  startedAt: Date
  network: SandboxNetwork
  reason?: string
}

export interface FakeRuntime extends SandboxRuntime {
  readonly sandboxes: ReadonlyMap<string, FakeSandbox>
  /** Every call that changes something, in order, as `ensure sbx...` or `fork sbx... sbx...`. */
  readonly calls: readonly string[]
  /** Ends the sandbox as a crash of it would. */
  crash(id: string): void
  /** Keeps a snapshot that came from another runtime. */
  adopt(snapshot: SandboxSnapshot): void
  /** The time by its clock. */
  now(): Date
  /** Told of what happens to the insides of sandboxes. */
  follow(inside: FakeInside): void
}

/** The half of a sandbox that a channel works with. */
export interface FakeInside {
  pause(id: string): void
  resume(id: string): void
  end(id: string): Promise<void>
  /** From a sandbox or a snapshot to the other. */
  copy(from: string, to: string): Promise<void>
}

const nothing: FakeInside = { pause() {}, resume() {}, async end() {}, async copy() {} }

export function createFakeRuntime(options: FakeRuntimeOptions): FakeRuntime {
  const { clock, hasNetworks = true } = options
  const names = options.templates ?? [
    { name: 'base', state: 'ready' as const },
    { name: 'code-interpreter', state: 'ready' as const },
  ]
  const sandboxes = new Map<string, FakeSandbox>()
  const kept = new Map<string, SandboxSnapshot>()
  const calls: string[] = []
  const failures = new Map<string, number>()
  const alone = oneAtATime()
  let inside = nothing

  const ranMs = ({ state, ranMs, startedAt }: FakeSandbox) =>
    state === 'running' ? ranMs + clock.now().getTime() - startedAt.getTime() : ranMs

  const known = (id: string) => {
    const sandbox = sandboxes.get(id)
    if (!sandbox) throw new SandboxError('sandbox_unknown', `There is no sandbox ${id}`)
    return sandbox
  }
  const alive = (id: string) => {
    const sandbox = known(id)
    if (sandbox.state === 'ended') throw new SandboxError('sandbox_ended', `Sandbox ${id} has ended`)
    return sandbox
  }
  const rest = (sandbox: FakeSandbox, state: 'paused' | 'ended') => {
    sandbox.ranMs = ranMs(sandbox)
    sandbox.state = state
  }

  const failFirst = (call: string, { id, env }: SandboxSpec) => {
    const wanted = Number(new RegExp(`\\bfail-${call}-(\\d+)`).exec(env?.FAKE ?? '')?.[1] ?? 0)
    const failed = failures.get(`${call} ${id}`) ?? 0
    if (failed >= wanted) return
    failures.set(`${call} ${id}`, failed + 1)
    throw new SandboxError('guest_failed', `scripted: failure ${failed + 1} of ${wanted}`)
  }

  const make = async (spec: SandboxSpec, from?: string) => {
    checkSandboxSpec(spec)
    if (sandboxes.has(spec.id)) return
    if (says(spec, 'no-space')) throw new SandboxError('no_space', 'scripted: no space left')
    if (says(spec, 'not-ready')) throw new SandboxError('template_not_ready', 'scripted: not built yet')
    failFirst('ensure', spec)
    const network = wanted(spec.network ?? closedNetwork)
    if (from) await inside.copy(from, spec.id)
    sandboxes.set(spec.id, { spec, state: 'running', ranMs: 0, startedAt: clock.now(), network })
  }

  const wanted = (network: SandboxNetwork) => {
    checkNetwork(network)
    if (!hasNetworks && !isDeepStrictEqual(network, closedNetwork))
      throw new SandboxError('unsupported', 'scripted: no networks')
    return structuredClone(network)
  }

  /** The source that the template is copied from, when that is a snapshot. */
  const originOf = (spec: SandboxSpec) => {
    const snapshot = kept.get(spec.template)
    if (snapshot) {
      sameSize(spec, snapshot.size)
      return snapshot.id
    }
    const template = names.find(({ name }) => name === spec.template)
    if (!template) throw new SandboxError('template_unknown', `There is no template ${spec.template}`)
    if (template.state !== 'ready')
      throw new SandboxError('template_not_ready', `Template ${spec.template} is not built yet`)
    return undefined
  }

  return {
    sandboxes,
    now: () => clock.now(),
    calls,

    follow(other) {
      inside = other
    },

    adopt(snapshot) {
      kept.set(snapshot.id, snapshot)
    },

    crash(id) {
      const sandbox = known(id)
      rest(sandbox, 'ended')
      sandbox.reason = 'scripted: it crashed'
      void inside.end(id)
    },

    ensure: (spec) =>
      alone(spec.id, async () => {
        calls.push(`ensure ${spec.id}`)
        if (!sandboxes.has(spec.id)) await make(spec, originOf(spec))
      }),

    async observe() {
      return new Map(
        [...sandboxes].map(([id, sandbox]) => [
          id,
          {
            state: sandbox.state,
            ranMs: ranMs(sandbox),
            ...(sandbox.reason !== undefined && { reason: sandbox.reason }),
          },
        ]),
      )
    },

    destroy: (id) =>
      alone(id, async () => {
        calls.push(`destroy ${id}`)
        const sandbox = sandboxes.get(id)
        if (!sandbox) return {}
        const end = { ranMs: ranMs(sandbox) }
        sandboxes.delete(id)
        await inside.end(id)
        return end
      }),

    pause: (id) =>
      alone(id, async () => {
        calls.push(`pause ${id}`)
        const sandbox = alive(id)
        if (sandbox.state === 'paused') return
        failFirst('pause', sandbox.spec)
        rest(sandbox, 'paused')
        inside.pause(id)
      }),

    resume: (id) =>
      alone(id, async () => {
        calls.push(`resume ${id}`)
        const sandbox = alive(id)
        if (sandbox.state === 'running') return
        if (says(sandbox.spec, 'damaged'))
          throw new SandboxError('state_damaged', 'scripted: not what was saved')
        sandbox.state = 'running'
        sandbox.startedAt = clock.now()
        inside.resume(id)
      }),

    fork: (id, spec) =>
      alone(id, async () => {
        calls.push(`fork ${id} ${spec.id}`)
        if (sandboxes.has(spec.id)) return
        const parent = alive(id)
        sameSize(spec, parent.spec)
        if (says(parent.spec, 'fail-fork')) throw new SandboxError('guest_failed', 'scripted: no fork')
        await make(spec, id)
      }),

    takeSnapshot: (id, snapshotId) =>
      alone(id, async () => {
        calls.push(`takeSnapshot ${id} ${snapshotId}`)
        const sandbox = alive(id)
        const there = kept.get(snapshotId)
        if (there) return there
        if (says(sandbox.spec, 'fail-snapshot'))
          throw new SandboxError('guest_failed', 'scripted: no snapshot')
        await inside.copy(id, snapshotId)
        const { vcpus, memoryMb, diskGb } = sandbox.spec
        const snapshot = {
          id: snapshotId,
          size: { vcpus, memoryMb, diskGb },
          bytes: memoryMb * 1024 ** 2,
        }
        kept.set(snapshotId, snapshot)
        return snapshot
      }),

    async removeSnapshot(snapshotId) {
      calls.push(`removeSnapshot ${snapshotId}`)
      if (kept.delete(snapshotId)) await inside.end(snapshotId)
    },

    async keepWarm(snapshotId) {
      calls.push(`keepWarm ${snapshotId}`)
      if (!kept.has(snapshotId))
        throw new SandboxError('template_unknown', `There is no snapshot ${snapshotId}`)
    },

    snapshots: async () => [...kept.values()],

    applyNetwork: (id, network) =>
      alone(id, async () => {
        const applied = wanted(network)
        const sandbox = known(id)
        if (says(sandbox.spec, 'fail-network'))
          throw new SandboxError('guest_failed', 'scripted: rules that do not load')
        sandbox.network = applied
      }),

    hasNetworks: async () => hasNetworks,
    templates: async () => names,
    capacity: async () => ({
      ...{ vcpus: 64, memoryMb: 64 * 1024, diskGb: 1000, load: 0 },
      ...options.capacity,
    }),
  }
}

/** Whether the sandbox's environment has the word of a scripted failure. */
export const says = ({ env }: SandboxSpec, word: string) => (env?.FAKE ?? '').split(' ').includes(word)

function sameSize(spec: SandboxSize, { vcpus, memoryMb, diskGb }: SandboxSize): void {
  if (spec.vcpus !== vcpus || spec.memoryMb !== memoryMb || spec.diskGb !== diskGb)
    throw new SandboxError(
      'spec_invalid',
      `It goes on only with ${vcpus} processors, ${memoryMb} MB of memory and ${diskGb} GB of disk`,
    )
}
