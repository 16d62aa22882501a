import type { Scope } from '@coinrack/contract/operation.ts'
import type { Transaction } from '../../database/transaction.ts'
import type { Services } from '../../platform/services.ts'
import { PageProblem } from '../proving/proven-page.ts'
import { makeToken } from '../token.ts'
import { type BudgetRow, countTokens, insertToken, lockTokens, setBudget } from '../token-store.ts'

const MOST_TOKENS = 500n
/** Until its first texts are issued, which extends it. */
const UNUSED_MS = 600_000

/**
 * Writes down that a person lets an application in: a token of the kind `grant`, directly under the account. The texts that
 * are issued of it later are those of the authorization server; its own is told to nobody.
 * @throws PageProblem when the account has as many tokens as it may
 */
export async function makeGrant(
  tx: Transaction,
  { clock, random }: Services,
  grant: { id: string; accountId: string; name: string; scopes: Scope[]; budget: BudgetRow },
): Promise<void> {
  const now = clock.now()
  await lockTokens(tx, grant.accountId)
  if ((await countTokens(tx, grant.accountId, now)) >= MOST_TOKENS)
    throw new PageProblem(
      409,
      'The account has too many tokens',
      `At most ${MOST_TOKENS}. Please revoke one with revoke_token first; list_tokens shows them.`,
    )
  await insertToken(tx, {
    ...grant,
    kind: 'grant',
    text: makeToken(random),
    authenticatedAt: now,
    createdAt: now,
    expiresAt: new Date(now.getTime() + UNUSED_MS),
  })
  await setBudget(tx, grant.id, grant.budget)
}
