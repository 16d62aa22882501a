import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { demandFeature } from '../machine/demand-feature.ts'
import { updateMachine } from '../machine/machine-store.ts'
import { notifyChange } from '../machine/notify-change.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps, vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { beginWork } from '../machine/work-store.ts'
import { RECONCILE_VPS } from '../topics.ts'

/** Writes down which system is wanted to run; the reconciler boots that. */
export const rescueVps: Handler<'rescueVps'> = async ({ input, caller, db, services, fail }) => {
  const id = input.service_id
  const rescue = input.enabled
  const row = await lockVps(db, id)
  if (rescue) demandFeature(row, 'rescue', fail)
  if (!['active', 'stopped', 'rebooting'].includes(row.status)) {
    throw fail('service_busy', ...stateRefusal(row))
  }
  if (row.rescue !== rescue) {
    await updateMachine(db, id, {
      rescue,
      wanted: 'running',
      // Another number than that of a boot which may be under way: that one is of the previous system.
      wanted_boot: row.wanted_boot + 1,
      forced: false,
      status: 'rebooting',
      ssh_ready: false,
    })
    await notifyChange(db, services, row, { status: 'rebooting' })
  }
  const kind = rescue ? 'enter_rescue' : 'leave_rescue'
  const operation = await beginWork(db, services, caller.accountId, id, kind)
  await announce(db, id)
  await announce(db, RECONCILE_VPS)
  return { service: vpsView(await vpsById(db, id)), operation }
}
