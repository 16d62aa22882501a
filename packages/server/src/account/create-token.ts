import type { Handler } from '../dispatch/handler.ts'
import { childBudget } from './child-budget.ts'
import { lockOwnToken } from './own-token.ts'
import { makeE2bToken, makeToken } from './token.ts'
import { countTokens, insertToken, setBudget, tokenById, tokenView } from './token-store.ts'

const MOST_TOKENS = 500n
const DEEPEST = 5
const DAY_MS = 86_400_000
/** All that E2B's clients ask for. */
const E2B_SCOPES = ['sandbox'] as const

export const createToken: Handler<'createToken'> = async ({ input, caller, db, services, fail }) => {
  const { clock, newId, random } = services
  const now = clock.now()
  const parent = await lockOwnToken(db, caller, now)
  const isE2b = input.format === 'e2b'
  const scopes = [...new Set(input.scopes ?? (isE2b ? E2B_SCOPES : parent.scopes))]
  const missing = scopes.find((scope) => !parent.scopes.includes(scope))
  if (missing) {
    throw fail('scope_missing', `The token lacks the scope "${missing}", so it cannot give it`, {
      fields: { scope: missing },
    })
  }
  if (parent.lineage.length >= DEEPEST || (await countTokens(db, caller.accountId, now)) >= MOST_TOKENS) {
    throw fail('token_limit', `At most ${MOST_TOKENS} tokens, ${DEEPEST} below each other`)
  }

  const lifetime = input.expires_in_days === undefined ? Infinity : input.expires_in_days * DAY_MS
  const expiresAt = new Date(Math.min(now.getTime() + lifetime, parent.expires_at.getTime()))
  const id = newId('token')
  const text = isE2b ? makeE2bToken(random) : makeToken(random)
  await insertToken(db, {
    id,
    accountId: caller.accountId,
    text,
    scopes,
    authenticatedAt: parent.authenticated_at,
    createdAt: now,
    expiresAt,
    name: input.name ?? null,
    parent,
  })
  if (input.budget) await setBudget(db, id, await childBudget(db, parent.id, input.budget, now))
  return {
    token: text,
    token_type: 'Bearer',
    token_expires_at: expiresAt,
    details: tokenView(await tokenById(db, id, now), now),
  }
}
