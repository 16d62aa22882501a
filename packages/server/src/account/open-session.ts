import type { Session } from '@coinrack/contract/account.ts'
import { scopes } from '@coinrack/contract/tokens.ts'
import type { z } from 'zod'
import type { Transaction } from '../database/transaction.ts'
import type { Services } from '../services.ts'
import { type AccountRow, accountView } from './account-store.ts'
import { rememberClient } from './known-client-store.ts'
import { makeToken } from './token.ts'
import { insertToken } from './token-store.ts'

/** Of the token of a login. */
export const SESSION_MS = 365 * 86_400_000

/**
 * Makes a token of the account, with every right. `isProven` when a code from its mailbox opened it. Its text is in the answer and nowhere else. From then on the client
 * is known: strangers who guess passwords do not close it out.
 */
export async function openSession(
  tx: Transaction,
  services: Services,
  row: AccountRow,
  client: string,
  { isProven = false } = {},
): Promise<z.output<typeof Session>> {
  const { clock, random, newId } = services
  const now = clock.now()
  const token = makeToken(random)
  const expiresAt = new Date(now.getTime() + SESSION_MS)
  await insertToken(tx, {
    id: newId('token'),
    accountId: row.id,
    text: token,
    scopes,
    authenticatedAt: now,
    createdAt: now,
    provenAt: isProven ? now : null,
    expiresAt,
  })
  await rememberClient(tx, services, row.id, client)
  return { token, token_type: 'Bearer', token_expires_at: expiresAt, account: accountView(row) }
}
