import type { Handler } from '../../dispatch/handler.ts'
import { canBeDeleted } from './snapshot-state.ts'
import { snapshotView } from './snapshot-view.ts'
import { wantChange } from './want-change.ts'

export const deleteSnapshot: Handler<'deleteSnapshot'> = async ({ input, db }) => {
  const { snapshot } = await wantChange(db, input.service_id, input.snapshot_id, 'deleting', canBeDeleted)
  return { snapshot: snapshotView(snapshot) }
}
