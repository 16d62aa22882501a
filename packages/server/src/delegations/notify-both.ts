import type { Transaction } from '../database/transaction.ts'
import { queueMail } from '../platform/queue-mail.ts'
import { recordEvent } from '../platform/record-event.ts'
import type { Services } from '../platform/services.ts'
import { addressesOf, type DelegationRow } from './delegation-store.ts'

/** Tells owner and delegate, by event and by mail, what became of a delegation. */
export async function notifyBoth(
  tx: Transaction,
  services: Services,
  type: 'delegation.accepted' | 'delegation.revoked' | 'delegation.expired',
  row: DelegationRow,
): Promise<void> {
  const { owner, named, delegate, hostname } = await addressesOf(tx, row)
  const told = { delegation_id: row.id, service_id: row.service_id, hostname, email: row.email }
  for (const accountId of [row.account_id, row.delegate_id]) {
    if (accountId !== null) await recordEvent(tx, services, accountId, type, told)
  }
  const verb = type === 'delegation.accepted' ? 'can operate' : 'can no longer operate'
  const who = delegate ?? row.email
  const why =
    type === 'delegation.expired' ? `The time of it was over at ${row.expires_at!.toISOString()}.\n\n` : ''
  const next =
    type === 'delegation.expired'
      ? 'delegate_service invites again.'
      : 'See list_delegations; revoke_delegation ends it at once.'
  await queueMail(tx, services, {
    to: owner,
    subject: `${who} ${verb} ${hostname}`,
    text: `${who} ${verb} your VPS ${hostname}.\n\n${why}${next}\n`,
  })
  await queueMail(tx, services, {
    to: who,
    subject: `You ${verb} ${hostname}`,
    text: `You ${verb} the VPS ${hostname} of ${named} at ${services.config.publicUrl}.\n\n${why}`,
  })
}
