import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { demandFeature } from '../machine/demand-feature.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { snapshotView } from './snapshot-view.ts'
import { lockForSnapshots } from './want-change.ts'
import { wantSnapshot } from './want-snapshot.ts'

/** For machines of plans that are no longer in the catalog. */
const WITHOUT_A_PLAN = 2

export const createSnapshot: Handler<'createSnapshot'> = async ({ input, db, services, fail }) => {
  const id = input.service_id
  const { vps, kept } = await lockForSnapshots(db, id)
  if (input.include_memory) demandFeature(vps, 'memory_snapshots', fail)
  const plan = services.catalog.plans.find(({ slug }) => slug === vps.product)
  const most = plan?.snapshots ?? WITHOUT_A_PLAN
  if (kept >= most)
    throw fail('snapshot_limit', `The plan has ${most} snapshots, and as many are kept`, {
      nextSteps: [{ tool: 'list_snapshots', why: 'See which can be deleted', arguments: { service_id: id } }],
    })
  if (input.include_memory && vps.status !== 'active')
    throw fail('service_busy', ...stateRefusal(vps, 'The VPS is stopped: there is no memory to keep'))
  const at = services.clock.now()
  const row = await wantSnapshot(db, services, id, {
    name: input.name || at.toISOString().slice(0, 16).replace('T', ' '),
    memory: input.include_memory,
  })
  await announce(db, id)
  return { snapshot: snapshotView(row) }
}
