import type { Handler } from '../dispatch/handler.ts'
import { copiedExample, isExampleHost } from '../platform/documentation-examples.ts'
import { queueMail } from '../platform/queue-mail.ts'
import { sha256 } from '../platform/sealer.ts'
import { addressesOf, countDelegations, insertDelegation } from './delegation-store.ts'
import { delegationView } from './delegation-view.ts'

const DAY_MS = 86_400_000
const INVITED_MS = 7 * DAY_MS
/** 192 bits. */
const TOKEN_BYTES = 24
const PER_SERVICE = 10
/** Mail goes to whomever the caller names. */
const INVITATIONS_PER_DAY = 20

export const delegateService: Handler<'delegateService'> = async (call) => {
  const { input, caller, resource, db, services, fail } = call
  const { clock, config, newId, random } = services
  const { accountId } = caller
  const now = clock.now()
  const expiresAt = input.expires_at === undefined ? null : new Date(input.expires_at)
  if (expiresAt && expiresAt <= now) {
    const details = [{ path: 'expires_at', message: 'Expected a time in the future' }]
    throw fail('invalid_input', 'expires_at: Expected a time in the future', { fields: { details } })
  }
  if (isExampleHost(input.email.split('@').at(-1)!.toLowerCase())) {
    const details = [{ path: 'email', message: copiedExample('an address', "your friend's own") }]
    throw fail('invalid_input', `email: ${details[0]!.message}`, { fields: { details } })
  }
  if (resource.status === 'deleted' || resource.status === 'failed') {
    throw fail('service_busy', `The VPS is ${resource.status}`, {
      fix: 'Delegate another VPS: this one is over.',
      nextSteps: [{ tool: 'list_vps', why: 'See the VPS that you have' }],
    })
  }
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`delegations:${accountId}`])
  const since = new Date(now.getTime() - DAY_MS)
  const count = await countDelegations(db, { serviceId: input.service_id, accountId, now, since })
  if (count.live >= PER_SERVICE) throw fail('delegation_limit', `The VPS has ${PER_SERVICE} delegations`)
  if (count.invited >= INVITATIONS_PER_DAY) {
    throw fail('delegation_limit', `${INVITATIONS_PER_DAY} invitations were sent within a day`)
  }

  const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url')
  const row = {
    id: newId('delegation'),
    service_id: input.service_id,
    account_id: accountId,
    email: input.email.toLowerCase(),
    invited_until: new Date(now.getTime() + INVITED_MS),
    expires_at: expiresAt,
    created_at: now,
    delegate_id: null,
    accepted_at: null,
    revoked_at: null,
  }
  await insertDelegation(db, { ...row, token_hash: sha256(token) })
  const { named: owner, hostname } = await addressesOf(db, row)
  await queueMail(db, services, {
    to: row.email,
    subject: `${owner} invites you to operate ${hostname}`,
    text: `${owner} lets you operate the VPS ${hostname} at ${config.publicUrl}.\n\nTo accept, call accept_delegation with your own account and this token, within 7 days:\n\n${token}\n\nIf you do not know the sender, ignore this mail.\n`,
  })
  return { delegation: delegationView(row, now) }
}
