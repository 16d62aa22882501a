import { announce } from '../../database/changes.ts'
import type { Handler } from '../../dispatch/handler.ts'
import { stateRefusal } from '../machine/state-refusal.ts'
import { lockVps } from '../machine/vps-store.ts'
import { RECONCILE_VPS } from '../topics.ts'
import { deletePort } from './network-store.ts'
import { hasNetwork } from './network-view.ts'

export const closePort: Handler<'closePort'> = async ({ input, db, fail }) => {
  const { status } = await lockVps(db, input.service_id)
  if (!hasNetwork(status)) throw fail('service_busy', ...stateRefusal({ id: input.service_id, status }))
  const closed = await deletePort(db, input.service_id, input.public_port)
  await announce(db, RECONCILE_VPS)
  return { closed }
}
