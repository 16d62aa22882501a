import type { ProgramTokens } from '../platform/slice-ports.ts'
import { childBudget } from './child-budget.ts'
import { lockOwnToken } from './own-token.ts'
import { makeToken } from './token.ts'
import { insertToken, lockTokens, revokeTree, setBudget, tokenById } from './token-store.ts'

/**
 * The tokens of programs. Unlike one of create_token, such a token may stand below as many others as there are, and counts
 * for no limit of how many there may be: nothing can stand below it, and it is over within a minute.
 */
export const programTokens: ProgramTokens = {
  async begin(tx, { clock, newId, random }, caller, { budget, expiresAt }) {
    const now = clock.now()
    const parent = await lockOwnToken(tx, caller, now)
    const id = newId('token')
    const text = makeToken(random)
    await insertToken(tx, {
      id,
      accountId: caller.accountId,
      text,
      kind: 'program',
      scopes: parent.scopes,
      authenticatedAt: parent.authenticated_at,
      createdAt: now,
      expiresAt: new Date(Math.min(expiresAt.getTime(), parent.expires_at.getTime())),
      name: 'run_program',
      parent,
    })
    await setBudget(tx, id, await childBudget(tx, parent.id, { total: budget, allow_auto_renew: false }, now))
    return { id, text }
  },

  async end(tx, { clock }, { accountId, tokenId }) {
    const now = clock.now()
    await lockTokens(tx, accountId)
    await revokeTree(tx, tokenId, now)
    return (await tokenById(tx, tokenId, now)).spent
  },

  async endAll(tx, { clock }) {
    await tx.query(`update token set revoked_at = $1 where kind = 'program' and revoked_at is null`, [
      clock.now(),
    ])
  },
}
