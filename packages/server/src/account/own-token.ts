import type { Transaction } from '../database/transaction.ts'
import type { Caller } from '../dispatch/handler.ts'
import { OperationError } from '../platform/errors.ts'
import { lockTokens, type TokenRow, tokenById } from './token-store.ts'

/**
 * The current token of a call; no token of the account changes until the transaction ends. Since it was authenticated
 * it may have been revoked, or the mailbox proven by another client.
 * @throws OperationError `unauthorized`
 */
export async function lockOwnToken(tx: Transaction, caller: Caller, now: Date): Promise<TokenRow> {
  await lockTokens(tx, caller.accountId)
  const own = await tokenById(tx, caller.tokenId, now)
  if (own.revoked_at) throw new OperationError('unauthorized', 'The token was revoked')
  return own
}
