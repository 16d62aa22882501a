import type { Session } from '@coinrack/contract/account.ts'
import { scopes } from '@coinrack/contract/tokens.ts'
import type { z } from 'zod'
import type { Transaction } from '../database/transaction.ts'
import type { Services } from '../platform/services.ts'
import { type AccountRow, accountView } from './account-store.ts'
import { rememberClient } from './known-client-store.ts'
import { makeToken } from './token.ts'
import { insertToken } from './token-store.ts'

/** The lifetime of the token of a login. */
export const SESSION_MS = 365 * 86_400_000

/**
 * Makes a token of the account, with every right. Its text is in the answer and nowhere else. From then on the client
 * is known: strangers who guess passwords do not close it out.
 * @param isProven whether a code from the mailbox opened it, or the signature of the account's wallet
 * @param authenticatedAt when its holder logged in, as far as that makes a difference; now without it
 */
export async function openSession(
  tx: Transaction,
  services: Services,
  row: AccountRow,
  client: string,
  { isProven = false, authenticatedAt = services.clock.now() } = {},
): Promise<z.output<typeof Session> & { tokenId: string }> {
  const { clock, random, newId } = services
  const now = clock.now()
  const token = makeToken(random)
  const expiresAt = new Date(now.getTime() + SESSION_MS)
  const tokenId = newId('token')
  await insertToken(tx, {
    id: tokenId,
    accountId: row.id,
    text: token,
    scopes,
    authenticatedAt,
    createdAt: now,
    provenAt: isProven ? now : null,
    expiresAt,
  })
  await rememberClient(tx, services, row.id, client)
  return { tokenId, token, token_type: 'Bearer', token_expires_at: expiresAt, account: accountView(row) }
}
