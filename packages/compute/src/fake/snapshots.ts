import type { SnapshotTaken, VpsSnapshots } from '../ports/snapshot.ts'
import { DriverError } from '../ports/vps-driver.ts'
import { demandFeature, type FakeDriver } from './driver.ts'

/*
 * Snapshots of machines that are not there. They fail by the host name of the machine:
 *
 *   fail-snapshot-N...   the first N calls of `take` throw `guest_failed`
 */

interface State {
  file: string
  /** The program that runs; undefined when none does. */
  program: number | undefined
}

export interface FakeSnapshots extends VpsSnapshots {
  /** The current state inside a machine. */
  stateOf(id: string): State
  damage(id: string, snapshotId: string): void
  /** Every call that changes something, in order. */
  readonly calls: readonly string[]
}

export function createFakeSnapshots(driver: Pick<FakeDriver, 'machines' | 'features'>): FakeSnapshots {
  const states = new Map<string, State>()
  const kept = new Map<string, Map<string, SnapshotTaken & { state: State; isDamaged: boolean }>>()
  const failures = new Map<string, number>()
  const calls: string[] = []

  const machine = (id: string) => {
    const found = driver.machines.get(id)
    if (!found) throw new DriverError('machine_unknown', `There is no machine ${id}`)
    if (!states.has(id)) states.set(id, { file: '', program: undefined })
    if (!kept.has(id)) kept.set(id, new Map())
    return { found, state: states.get(id)!, snapshots: kept.get(id)! }
  }

  return {
    calls,
    stateOf: (id) => machine(id).state,
    damage(id, snapshotId) {
      machine(id).snapshots.get(snapshotId)!.isDamaged = true
    },

    async take(id, snapshotId, { memory }) {
      calls.push(`take ${snapshotId}`)
      const { found, state, snapshots } = machine(id)
      if (!/^[a-z0-9_]+$/.test(snapshotId)) throw new DriverError('snapshot_unknown', snapshotId)
      if (memory) demandFeature(driver.features, 'memorySnapshots')
      const failed = failures.get(id) ?? 0
      if (failed < Number(/^fail-snapshot-(\d+)/.exec(found.spec.hostname)?.[1] ?? 0)) {
        failures.set(id, failed + 1)
        throw new DriverError('guest_failed', 'scripted: the snapshot was not taken')
      }
      const consistency = memory ? 'memory' : found.startedAt ? 'guest' : 'off'
      const known = snapshots.get(snapshotId)
      if (known) return { consistency: known.consistency }
      const program = memory ? state.program : undefined
      snapshots.set(snapshotId, { consistency, state: { ...state, program }, isDamaged: false })
      return { consistency }
    },

    async restore(id, snapshotId) {
      calls.push(`restore ${snapshotId}`)
      const snapshot = machine(id).snapshots.get(snapshotId)
      if (!snapshot) throw new DriverError('snapshot_unknown', `${id} has no snapshot ${snapshotId}`)
      if (snapshot.isDamaged) throw new DriverError('snapshot_damaged', 'scripted: it cannot be read')
      states.set(id, { ...snapshot.state })
    },

    async remove(id, snapshotId) {
      calls.push(`remove ${snapshotId}`)
      machine(id).snapshots.delete(snapshotId)
    },

    list: async (id) => [...machine(id).snapshots.keys()],
  }
}
