import type { Handler } from '../../dispatch/handler.ts'
import { judgeSshKey, sshFingerprint } from '../../platform/ssh-public-key.ts'
import { sshKeyView, storeSshKey } from './ssh-key-store.ts'

const MOST_KEYS = 100
const LONGEST_NAME = 100

export const addSshKey: Handler<'addSshKey'> = async ({ input, caller, db, services, fail }) => {
  const verdict = judgeSshKey(input.public_key)
  if ('refused' in verdict) {
    throw fail('invalid_ssh_key', verdict.refused, {
      fields: { details: [{ path: 'public_key', message: verdict.refused }] },
    })
  }
  const { line } = verdict
  const fingerprint = sshFingerprint(line)
  const comment = line.split(' ').slice(2).join(' ').slice(0, LONGEST_NAME)
  const row = await storeSshKey(
    db,
    {
      id: services.newId('ssh_key'),
      account_id: caller.accountId,
      name: input.name || comment || fingerprint,
      line,
      fingerprint,
      created_at: services.clock.now(),
    },
    MOST_KEYS,
  )
  if (!row) throw fail('ssh_key_limit', `An account keeps at most ${MOST_KEYS} keys`)
  return { ssh_key: sshKeyView(row) }
}
