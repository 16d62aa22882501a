import { formatUsd } from '@coinrack/contract/wire.ts'
import type { Transaction } from '../database/transaction.ts'
import { lockBalance } from '../ledger/balance.ts'
import { queueMail } from '../platform/queue-mail.ts'
import type { Services } from '../platform/services.ts'
import { type AccountRow, markEmailVerified, setPasswordHash } from './account-store.ts'
import { makeToken } from './token.ts'
import { enterUmbrella, insertToken, lockTokens, setBudget } from './token-store.ts'

/**
 * Proves the mailbox of an account: whoever registered with this address had not proven that it is theirs, and the
 * holder of the code has. A password that was set before is no longer good, and the earlier tokens share the present
 * balance until the owner confirms them. Does nothing but for the first proof.
 */
export async function proveMailbox(tx: Transaction, services: Services, account: AccountRow): Promise<void> {
  const { clock, newId, random } = services
  const now = clock.now()
  // The lock of every call that makes, refreshes or ends a token, or spends: all of them come before or after.
  const { available } = await lockBalance(tx, account.id)
  await lockTokens(tx, account.id)
  if (!(await markEmailVerified(tx, account.id, now))) return
  await setPasswordHash(tx, account.id, null)

  const umbrella = newId('token')
  await insertToken(tx, {
    id: umbrella,
    accountId: account.id,
    // A token that is told to no client.
    text: makeToken(random),
    scopes: [],
    authenticatedAt: now,
    createdAt: now,
    expiresAt: now,
    isUmbrella: true,
  })
  await setBudget(tx, umbrella, {
    max_per_charge: null,
    per_day: null,
    total: available,
    max_live_vps: null,
    max_live_sandboxes: null,
    approve_per_call: null,
    approve_per_day: null,
    allow_auto_renew: true,
  })
  const count = await enterUmbrella(tx, account.id, umbrella, now)
  if (count === 0) return
  await queueMail(tx, services, {
    to: account.email,
    subject: `${count} access token${count === 1 ? '' : 's'} to confirm`,
    text: `You have logged in at ${services.config.publicUrl} with a code for the first time. ${count} token${count === 1 ? ' was' : 's were'} made for this account before, for example by an agent that registered with your address.\n\nUntil you confirm them they can spend what is on the balance now, ${formatUsd(available)} USD in all, and no more. A password that was set before no longer works.\n\nSee them with list_tokens (GET /tokens). Confirm those you know with confirm_token (POST /tokens/{id}/confirm), and end the others with revoke_token (DELETE /tokens/{id}).\n`,
  })
}
