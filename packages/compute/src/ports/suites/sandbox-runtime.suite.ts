import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeSandboxId, makeSnapshotId } from '../../testing.ts'
import type { SandboxChannel } from '../sandbox-channel.ts'
import { closedNetwork } from '../sandbox-network.ts'
import type { SandboxError, SandboxErrorCode, SandboxRuntime, SandboxSpec } from '../sandbox-runtime.ts'
import { runTask } from './sandbox-channel.suite.ts'

/** The subject of the suite: an implementation of the port, and ways to see what it does. */
export interface RuntimeUnderTest {
  runtime: SandboxRuntime
  channel: SandboxChannel
  /** A spec of a new sandbox that the runtime can make. */
  newSpec(): SandboxSpec
  /** Lets this much time pass by the runtime's clock. */
  pass(milliseconds: number): Promise<void>
  /** Ends the sandbox's process, as a crash of it would. */
  crash(id: string): Promise<void>
  /** Whatever there is of the sandbox or snapshot on the host: processes, files, groups. */
  traces(id: string): Promise<string[]>
  /** Damages what is kept of a paused sandbox. */
  damage(id: string): Promise<void>
  /** Another runtime of the same host, as after a restart of the service; where what runs outlives it. */
  restart?(): Promise<{ runtime: SandboxRuntime; channel: SandboxChannel }>
  /** Whether programs that run are part of a fork and of a snapshot. */
  copiesPrograms: boolean
  close?(): Promise<void>
}

const START_TIMEOUT_MS = 8 * 60_000

