import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { demandFeature } from '../machine/demand-feature.ts'
import { updateMachine } from '../machine/machine-store.ts'
import { rescueRefusal, stateRefusal } from '../machine/state-refusal.ts'
import { lockVps, vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { beginWork } from '../machine/work-store.ts'
import { RECONCILE_VPS } from '../topics.ts'

/** Writes down the wanted name; the reconciler hands it to the machine once its agent answers. */
export const setHostname: Handler<'setHostname'> = async ({ input, db, services, fail }) => {
  const id = input.service_id
  const row = await lockVps(db, id)
  demandFeature(row, 'guest_commands', fail)
  if (!['active', 'stopped', 'rebooting'].includes(row.status)) {
    throw fail('service_busy', ...stateRefusal(row))
  }
  if (row.rescue) throw fail('service_busy', ...rescueRefusal(row))
  if (row.hostname !== input.hostname) {
    await updateMachine(db, id, {
      hostname: input.hostname,
      hostname_pending: true,
      wished_at: services.clock.now(),
      wish_failure: null,
    })
  }
  const operation = await beginWork(db, services, row.account_id, id, 'set_hostname')
  await announce(db, id)
  await announce(db, RECONCILE_VPS)
  return { service: vpsView(await vpsById(db, id)), operation }
}
