import type { vpsStatuses } from '@coinrack/contract/vps.ts'
import type { Queryable, Transaction } from '../database/transaction.ts'

export interface DelegationRow {
  id: string
  service_id: string
  account_id: string
  email: string
  invited_until: Date
  delegate_id: string | null
  expires_at: Date | null
  created_at: Date
  accepted_at: Date | null
  revoked_at: Date | null
}

const COLUMNS =
  'id, service_id, account_id, email, invited_until, delegate_id, expires_at, created_at, accepted_at, revoked_at'

export async function insertDelegation(
  tx: Transaction,
  row: Omit<DelegationRow, 'delegate_id' | 'accepted_at' | 'revoked_at'> & { token_hash: Buffer },
): Promise<void> {
  await tx.query(
    `insert into delegation (id, service_id, account_id, email, invited_until, expires_at, created_at, token_hash)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      row.id,
      row.service_id,
      row.account_id,
      row.email,
      row.invited_until,
      row.expires_at,
      row.created_at,
      row.token_hash,
    ],
  )
}

/** The invitations that count against the limits: those of a service that have not ended, and the account's recent ones. */
export async function countDelegations(
  db: Queryable,
  { serviceId, accountId, now, since }: { serviceId: string; accountId: string; now: Date; since: Date },
) {
  const { rows } = await db.query<{ live: number; invited: number }>(
    `select (select count(*)::int from delegation where service_id = $1 and revoked_at is null
         and (expires_at is null or expires_at > $3) and (accepted_at is not null or invited_until > $3)) as live,
       (select count(*)::int from delegation where account_id = $2 and created_at > $4) as invited`,
    [serviceId, accountId, now, since],
  )
  return rows[0]!
}

/**
 * Uses an invitation, for the first of any number of callers at the same moment.
 * @returns undefined when there is none that can be accepted now, or it is the account's own
 */
export async function takeInvitation(
  tx: Transaction,
  tokenHash: Buffer,
  delegateId: string,
  now: Date,
): Promise<DelegationRow | undefined> {
  const { rows } = await tx.query<DelegationRow>(
    `update delegation set delegate_id = $2, accepted_at = $3, token_hash = null
     where token_hash = $1 and account_id <> $2 and revoked_at is null and invited_until > $3
       and (expires_at is null or expires_at > $3)
     returning ${COLUMNS}`,
    [tokenHash, delegateId, now],
  )
  return rows[0]
}

/** @returns undefined when it was revoked before */
export async function revoke(tx: Transaction, id: string, now: Date): Promise<DelegationRow | undefined> {
  const { rows } = await tx.query<DelegationRow>(
    `update delegation set revoked_at = $2, token_hash = null where id = $1 and revoked_at is null returning ${COLUMNS}`,
    [id, now],
  )
  return rows[0]
}

/** Accepted delegations that ended by themselves and were not notified yet, the oldest first. */
export async function expiredDelegations(db: Queryable, now: Date): Promise<{ id: string }[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from delegation where expires_at <= $1
       and accepted_at is not null and revoked_at is null and expiry_told_at is null
     order by expires_at limit 100`,
    [now],
  )
  return rows
}

/** @returns undefined when it was told before, or revoked meanwhile */
export async function markExpiryTold(
  tx: Transaction,
  id: string,
  now: Date,
): Promise<DelegationRow | undefined> {
  const { rows } = await tx.query<DelegationRow>(
    `update delegation set expiry_told_at = $2
     where id = $1 and revoked_at is null and expiry_told_at is null returning ${COLUMNS}`,
    [id, now],
  )
  return rows[0]
}

/** Newest first, those before the `before` id. */
export async function delegationsOf(
  db: Queryable,
  accountId: string,
  page: { limit: number; before?: string },
): Promise<DelegationRow[]> {
  const { rows } = await db.query<DelegationRow>(
    `select ${COLUMNS} from delegation where account_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
    [accountId, page.before ?? null, page.limit],
  )
  return rows
}

export interface ReceivedRow {
  id: string
  service_id: string
  hostname: string
  status: (typeof vpsStatuses)[number]
  owner_email: string | null
  expires_at: Date | null
  accepted_at: Date
}

/** The delegations that hold now, newest first. */
export async function delegatedTo(
  db: Queryable,
  accountId: string,
  page: { now: Date; limit: number; before?: string },
): Promise<ReceivedRow[]> {
  const { rows } = await db.query<ReceivedRow>(
    `select d.id, d.service_id, vps.hostname, vps.status, account.email as owner_email, d.expires_at, d.accepted_at
     from delegation d join vps on vps.id = d.service_id join account on account.id = d.account_id
     where delegate_id = $1 and revoked_at is null and (d.expires_at is null or d.expires_at > $2)
       and ($3::text is null or d.id < $3)
     order by d.id desc limit $4`,
    [accountId, page.now, page.before ?? null, page.limit],
  )
  return rows
}

/** Where mail goes to, and the name of the machine. `named` is what others are told of the owner, who may have no address. */
export async function addressesOf(db: Queryable, row: DelegationRow) {
  const { rows } = await db.query<{
    owner: string | null
    named: string
    delegate: string | null
    hostname: string
  }>(
    `select owner.email as owner, coalesce(owner.email, 'Account ' || owner.id) as named, delegate.email as delegate, hostname
     from vps join account owner on owner.id = vps.account_id left join account delegate on delegate.id = $2
     where vps.id = $1`,
    [row.service_id, row.delegate_id],
  )
  return rows[0]!
}
