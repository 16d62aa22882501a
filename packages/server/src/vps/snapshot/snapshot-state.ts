import type { snapshotStatuses } from '@coinrack/contract/snapshots.ts'

export type SnapshotStatus = (typeof snapshotStatuses)[number]

/** The work that the reconciler does, and has to be told of. */
export type SnapshotWork = 'take' | 'restore' | 'remove'

export const workOf: Partial<Record<SnapshotStatus, SnapshotWork>> = {
  creating: 'take',
  restoring: 'restore',
  deleting: 'remove',
}

/** How often something that failed is tried again. */
export const MOST_ATTEMPTS = 3

/** The outcome of a piece of work: done, refused for good, or failed for now. */
export type SnapshotOutcome = 'done' | 'damaged' | 'failed'

/** The status that follows. The same status: it is tried again. */
export function nextStatus(
  status: SnapshotStatus,
  outcome: SnapshotOutcome,
  attempts: number,
): SnapshotStatus {
  const isLast = attempts >= MOST_ATTEMPTS
  switch (status) {
    case 'creating':
      return outcome === 'done' ? 'ready' : isLast ? 'failed' : 'creating'
    case 'restoring':
      if (outcome === 'done') return 'ready'
      if (outcome === 'damaged') return 'damaged'
      // The machine is as it was, or will be: what cannot be restored now may be later.
      return isLast ? 'ready' : 'restoring'
    case 'deleting':
      // A snapshot that cannot be removed goes with the machine, at the latest.
      return outcome === 'done' ? 'deleted' : 'deleting'
    default:
      return status
  }
}

export const canBeRestored = (status: SnapshotStatus) => status === 'ready'
export const canBeDeleted = (status: SnapshotStatus) =>
  status === 'ready' || status === 'damaged' || status === 'failed'
