import type { SandboxObservation } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { createTally, type PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { createSnapshotMaker } from '../snapshots/reconcile-snapshots.ts'
import { expireSandboxes, goneOf, sandboxesInWork, sandboxesThere } from './sandbox-store.ts'
import { stepSandbox } from './step-sandbox.ts'

/** How often all that run are compared with what the runtime has. */
const LOOK_MS = 30_000
const AT_ONCE = 8

const isPaused = ({ state }: SandboxObservation) => state === 'paused'

export interface SandboxReconciler {
  /**
   * Begins whatever is to be done, for every sandbox that nothing is being done with.
   * Idle when none runs and nothing is being done.
   */
  pass(): Promise<PassReport>
  /** Resolves when nothing is being done any more. */
  idle(): Promise<void>
}

/**
 * Makes sandboxes what they are wanted to be, and wants those ended whose time is over. Takes no input: all it knows is
 * the database and what the runtime observes, so it can be killed at any step and goes on from there.
 */
export function createSandboxReconciler(services: Services): SandboxReconciler {
  const { db, clock, log } = services
  const { runtime } = services.sandboxes!
  const busy = new Map<string, Promise<void>>()
  const snapshots = createSnapshotMaker(services)
  const tally = createTally()
  let lookedAt = Number.NEGATIVE_INFINITY

  function begin(id: string, seen: ReadonlyMap<string, SandboxObservation>) {
    if (busy.has(id) || busy.size >= AT_ONCE) return
    const work = stepSandbox(services, id, seen)
      .then(tally.done)
      .catch((error) => {
        tally.failed()
        log.error({ err: error, sandbox: id }, 'Reconciling a sandbox failed')
      })
      .finally(() => busy.delete(id))
    busy.set(id, work)
  }

  /** Ended by themselves; and all that the runtime does not have, or has although it should be gone. */
  async function unexpected(seen: ReadonlyMap<string, SandboxObservation>): Promise<string[]> {
    const ended: string[] = []
    for (const [id, { state }] of seen) if (state === 'ended') ended.push(id)
    const now = clock.now().getTime()
    if (now - lookedAt < LOOK_MS) return ended
    lookedAt = now
    const there = await sandboxesThere(db)
    const known = new Set(there.map(({ id }) => id))
    for (const id of await goneOf(
      db,
      [...seen.keys()].filter((id) => !known.has(id)),
    ))
      await runtime.destroy(id)
    const differs = ({ id, state }: (typeof there)[number]) => seen.get(id)?.state !== state
    return [...ended, ...there.filter(differs).map(({ id }) => id)]
  }

  return {
    async pass() {
      await expireSandboxes(db, clock.now())
      await snapshots.pass()
      const seen = await runtime.observe()
      for (const id of await unexpected(seen)) begin(id, seen)
      for (const { id } of await sandboxesInWork(db)) begin(id, seen)
      const isIdle = busy.size === 0 && !snapshots.isBusy() && [...seen.values()].every(isPaused)
      return tally.report(seen.size, isIdle)
    },
    async idle() {
      await Promise.all([...busy.values(), snapshots.idle()])
    },
  }
}
