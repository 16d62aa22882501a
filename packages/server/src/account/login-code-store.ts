import type { Queryable, Transaction } from '../database/transaction.ts'

export interface LoginCode {
  id: bigint
  hash: Buffer
}

/** How many codes were asked for since a moment. */
export async function countCodes(db: Queryable, email: string, since: Date): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>(
    'select count(*) from login_code where email = $1 and created_at > $2',
    [email, since],
  )
  return Number(rows[0]!.count)
}

/** @returns its id */
export async function insertCode(
  tx: Transaction,
  code: { email: string; hash: Buffer; createdAt: Date; expiresAt: Date },
): Promise<bigint> {
  const { rows } = await tx.query<{ id: bigint }>(
    'insert into login_code (email, hash, created_at, expires_at) values ($1, $2, $3, $4) returning id',
    [code.email, code.hash, code.createdAt, code.expiresAt],
  )
  return rows[0]!.id
}

/** Forgets a code that nobody was sent: it counts for no limit. */
export async function deleteCode(db: Queryable, id: bigint): Promise<void> {
  await db.query('delete from login_code where id = $1', [id])
}

/** The newest codes that can still be used, and counts a try on each: locked until the transaction ends. */
export async function tryCodes(
  tx: Transaction,
  email: string,
  limits: { now: Date; live: number; tries: number },
): Promise<LoginCode[]> {
  const { rows } = await tx.query<LoginCode>(
    `update login_code set tries = tries + 1
     where id in (
       select id from login_code
       where email = $1 and used_at is null and expires_at > $2
       order by id desc limit $3
       for update
     ) and tries < $4
     returning id, hash`,
    [email, limits.now, limits.live, limits.tries],
  )
  return rows
}

/** Ends every live code of the address: one login, one code. */
export async function useCodes(tx: Transaction, email: string, now: Date): Promise<void> {
  await tx.query('update login_code set used_at = $2 where email = $1 and used_at is null', [email, now])
}

/** Takes no input; codes older than two days count for nothing. */
export async function forgetOldCodes(db: Queryable, now: Date): Promise<void> {
  await db.query(`delete from login_code where created_at < $1::timestamptz - interval '48 hours'`, [now])
}
