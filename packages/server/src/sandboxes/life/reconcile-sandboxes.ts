import type { SandboxObservation } from '@coinrack/compute/ports/sandbox-runtime.ts'
import { createTally, type PassReport } from '../../platform/pass-report.ts'
import type { Services } from '../../platform/services.ts'
import { createSnapshotMaker } from '../snapshots/reconcile-snapshots.ts'
import { createLostHosts } from './lost-hosts.ts'
import { createHostNotes } from './note-hosts.ts'
import { type Observed, observeHosts } from './observe-hosts.ts'
import {
  expireSandboxes,
  type SandboxRow,
  sandboxesInWork,
  sandboxesThere,
  strayOn,
} from './sandbox-store.ts'
import { stepSandbox } from './step-sandbox.ts'

/** How often all that run are compared with what the runtime has. */
const LOOK_MS = 30_000
/** On each host. */
const AT_ONCE = 8

type Placed = Pick<SandboxRow, 'id' | 'host_id'> & Partial<Pick<SandboxRow, 'wanted'>>

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
 * the database and what hosts observe, so it can be killed at any step and goes on from there.
 */
export function createSandboxReconciler(services: Services): SandboxReconciler {
  const { db, clock, log } = services
  const busy = new Map<string, Promise<void>>()
  const busyOn = new Map<string, number>()
  const strays = new Map<string, Promise<void>>()
  const snapshots = createSnapshotMaker(services)
  const lost = createLostHosts(services)
  const notes = createHostNotes(services)
  const tally = createTally()
  let lookedAt = Number.NEGATIVE_INFINITY

  function begin({ id, host_id, wanted }: Placed, seen: Observed) {
    const onHost = busyOn.get(host_id) ?? 0
    if (busy.has(id) || onHost >= AT_ONCE) return
    // A host that did not answer is not asked for more, but what is wanted ended ends.
    if (!seen.has(host_id) && services.sandboxes.has(host_id) && wanted !== 'ended') return
    busyOn.set(host_id, onHost + 1)
    const work = stepSandbox(services, id, seen)
      .then(tally.done)
      .catch((error) => {
        tally.failed()
        log.error({ err: error, sandbox: id }, 'Reconciling a sandbox failed')
      })
      .finally(() => {
        busy.delete(id)
        busyOn.set(host_id, busyOn.get(host_id)! - 1)
      })
    busy.set(id, work)
  }

  /** Ended by themselves; and all that their host does not have. What it has and should not have is destroyed. */
  async function unexpected(seen: Observed): Promise<Placed[]> {
    const ended = [...seen].flatMap(([host_id, onHost]) =>
      [...onHost].flatMap(([id, { state }]) => (state === 'ended' ? [{ id, host_id }] : [])),
    )
    const now = clock.now().getTime()
    if (now - lookedAt < LOOK_MS) return ended
    lookedAt = now
    const there = await sandboxesThere(db)
    const known = new Set(there.map(({ id, host_id }) => `${host_id} ${id}`))
    for (const [hostId, onHost] of seen)
      lookForStrays(
        hostId,
        [...onHost.keys()].filter((id) => !known.has(`${hostId} ${id}`)),
      )
    const differs = ({ id, host_id, state }: (typeof there)[number]) => {
      const onHost = seen.get(host_id)
      return onHost !== undefined && onHost.get(id)?.state !== state
    }
    return [...ended, ...there.filter(differs)]
  }

  /** A host that takes its time for it holds up nothing else. */
  function lookForStrays(hostId: string, ids: readonly string[]): void {
    if (ids.length === 0 || strays.has(hostId)) return
    const work = destroyStray(hostId, ids)
      .catch((error) => log.warn({ err: error, host: hostId }, 'Strays on a host were not destroyed'))
      .finally(() => strays.delete(hostId))
    strays.set(hostId, work)
  }

  async function destroyStray(hostId: string, ids: readonly string[]): Promise<void> {
    for (const id of await strayOn(db, hostId, ids)) {
      log.warn(
        { host: hostId, sandbox: id },
        'A host has a sandbox that is not its own: it is destroyed there',
      )
      await services.sandboxes.get(hostId)?.runtime.destroy(id)
    }
  }

  return {
    async pass() {
      await expireSandboxes(db, clock.now())
      await notes.pass()
      await lost.pass()
      await snapshots.pass()
      const seen = await observeHosts(services)
      for (const found of await unexpected(seen)) begin(found, seen)
      for (const row of await sandboxesInWork(db)) begin(row, seen)
      const all = [...seen.values()].flatMap((onHost) => [...onHost.values()])
      const isIdle = busy.size === 0 && !snapshots.isBusy() && all.every(isPaused)
      return tally.report(all.length, isIdle)
    },
    async idle() {
      await Promise.all([...busy.values(), ...strays.values(), snapshots.idle()])
    },
  }
}
