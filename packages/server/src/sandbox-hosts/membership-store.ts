import { announce } from '../database/changes.ts'
import type { Queryable, Transaction } from '../database/transaction.ts'
import type { HostCertificate } from './authority.ts'

/** Announced when a host is forgotten, so that whoever has its connection cuts it. */
export const MEMBERSHIP = 'sandbox-hosts'

export interface Invitation {
  host_id: string
  secret_hash: Buffer
  expires_at: Date
  used_for: Buffer | null
}

/** Lets one machine join by this name. An invitation from before ends. */
export async function invite(
  db: Queryable,
  { host_id, secret_hash, expires_at }: Omit<Invitation, 'used_for'>,
): Promise<void> {
  await db.query(
    `insert into host_invitation (host_id, secret_hash, expires_at) values ($1, $2, $3)
     on conflict (host_id) do update set secret_hash = $2, expires_at = $3, used_for = null`,
    [host_id, secret_hash, expires_at],
  )
}

/** @param lock keeps others from using it until the transaction ends */
export async function invitationOf(
  db: Queryable,
  hostId: string,
  { lock = false } = {},
): Promise<Invitation | undefined> {
  const { rows } = await db.query<Invitation>(
    `select host_id, secret_hash, expires_at, used_for from host_invitation where host_id = $1
     ${lock ? 'for update' : ''}`,
    [hostId],
  )
  return rows[0]
}

export async function spendInvitation(tx: Transaction, hostId: string, usedFor: Buffer): Promise<void> {
  await tx.query('update host_invitation set used_for = $2 where host_id = $1', [hostId, usedFor])
}

/** Lets a host use a certificate. */
export async function admit(
  db: Queryable,
  hostId: string,
  { serial, issuedAt, expiresAt }: HostCertificate,
): Promise<void> {
  await db.query(
    'insert into host_certificate (serial, host_id, issued_at, expires_at) values ($1, $2, $3, $4)',
    [serial, hostId, issuedAt, expiresAt],
  )
}

/**
 * Lets a host use no certificate any more, and nobody join by its name: whoever has its connection cuts it.
 * @param keepsInvitation somebody is just joining by its name
 */
export async function endMembership(
  tx: Transaction,
  hostId: string,
  { keepsInvitation = false } = {},
): Promise<void> {
  await tx.query('delete from host_certificate where host_id = $1', [hostId])
  if (!keepsInvitation) await tx.query('delete from host_invitation where host_id = $1', [hostId])
  await announce(tx, MEMBERSHIP)
}

/** A certificate that a host may use. */
export interface Admitted {
  host_id: string
  serial: string
  issued_at: Date
  expires_at: Date
}

/**
 * Whether a host may use a certificate. Those from before it are of no use from then on: whoever has one of them is not
 * the host, or not any more.
 */
export async function useCertificate(
  db: Queryable,
  hostId: string,
  serial: string,
): Promise<Admitted | undefined> {
  const { rows } = await db.query<Admitted>(
    `with used as (select host_id, serial, issued_at, expires_at from host_certificate where host_id = $1 and serial = $2),
     ended as (delete from host_certificate older using used
       where older.host_id = used.host_id and older.issued_at < used.issued_at)
     select host_id, serial, issued_at, expires_at from used`,
    [hostId, serial],
  )
  return rows[0]
}

/** The serials that hosts may use, of these. */
export async function stillAdmitted(db: Queryable, serials: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ serial: string }>(
    'select serial from host_certificate where serial = any($1)',
    [serials],
  )
  return new Set(rows.map(({ serial }) => serial))
}
