import type { DelegationRow } from './delegation-store.ts'

/** How far a delegation is. Pure. */
export function delegationStatus(
  row: Pick<DelegationRow, 'revoked_at' | 'expires_at' | 'accepted_at' | 'invited_until'>,
  now: Date,
): 'invited' | 'active' | 'expired' | 'revoked' {
  if (row.revoked_at) return 'revoked'
  if (row.expires_at && row.expires_at <= now) return 'expired'
  if (row.accepted_at) return 'active'
  return row.invited_until > now ? 'invited' : 'expired'
}

/** A delegation as the owner of the service sees it. */
export const delegationView = (row: DelegationRow, now: Date) => ({
  id: row.id,
  service_id: row.service_id,
  email: row.email,
  status: delegationStatus(row, now),
  expires_at: row.expires_at,
  created_at: row.created_at,
  accepted_at: row.accepted_at,
})
