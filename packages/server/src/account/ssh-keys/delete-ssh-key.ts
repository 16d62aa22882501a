import type { Handler } from '../../dispatch/handler.ts'
import { listOf } from '../../dispatch/resources.ts'
import { removeSshKey, sshKeyView } from './ssh-key-store.ts'

export const deleteSshKey: Handler<'deleteSshKey'> = async ({ input, db, fail }) => {
  const row = await removeSshKey(db, input.ssh_key_id)
  if (!row) throw fail('not_found', 'There is no ssh_key with this id', { nextSteps: listOf.ssh_key })
  return { ssh_key: sshKeyView(row) }
}
