import type { Queryable, Transaction } from '../database/transaction.ts'
import type { CodeToTry, LiveCode } from './login-code-policy.ts'

export interface StoredCode extends LiveCode {
  hash: Buffer
}

/** When the codes of a mailbox were sent since a moment. */
export async function codesSent(db: Queryable, email: string, since: Date): Promise<Date[]> {
  const { rows } = await db.query<{ created_at: Date }>(
    'select created_at from login_code where email = $1 and created_at > $2',
    [email, since],
  )
  return rows.map((row) => row.created_at)
}

/** @returns its id */
export async function insertCode(
  tx: Transaction,
  code: {
    email: string
    hash: Buffer
    createdAt: Date
    expiresAt: Date
    /** That asked for it. */
    client: string
    isLong: boolean
  },
): Promise<bigint> {
  const { rows } = await tx.query<{ id: bigint }>(
    `insert into login_code (email, hash, created_at, expires_at, client, is_long) values ($1, $2, $3, $4, $5, $6)
     returning id`,
    [code.email, code.hash, code.createdAt, code.expiresAt, code.client, code.isLong],
  )
  return rows[0]!.id
}

/** Forgets a code that was not sent: it counts for no limit. */
export async function deleteCode(db: Queryable, id: bigint): Promise<void> {
  await db.query('delete from login_code where id = $1', [id])
}

/** The codes of a mailbox that can still be used, the newest first. What counts tries must be locked. */
export async function liveCodes(
  tx: Transaction,
  email: string,
  client: string,
  now: Date,
): Promise<StoredCode[]> {
  const { rows } = await tx.query<StoredCode>(
    `select id, hash, is_long as "isLong", client is not distinct from $2::text as "isOwn", tries, own_tries as "ownTries",
       (select count(*) from failed_login where subject = 'code ' || login_code.id || ' from ' || $2::text)::integer
         as "clientTries"
     from login_code where email = $1 and used_at is null and expires_at > $3 order by id desc`,
    [email, client, now],
  )
  return rows
}

/** Counts a try on each of the codes, as what it is. */
export async function countTries(
  tx: Transaction,
  tried: CodeToTry<StoredCode>[],
  { client, now }: { client: string; now: Date },
): Promise<void> {
  const idsOf = (as: CodeToTry<StoredCode>['as']) =>
    tried.filter((each) => each.as === as).map(({ code }) => code.id)
  await tx.query(
    `update login_code set tries = tries + (id = any($1::bigint[]))::integer,
       own_tries = own_tries + (id = any($2::bigint[]))::integer where id = any($1::bigint[] || $2::bigint[])`,
    [idsOf('stranger'), idsOf('own')],
  )
  await tx.query(
    `insert into failed_login (subject, at) select 'code ' || id || ' from ' || $2::text, $3 from unnest($1::bigint[]) as id`,
    [idsOf('client'), client, now],
  )
}

/** Ends every live code of the address: one login, one code. */
export async function useCodes(tx: Transaction, email: string, now: Date): Promise<void> {
  await tx.query('update login_code set used_at = $2 where email = $1 and used_at is null', [email, now])
}

/** Takes no input; codes older than two days count for nothing. */
export async function forgetOldCodes(db: Queryable, now: Date): Promise<void> {
  await db.query(`delete from login_code where created_at < $1::timestamptz - interval '48 hours'`, [now])
}
