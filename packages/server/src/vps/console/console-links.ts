import type { ConsoleType } from '@coinrack/compute/ports/console.ts'
import type { Queryable } from '../../database/transaction.ts'
import { mayOperate } from '../../dispatch/may-operate.ts'
import { sha256 } from '../../platform/sealer.ts'
import type { Services } from '../../platform/services.ts'

/** How long a link waits to be used. */
export const LINK_MS = 10 * 60_000
/** 192 bits. */
const SECRET_BYTES = 24

export interface ConsoleLink {
  vpsId: string
  type: ConsoleType
  /** The account that opened it. */
  accountId: string
  tokenId: string
}

/** Makes a link; the database knows only a hash of its secret. */
export async function makeLink(
  db: Queryable,
  { clock, random }: Services,
  { vpsId, type, accountId, tokenId }: ConsoleLink,
): Promise<{ secret: string; expiresAt: Date }> {
  const secret = Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')
  const expiresAt = new Date(clock.now().getTime() + LINK_MS)
  await db.query(
    `insert into console_link (secret_hash, vps_id, type, expires_at, account_id, token_id)
     values ($1, $2, $3, $4, $5, $6)`,
    [sha256(secret), vpsId, type, expiresAt, accountId, tokenId],
  )
  return { secret, expiresAt }
}

/** Whether a link may be used at `$2`: the machine is meant to run, the account may use it, and the token holds. */
const OPEN = `exists (select from vps join account owner on owner.id = vps.account_id
    join account opener on opener.id = console_link.account_id
  join token on token.id = console_link.token_id and token.revoked_at is null and token.expires_at > $2
  where vps.id = vps_id and vps.status in ('active', 'rebooting') and vps.wanted = 'running'
    and owner.suspended_at is null and opener.suspended_at is null
    and (opener.id = owner.id or ${mayOperate({ service: 'vps.id', account: 'opener.id', now: '$2' })}))`

/** The target of an unused link; undefined when there is none, or it can no longer be used. */
export async function readLink(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  secret: string,
): Promise<ConsoleLink | undefined> {
  const { rows } = await db.query<LinkRow>(
    `select vps_id, type, account_id, token_id from console_link
     where secret_hash = $1 and used_at is null and expires_at > $2 and ${OPEN}`,
    [sha256(secret), clock.now()],
  )
  return rows[0] && linkOf(rows[0])
}

/** Uses a link, for the first of any number of callers at the same moment. */
export async function takeLink(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  secret: string,
): Promise<ConsoleLink | undefined> {
  const { rows } = await db.query<LinkRow>(
    `update console_link set used_at = $2
     where secret_hash = $1 and used_at is null and expires_at > $2 and ${OPEN}
     returning vps_id, type, account_id, token_id`,
    [sha256(secret), clock.now()],
  )
  return rows[0] && linkOf(rows[0])
}

/** Whether a connection to the machine may stay open. */
export async function mayStayOpen(
  { db, clock }: Services,
  { vpsId, accountId, tokenId }: Omit<ConsoleLink, 'type'>,
): Promise<boolean> {
  const { rows } = await db.query<{ open: boolean }>(
    `select ${OPEN} as open
     from (select $1::text as vps_id, $3::text as account_id, $4::text as token_id) as console_link`,
    [vpsId, clock.now(), accountId, tokenId],
  )
  return rows[0]!.open
}

/** Forgets the links whose time is over. Takes no input. */
export async function forgetOldLinks(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from console_link where expires_at <= $1', [now])
}

interface LinkRow {
  vps_id: string
  type: ConsoleType
  account_id: string
  token_id: string
}

const linkOf = (row: LinkRow): ConsoleLink => ({
  vpsId: row.vps_id,
  type: row.type,
  accountId: row.account_id,
  tokenId: row.token_id,
})
