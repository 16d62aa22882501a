import type { Session } from '@coinrack/contract/account.ts'
import type { Scope } from '@coinrack/contract/operation.ts'
import type { z } from 'zod'
import type { Transaction } from '../database/transaction.ts'
import { sha256 } from '../sealer.ts'
import type { Services } from '../services.ts'
import { type AccountRow, accountView } from './account-store.ts'
import { makeToken } from './token.ts'

const LIFETIME_DAYS = 365
const DAY_MS = 86_400_000
const ALL_SCOPES: Scope[] = ['read', 'order', 'manage', 'sandbox', 'billing', 'account']

/** Makes a token of the account, with every right. Its text is in the answer and nowhere else. */
export async function openSession(
  tx: Transaction,
  { clock, random, newId }: Services,
  row: AccountRow,
): Promise<z.output<typeof Session>> {
  const now = clock.now()
  const token = makeToken(random)
  const expiresAt = new Date(now.getTime() + LIFETIME_DAYS * DAY_MS)
  await tx.query(
    `insert into token (id, account_id, hash, scopes, authenticated_at, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $5, $6)`,
    [newId('token'), row.id, sha256(token), ALL_SCOPES, now, expiresAt],
  )
  return { token, token_type: 'Bearer', token_expires_at: expiresAt, account: accountView(row) }
}
