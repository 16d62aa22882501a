import type { Transaction } from '../database/transaction.ts'
import { openBalance } from '../ledger/balance.ts'
import type { Services } from '../platform/services.ts'
import { type AccountRow, insertAccount } from './account-store.ts'

/**
 * Makes an account, and its balance at zero.
 * @param email as `judgeEmail` gave it; null for the account of a wallet
 * @returns undefined when the address is taken
 */
export async function createAccount(
  tx: Transaction,
  { clock, newId }: Services,
  wanted: {
    email: string | null
    firstName?: string | null
    lastName?: string | null
    passwordHash?: string | null
    emailVerifiedAt?: Date | null
  },
): Promise<AccountRow | undefined> {
  const row: AccountRow = {
    id: newId('account'),
    email: wanted.email,
    first_name: wanted.firstName ?? null,
    last_name: wanted.lastName ?? null,
    password_hash: wanted.passwordHash ?? null,
    email_verified_at: wanted.emailVerifiedAt ?? null,
    created_at: clock.now(),
  }
  if (!(await insertAccount(tx, row))) return undefined
  await openBalance(tx, row.id)
  return row
}
