import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import { OperationError } from '../../platform/errors.ts'
import { rescueRefusal, stateRefusal } from '../machine/state-refusal.ts'
import { lockVps, type VpsRow } from '../machine/vps-store.ts'
import { RECONCILE_SNAPSHOTS } from '../topics.ts'
import type { SnapshotStatus } from './snapshot-state.ts'
import { lockSnapshot, type SnapshotRow, setSnapshot, snapshotLoad } from './snapshot-store.ts'

/** The next steps while a snapshot of a VPS is in work. */
export const untilSettled = (vpsId: string) => ({
  nextSteps: [
    {
      tool: 'list_snapshots',
      why: 'Wait until none is in work, and see how each is',
      arguments: { service_id: vpsId, wait: 'settled', timeout: 50 },
    },
  ],
})

/**
 * Locks a machine whose snapshots can be worked with now, and tells how many it has.
 * @throws OperationError `service_busy`, `snapshot_busy`
 */
export async function lockForSnapshots(
  tx: Transaction,
  vpsId: string,
): Promise<{ vps: VpsRow; kept: number }> {
  const vps = await lockVps(tx, vpsId)
  if (!['active', 'stopped'].includes(vps.status) || vps.wanted === 'deleted')
    throw new OperationError('service_busy', ...stateRefusal(vps))
  if (vps.rescue) throw new OperationError('service_busy', ...rescueRefusal(vps))
  const { kept, isBusy } = await snapshotLoad(tx, vpsId)
  if (isBusy) {
    const message = 'Another snapshot of this VPS is in work'
    throw new OperationError('snapshot_busy', message, untilSettled(vpsId))
  }
  return { vps, kept }
}

/**
 * Wants a snapshot restored or deleted. Asked again while that is under way, it is the same wish.
 * @throws OperationError `not_found`, `service_busy`, `snapshot_busy`
 */
export async function wantChange(
  tx: Transaction,
  vpsId: string,
  snapshotId: string,
  wanted: Extract<SnapshotStatus, 'restoring' | 'deleting'>,
  isPossible: (status: SnapshotStatus) => boolean,
): Promise<{ vps: VpsRow; snapshot: SnapshotRow }> {
  const vps = await lockVps(tx, vpsId)
  const row = await lockSnapshot(tx, vpsId, snapshotId)
  if (!row) {
    throw new OperationError('not_found', 'This VPS has no such snapshot', {
      nextSteps: [
        { tool: 'list_snapshots', why: 'See the snapshots of this VPS', arguments: { service_id: vpsId } },
      ],
    })
  }
  if (row.status === wanted) return { vps, snapshot: row }
  // A retained disk is beside the machine, whatever happens to that.
  if (row.reason === null) await lockForSnapshots(tx, vpsId)
  if (!isPossible(row.status)) {
    throw new OperationError('snapshot_busy', `The snapshot is ${row.status}`, untilSettled(vpsId))
  }
  await setSnapshot(tx, row.id, row.status, { status: wanted, attempts: 0, failure_reason: null })
  await announce(tx, vpsId)
  await announce(tx, RECONCILE_SNAPSHOTS)
  return { vps, snapshot: { ...row, status: wanted, failure_reason: null } }
}
