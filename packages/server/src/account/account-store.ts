import type { Account } from '@coinrack/contract/account.ts'
import type { z } from 'zod'
import type { Queryable, Transaction } from '../database/transaction.ts'

export interface AccountRow {
  id: string
  /** Null: of a wallet, until an address is proven by a code. */
  email: string | null
  first_name: string | null
  last_name: string | null
  password_hash: string | null
  email_verified_at: Date | null
  created_at: Date
}

const COLUMNS = 'id, email, first_name, last_name, password_hash, email_verified_at, created_at'

export async function accountById(db: Queryable, id: string): Promise<AccountRow> {
  const { rows } = await db.query<AccountRow>(`select ${COLUMNS} from account where id = $1`, [id])
  return rows[0]!
}

export async function accountByEmail(db: Queryable, email: string): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>(`select ${COLUMNS} from account where email = $1`, [email])
  return rows[0]
}

/** @returns false when the address is taken */
export async function insertAccount(tx: Transaction, row: AccountRow): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into account (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7) on conflict (email) do nothing`,
    [
      row.id,
      row.email,
      row.first_name,
      row.last_name,
      row.password_hash,
      row.email_verified_at,
      row.created_at,
    ],
  )
  return rowCount === 1
}

/** Changes what is given; null removes a name. */
export async function setNames(
  tx: Transaction,
  id: string,
  names: { first_name?: string | null | undefined; last_name?: string | null | undefined },
): Promise<void> {
  for (const [column, name] of Object.entries(names)) {
    if (name === undefined) continue
    await tx.query(`update account set ${column} = $2 where id = $1`, [id, name || null])
  }
}

export async function setPasswordHash(tx: Transaction, id: string, hash: string | null): Promise<void> {
  await tx.query('update account set password_hash = $2 where id = $1', [id, hash])
}

/** The first proof that the mailbox is the account's: says so, once. */
export async function markEmailVerified(tx: Transaction, id: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    'update account set email_verified_at = $2 where id = $1 and email_verified_at is null',
    [id, at],
  )
  return rowCount === 1
}

/**
 * Gives an account without an e-mail address one that was just proven.
 * @returns false when it has one, or another account has this one
 */
export async function setProvenEmail(tx: Transaction, id: string, email: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update account set email = $2, email_verified_at = $3
     where id = $1 and email is null and not exists (select from account other where other.email = $2)`,
    [id, email, at],
  )
  return rowCount === 1
}

/** The account as its owner sees it. */
export const accountView = (row: AccountRow): z.output<typeof Account> => ({
  id: row.id,
  email: row.email,
  first_name: row.first_name,
  last_name: row.last_name,
  has_password: row.password_hash !== null,
  email_verified: row.email_verified_at !== null,
  created_at: row.created_at,
})

/** Whether there is such an account, and it is not suspended. */
export async function accountMayLogIn(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query('select from account where id = $1 and suspended_at is null', [id])
  return rowCount === 1
}

/** @param at null: it is no longer suspended */
export async function setSuspended(tx: Transaction, id: string, at: Date | null): Promise<void> {
  await tx.query('update account set suspended_at = $2 where id = $1', [id, at])
}
