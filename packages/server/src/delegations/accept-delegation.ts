import type { Handler } from '../dispatch/handler.ts'
import { sha256 } from '../platform/sealer.ts'
import { takeInvitation } from './delegation-store.ts'
import { notifyBoth } from './notify-both.ts'

export const acceptDelegation: Handler<'acceptDelegation'> = async ({
  input,
  caller,
  db,
  services,
  fail,
}) => {
  const row = await takeInvitation(db, sha256(input.token), caller.accountId, services.clock.now())
  // The same for one that never was, so that nothing is learnt by trying.
  if (!row) throw fail('invalid_invitation', 'There is no invitation that you can accept with this token')
  await notifyBoth(db, services, 'delegation.accepted', row)
  return { delegation_id: row.id, service_id: row.service_id }
}
