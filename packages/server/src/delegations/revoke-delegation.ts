import { announce } from '../database/changes.ts'
import type { Handler } from '../dispatch/handler.ts'
import { revoke } from './delegation-store.ts'
import { notifyBoth } from './notify-both.ts'

export const revokeDelegation: Handler<'revokeDelegation'> = async ({ input, db, services }) => {
  const { delegation_id } = input
  const row = await revoke(db, delegation_id, services.clock.now())
  if (row) {
    await notifyBoth(db, services, 'delegation.revoked', row)
    // A process that holds a console open checks whether it still may.
    await announce(db, row.service_id)
  }
  return { delegation_id, revoked: true }
}
