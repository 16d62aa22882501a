import type { ConsoleType } from '@coinrack/compute/console.ts'
import type { Queryable } from '../../database/transaction.ts'
import { sha256 } from '../../sealer.ts'
import type { Services } from '../../services.ts'

/** How long a link waits to be used. */
export const LINK_MS = 10 * 60_000
/** 192 bits. */
const SECRET_BYTES = 24

export interface ConsoleLink {
  vpsId: string
  type: ConsoleType
}

/** Makes a link; the database knows only a hash of its secret. */
export async function makeLink(
  db: Queryable,
  { clock, random }: Services,
  { vpsId, type }: ConsoleLink,
): Promise<{ secret: string; expiresAt: Date }> {
  const secret = Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')
  const expiresAt = new Date(clock.now().getTime() + LINK_MS)
  await db.query('insert into console_link (secret_hash, vps_id, type, expires_at) values ($1, $2, $3, $4)', [
    sha256(secret),
    vpsId,
    type,
    expiresAt,
  ])
  return { secret, expiresAt }
}

/** What may be connected to: a machine that is meant to run, of an account that may use it. */
const OPEN = `exists (select from vps join account on account.id = vps.account_id
  where vps.id = vps_id and vps.status in ('active', 'rebooting') and vps.wanted = 'running'
    and account.suspended_at is null)`

/** What an unused link is for; undefined when there is none, or it can no longer be used. */
export async function readLink({ db, clock }: Services, secret: string): Promise<ConsoleLink | undefined> {
  const { rows } = await db.query<{ vps_id: string; type: ConsoleType }>(
    `select vps_id, type from console_link
     where secret_hash = $1 and used_at is null and expires_at > $2 and ${OPEN}`,
    [sha256(secret), clock.now()],
  )
  return rows[0] && { vpsId: rows[0].vps_id, type: rows[0].type }
}

/** Uses a link, for whoever is first of any number at the same moment. */
export async function takeLink({ db, clock }: Services, secret: string): Promise<ConsoleLink | undefined> {
  const { rows } = await db.query<{ vps_id: string; type: ConsoleType }>(
    `update console_link set used_at = $2
     where secret_hash = $1 and used_at is null and expires_at > $2 and ${OPEN}
     returning vps_id, type`,
    [sha256(secret), clock.now()],
  )
  return rows[0] && { vpsId: rows[0].vps_id, type: rows[0].type }
}

/** Whether a connection to the machine may stay open. */
export async function mayStayOpen({ db }: Services, vpsId: string): Promise<boolean> {
  const { rows } = await db.query<{ open: boolean }>(
    `select ${OPEN} as open from (select $1::text as vps_id) as asked`,
    [vpsId],
  )
  return rows[0]!.open
}

/** Forgets the links whose time is over. Takes no input. */
export async function forgetOldLinks(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from console_link where expires_at <= $1', [now])
}
