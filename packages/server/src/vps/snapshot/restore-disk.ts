import type { Call } from '../../dispatch/handler.ts'
import { updateMachine } from '../machine/machine-store.ts'
import { notifyChange } from '../machine/notify-change.ts'
import { beginPaidPeriod } from '../machine/reactivate.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import type { VpsRow } from '../machine/vps-store.ts'
import { settleWork } from '../machine/work-store.ts'
import { canBeRestored } from './snapshot-state.ts'
import { type SnapshotRow, setSnapshot } from './snapshot-store.ts'
import { untilSettled } from './want-change.ts'

/**
 * Wants a retained disk to be the one of its VPS again. A VPS that was cancelled is brought back and paid for.
 */
export async function restoreDisk(
  call: Call<'restoreSnapshot'>,
  row: VpsRow,
  snapshot: SnapshotRow,
): Promise<SnapshotRow> {
  const { db, services, fail } = call
  const { id } = row
  if (row.put_back === snapshot.id) return snapshot
  const isGone = row.wanted === 'deleted'
  const isBeingDeleted = isGone && !row.machine_gone_at
  const isBusy = row.set_aside_as !== null || row.put_back !== null || isBeingDeleted
  if (isBusy || !['active', 'stopped', 'reinstalling', 'deleted'].includes(row.status))
    throw fail('service_busy', ...stateRefusal(row, `The VPS is ${isGone ? 'being deleted' : row.status}`))
  if (!canBeRestored(snapshot.status))
    throw fail('snapshot_busy', `The snapshot is ${snapshot.status}`, untilSettled(id))

  if (isGone) await beginPaidPeriod(call, row, snapshot)
  await setSnapshot(db, snapshot.id, 'ready', { status: 'restoring', failure_reason: null })
  await updateMachine(db, id, {
    put_back: snapshot.id,
    wanted_disk: row.wanted_disk + 1,
    status: 'reinstalling',
    ssh_ready: false,
    rescue: false,
    attempts: 0,
    failure_reason: null,
  })
  await notifyChange(db, services, row, { status: 'reinstalling' })
  await settleWork(db, id, services.clock.now())
  return { ...snapshot, status: 'restoring' }
}
