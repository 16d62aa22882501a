import { announce } from '../../database/changes.ts'
import type { Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { RECONCILE_SNAPSHOTS } from '../topics.ts'
import { insertSnapshot, type SnapshotRow } from './snapshot-store.ts'

/**
 * Wants a snapshot of a machine that is locked and of which none is in work. The reconciler takes it; it is there
 * when its status is `ready`.
 */
export async function wantSnapshot(
  tx: Transaction,
  services: Services,
  vpsId: string,
  wish: { name: string; memory: boolean },
): Promise<SnapshotRow> {
  const row = await insertSnapshot(tx, {
    id: services.newId('snapshot'),
    vps_id: vpsId,
    name: wish.name,
    reason: null,
    system: null,
    include_memory: wish.memory,
    created_at: services.clock.now(),
    expires_at: null,
  })
  await announce(tx, RECONCILE_SNAPSHOTS)
  return row
}
