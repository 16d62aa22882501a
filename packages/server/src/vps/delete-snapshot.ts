import type { Handler } from '../handler.ts'
import { canBeDeleted } from './snapshot/snapshot-state.ts'
import { snapshotView } from './snapshot/snapshot-view.ts'
import { wantChange } from './snapshot/want-change.ts'

export const deleteSnapshot: Handler<'deleteSnapshot'> = async ({ input, db }) => {
  const { snapshot } = await wantChange(db, input.service_id, input.snapshot_id, 'deleting', canBeDeleted)
  return { snapshot: snapshotView(snapshot) }
}
