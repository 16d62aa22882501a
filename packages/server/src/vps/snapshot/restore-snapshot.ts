import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { updateMachine } from '../machine/machine-store.ts'
import { lockVps } from '../machine/vps-store.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { restoreDisk } from './restore-disk.ts'
import { canBeRestored } from './snapshot-state.ts'
import { lockSnapshot } from './snapshot-store.ts'
import { snapshotView } from './snapshot-view.ts'
import { wantChange } from './want-change.ts'

export const restoreSnapshot: Handler<'restoreSnapshot'> = async (call) => {
  const { input, db } = call
  const id = input.service_id
  const row = await lockVps(db, id)
  const kept = await lockSnapshot(db, id, input.snapshot_id)
  if (kept && kept.reason !== null) {
    const snapshot = await restoreDisk(call, row, kept)
    await announce(db, id)
    await announce(db, RECONCILE_VPS)
    return { snapshot: snapshotView(snapshot) }
  }
  const { snapshot } = await wantChange(db, id, input.snapshot_id, 'restoring', canBeRestored)
  // Memory that is restored runs, whatever was wanted before.
  if (snapshot.include_memory) await updateMachine(db, id, { wanted: 'running', forced: false })
  await updateMachine(db, id, { ssh_ready: false })
  await announce(db, RECONCILE_VPS)
  return { snapshot: snapshotView(snapshot) }
}
