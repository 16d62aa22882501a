import type { Queryable } from '../database/transaction.ts'
import { RefusedError } from './command.ts'

export interface FoundAccount {
  id: string
  email: string | null
  suspended_at: Date | null
  created_at: Date
}

/**
 * The account with this e-mail address or id, or of the wallet with this address.
 * @throws RefusedError when there is none
 */
export async function findAccount(db: Queryable, emailOrId: string): Promise<FoundAccount> {
  const { rows } = await db.query<FoundAccount>(
    `select id, email, suspended_at, created_at from account where id = $1 or email = lower($1)
       or id = (select account_id from wallet where address = lower($1) order by chain_id nulls first limit 1)`,
    [emailOrId],
  )
  if (!rows[0]) throw new RefusedError(`There is no account ${emailOrId}`)
  return rows[0]
}
