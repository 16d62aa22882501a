import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { updateMachine } from '../machine/machine-store.ts'
import { notifyChange } from '../machine/notify-change.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps, vpsById } from '../machine/vps-store.ts'
import { vpsView } from '../machine/vps-view.ts'
import { beginWork } from '../machine/work-store.ts'
import { RECONCILE_VPS } from '../topics.ts'

const KINDS = {
  start: 'start',
  stop: 'stop',
  force_stop: 'stop',
  reboot: 'reboot',
  reset: 'reboot',
} as const

/** Writes down what is wanted; the reconciler makes it so. */
export const powerVps: Handler<'powerVps'> = async ({ input, db, services, fail }) => {
  const id = input.service_id
  const row = await lockVps(db, id)
  if (!['active', 'stopped', 'rebooting'].includes(row.status)) {
    throw fail('service_busy', ...stateRefusal(row))
  }
  const forced = input.action === 'force_stop' || input.action === 'reset'
  switch (input.action) {
    case 'start':
      if (row.wanted !== 'running') await updateMachine(db, id, { wanted: 'running', forced: false })
      break
    case 'stop':
    case 'force_stop':
      if (row.wanted !== 'stopped' || row.status !== 'stopped') {
        await updateMachine(db, id, { wanted: 'stopped', forced })
      }
      break
    case 'reboot':
    case 'reset':
      if (row.wanted === 'stopped') {
        throw fail(
          'service_busy',
          ...stateRefusal({ id, status: 'stopped' }, 'The VPS is stopped: start it instead'),
        )
      }
      // A second wish before the first is done is the same wish.
      await updateMachine(db, id, {
        wanted_boot: Math.max(row.wanted_boot, row.done_boot + 1),
        forced,
        status: 'rebooting',
        ssh_ready: false,
      })
      await notifyChange(db, services, row, { status: 'rebooting' })
  }
  const operation = await beginWork(db, services, row.account_id, id, KINDS[input.action])
  await announce(db, id)
  await announce(db, RECONCILE_VPS)
  return { service: vpsView(await vpsById(db, id)), operation }
}
