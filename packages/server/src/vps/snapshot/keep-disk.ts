import type { Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { sealedRootPassword, updateMachine } from '../machine/machine-store.ts'
import type { VpsRow } from '../machine/vps-store.ts'
import { keptSystem } from './kept-system.ts'
import { insertSnapshot, makeRoomForKept, type SnapshotReason, setSnapshot } from './snapshot-store.ts'

const KEPT_MS = 24 * 3_600_000

const NAMES: Record<SnapshotReason, string> = {
  reinstall: 'Before the reinstall',
  cancel: 'Before the cancellation',
}

/**
 * Wants the disk of a machine kept for a day before it is taken from it. Called before the row of the VPS changes.
 * @param row locked
 */
export async function keepDisk(
  tx: Transaction,
  services: Services,
  row: VpsRow,
  reason: SnapshotReason,
): Promise<void> {
  // Wanted by an earlier wish that is not done yet.
  if (row.set_aside_as !== null) return
  // A disk that is being put back can be in either place: wherever it is, it stays kept.
  if (row.put_back !== null) {
    await setSnapshot(tx, row.put_back, 'restoring', { status: 'creating' })
    return updateMachine(tx, row.id, { set_aside_as: row.put_back, put_back: null })
  }
  // Nothing of its owner is on a disk that is only being made.
  const status = row.status === 'suspended' ? row.suspended_from : row.status
  if (status === 'reinstalling' || status === 'provisioning') return
  if (!row.features.includes('retained_disks')) return

  const at = services.clock.now()
  await makeRoomForKept(tx, row.id)
  const { id } = await insertSnapshot(tx, {
    id: services.newId('snapshot'),
    vps_id: row.id,
    name: NAMES[reason],
    reason,
    system: keptSystem(row, await sealedRootPassword(tx, row.id)),
    include_memory: false,
    created_at: at,
    expires_at: new Date(at.getTime() + KEPT_MS),
  })
  await updateMachine(tx, row.id, { set_aside_as: id })
}
