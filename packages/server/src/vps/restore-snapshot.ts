import { announce } from '../database/changes.ts'
import type { Handler } from '../handler.ts'
import { RECONCILE_VPS } from './reconcile-vps.ts'
import { canBeRestored } from './snapshot/snapshot-state.ts'
import { snapshotView } from './snapshot/snapshot-view.ts'
import { wantChange } from './snapshot/want-change.ts'
import { updateVps } from './vps-store.ts'

export const restoreSnapshot: Handler<'restoreSnapshot'> = async ({ input, db }) => {
  const id = input.service_id
  const { snapshot } = await wantChange(db, id, input.snapshot_id, 'restoring', canBeRestored)
  // Memory that is restored runs, whatever was wanted before.
  if (snapshot.include_memory) await updateVps(db, id, { wanted: 'running', forced: false })
  await updateVps(db, id, { ssh_ready: false })
  await announce(db, RECONCILE_VPS)
  return { snapshot: snapshotView(snapshot) }
}