/** The duties of every runtime. The tests are one life of a few sandboxes, in order. */
export function sandboxRuntimeSuite(name: string, make: () => Promise<RuntimeUnderTest>): void {
  describe(`${name}: the sandbox runtime port`, { timeout: START_TIMEOUT_MS }, () => {
    let subject: RuntimeUnderTest
    let runtime: SandboxRuntime
    let channel: SandboxChannel
    let spec: SandboxSpec
    const made: string[] = []
    const snapshotId = makeSnapshotId()

    beforeAll(async () => {
      subject = await make()
      ;({ runtime, channel } = subject)
      spec = newSpec()
    }, START_TIMEOUT_MS)

    afterAll(async () => {
      for (const id of made) await runtime.destroy(id)
      await runtime?.removeSnapshot(snapshotId)
      await subject?.close?.()
    })

    const newSpec = (change: Partial<SandboxSpec> = {}) => {
      const fresh = { ...subject.newSpec(), ...change }
      made.push(fresh.id)
      return fresh
    }
    const seen = async (id: string) => (await runtime.observe()).get(id)
    const run = async (id: string, command: string) => {
      const { stdout, stderr } = await runTask(channel, id, { run: { command } })
      return (stdout + stderr).trim()
    }
    const codeOf = (call: Promise<unknown>): Promise<SandboxErrorCode | 'none'> =>
      call.then(
        () => 'none' as const,
        (error: SandboxError) => error.code,
      )

    test('behavior: an unknown sandbox is not observed, and its destruction is done', async () => {
      expect(await seen(spec.id)).toBeUndefined()
      expect(await runtime.destroy(spec.id)).toEqual({})
      await runtime.removeSnapshot(snapshotId)
    })

    test('error: an unknown sandbox does nothing', async () => {
      for (const id of [makeSandboxId(), '../../etc']) {
        expect(await codeOf(runtime.pause(id))).toBe('sandbox_unknown')
        expect(await codeOf(runtime.resume(id))).toBe('sandbox_unknown')
        expect(await codeOf(runtime.fork(id, spec))).toBe('sandbox_unknown')
        expect(await codeOf(runtime.takeSnapshot(id, makeSnapshotId()))).toBe('sandbox_unknown')
        expect(await codeOf(channel.metrics(id))).toBe('sandbox_unknown')
      }
    })

    test('error: what can be no sandbox is none', async () => {
      for (const change of [
        { id: '../../etc' },
        { vcpus: 0 },
        { vcpus: 1.5 },
        { memoryMb: 1 },
        { env: { 'A=B': 'x' } },
        { network: { allowInternet: true, allowOut: ['1.2.3.4; drop'], denyOut: [] } },
      ])
        expect(await codeOf(runtime.ensure({ ...spec, ...change }))).toBe('spec_invalid')
      expect(await codeOf(runtime.ensure({ ...spec, template: 'plan-9' }))).toBe('template_unknown')
      expect(await codeOf(runtime.ensure({ ...spec, template: snapshotId }))).toBe('template_unknown')
      expect(await seen(spec.id)).toBeUndefined()
    })

    test('default: it is made once, takes work, and has its environment', async () => {
      spec = { ...spec, env: { GREETING: `it's "me"` } }
      await Promise.all([runtime.ensure(spec), runtime.ensure(spec), runtime.ensure(spec)])
      expect(await seen(spec.id)).toMatchObject({ state: 'running', ranMs: expect.any(Number) })
      expect((await subject.traces(spec.id)).filter((trace) => trace.startsWith('process'))).toHaveLength(1)
      expect(await run(spec.id, 'echo "$GREETING"')).toBe(`it's "me"`)
    })

    test('default: what it may reach is changed while it runs, by network and by name', async () => {
      const network = {
        allowInternet: false,
        allowOut: ['pypi.org', '*.example.com', '198.51.100.0/24'],
        denyOut: ['a.example.com'],
      }
      const isPossible = await runtime.hasNetworks()
      expect(await codeOf(runtime.applyNetwork(spec.id, network))).toBe(isPossible ? 'none' : 'unsupported')
      await runtime.applyNetwork(spec.id, closedNetwork)
      for (const entry of ['PyPI.org', '*', 'pypi.org; drop', '1.2.3.4/33'])
        expect(await codeOf(runtime.applyNetwork(spec.id, { ...network, denyOut: [entry] }))).toBe(
          'spec_invalid',
        )
      expect(await codeOf(runtime.applyNetwork(makeSandboxId(), closedNetwork))).toBe('sandbox_unknown')
    })

    test('behavior: what it ran is counted, and ensure again changes nothing', async () => {
      const before = (await seen(spec.id))!
      await subject.pass(1_500)
      await runtime.ensure(spec)
      const after = (await seen(spec.id))!
      expect(after.ranMs - before.ranMs).toBeGreaterThanOrEqual(1_500)
    })

    test('default: paused it does not run and is not counted; resumed it goes on where it was', async () => {
      await channel.tasks.start(spec.id, 'counter', {
        run: { command: 'n=0; while :; do n=$((n+1)); echo $n > ~/next; mv ~/next ~/count; sleep 0.1; done' },
      })
      await run(spec.id, 'echo kept > ~/kept; while ! [ -s ~/count ]; do sleep 0.1; done')
      const counted: number[] = []
      const watch = setInterval(() => {
        void seen(spec.id).then((it) => counted.push(it!.ranMs))
      }, 20)
      await Promise.all([runtime.pause(spec.id), runtime.pause(spec.id)]).finally(() => clearInterval(watch))
      const paused = (await seen(spec.id))!
      expect(paused.state).toBe('paused')
      // Nor is the time that the pause itself took.
      expect(counted.filter((ranMs) => ranMs > paused.ranMs)).toEqual([])
      expect(await codeOf(run(spec.id, 'true'))).toBe('sandbox_paused')
      await subject.pass(2_000)
      expect(await seen(spec.id)).toEqual(paused)

      await Promise.all([runtime.resume(spec.id), runtime.resume(spec.id)])
      expect(await seen(spec.id)).toMatchObject({ state: 'running' })
      expect(await run(spec.id, 'cat ~/kept')).toBe('kept')
      const count = Number(await run(spec.id, 'cat ~/count'))
      expect(Number(await run(spec.id, 'sleep 1; cat ~/count'))).toBeGreaterThan(count)
      expect((await seen(spec.id))!.ranMs).toBeGreaterThanOrEqual(paused.ranMs)
    })

    test('default: a fork goes on from where its parent is, each on its own', async () => {
      const child = newSpec({ env: { GREETING: 'child' } })
      await runtime.fork(spec.id, child)
      await runtime.fork(spec.id, child)
      await runtime.ensure(child)
      expect((await seen(child.id))!.ranMs).toBeLessThan((await seen(spec.id))!.ranMs)
      expect(await run(child.id, 'cat ~/kept; echo "$GREETING"')).toBe('kept\nchild')
      await run(child.id, 'echo changed > ~/kept')
      expect(await run(spec.id, 'cat ~/kept')).toBe('kept')
      if (subject.copiesPrograms)
        expect((await channel.tasks.list(child.id)).find(({ taskId }) => taskId === 'counter')).toMatchObject(
          {
            isRunning: true,
          },
        )
      expect(await codeOf(runtime.fork(spec.id, newSpec({ memoryMb: 1024 })))).toBe('spec_invalid')
      await runtime.destroy(child.id)
      expect(await subject.traces(child.id)).toEqual([])
      expect(await run(spec.id, 'cat ~/kept')).toBe('kept')
    })

    test('default: sandboxes are made from a snapshot, also when what it was taken of is gone', async () => {
      const taken = await runtime.takeSnapshot(spec.id, snapshotId)
      expect(await runtime.takeSnapshot(spec.id, snapshotId)).toEqual(taken)
      expect(taken).toMatchObject({
        id: snapshotId,
        size: { memoryMb: spec.memoryMb },
        bytes: expect.any(Number),
      })
      expect(await runtime.snapshots()).toContainEqual(taken)
      await run(spec.id, 'echo later > ~/kept')
      const other = newSpec({ template: snapshotId })
      await runtime.ensure(other)
      expect(await run(other.id, 'cat ~/kept; echo "$GREETING"')).toBe('kept')
      expect(await codeOf(runtime.ensure(newSpec({ template: snapshotId, memoryMb: 1024 })))).toBe(
        'spec_invalid',
      )
      await runtime.keepWarm(snapshotId)
      await runtime.keepWarm(snapshotId)
      const warm = newSpec({ template: snapshotId, env: { GREETING: 'warm' } })
      await runtime.ensure(warm)
      expect(await run(warm.id, 'cat ~/kept; echo "$GREETING"')).toBe('kept\nwarm')
      await runtime.destroy(warm.id)
      await runtime.removeSnapshot(snapshotId)
      expect(await codeOf(runtime.keepWarm(snapshotId))).toBe('template_unknown')
      expect(await runtime.snapshots()).toEqual([])
      expect(await subject.traces(snapshotId)).toEqual([])
      expect(await run(other.id, 'cat ~/kept')).toBe('kept')
      await runtime.destroy(other.id)
    })

    test('behavior: after a restart of the service it is there as it was, running or paused', async () => {
      if (!subject.restart) return
      await runtime.pause(spec.id)
      const paused = await seen(spec.id)
      const running = newSpec()
      await runtime.ensure(running)
      const { ranMs } = (await seen(running.id))!
      ;({ runtime, channel } = await subject.restart())
      expect(await seen(spec.id)).toEqual(paused)
      expect((await seen(running.id))!).toMatchObject({ state: 'running' })
      expect((await seen(running.id))!.ranMs).toBeGreaterThanOrEqual(ranMs)
      await runtime.resume(spec.id)
      expect(await run(spec.id, 'cat ~/kept')).toBe('later')
      expect(await run(running.id, 'echo here')).toBe('here')
      await runtime.destroy(running.id)
    })

    test('error: a damaged state is refused, and the sandbox stays paused', async () => {
      const other = newSpec({ env: { FAKE: 'damaged' } })
      await runtime.ensure(other)
      await runtime.pause(other.id)
      await subject.damage(other.id)
      expect(await codeOf(runtime.resume(other.id))).toBe('state_damaged')
      expect(await seen(other.id)).toMatchObject({ state: 'paused' })
      await runtime.destroy(other.id)
    })

    test('behavior: one that crashes has ended, is counted no more, and is destroyed', async () => {
      const { ranMs } = (await seen(spec.id))!
      await subject.crash(spec.id)
      const ended = (await seen(spec.id))!
      expect(ended).toMatchObject({ state: 'ended', reason: expect.any(String) })
      expect(ended.ranMs).toBeGreaterThanOrEqual(ranMs)
      await subject.pass(1_000)
      expect(await seen(spec.id)).toEqual(ended)
      await runtime.ensure(spec)
      expect(await seen(spec.id)).toEqual(ended)
      expect(await codeOf(runtime.pause(spec.id))).toBe('sandbox_ended')
      expect(await codeOf(runtime.resume(spec.id))).toBe('sandbox_ended')
      expect(await codeOf(run(spec.id, 'true'))).toBe('sandbox_ended')
      expect(await runtime.destroy(spec.id)).toEqual({ ranMs: ended.ranMs })
    })

    test('behavior: nothing is left of what was destroyed', async () => {
      for (const id of made) {
        await runtime.destroy(id)
        expect(await subject.traces(id)).toEqual([])
      }
      expect((await runtime.observe()).size).toBe(0)
    })
  })
}
