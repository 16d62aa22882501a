import type { Scope } from '@coinrack/contract/operation.ts'
import type { Caller } from '../handler.ts'
import { sha256 } from '../sealer.ts'
import type { Services } from '../services.ts'
import { isToken } from './token.ts'

/** Who presents this token; undefined when it is unknown, expired or revoked. */
export async function authenticate({ db, clock }: Services, token: string): Promise<Caller | undefined> {
  if (!isToken(token)) return undefined
  const { rows } = await db.query<{
    id: string
    account_id: string
    scopes: Scope[]
    authenticated_at: Date
    expires_at: Date
    suspended_at: Date | null
  }>({
    name: 'authenticate',
    text: `select t.id, t.account_id, t.scopes, t.authenticated_at, t.expires_at, a.suspended_at
           from token t join account a on a.id = t.account_id
           where t.hash = $1 and t.revoked_at is null and t.expires_at > $2`,
    values: [sha256(token), clock.now()],
  })
  const row = rows[0]
  return (
    row && {
      accountId: row.account_id,
      tokenId: row.id,
      scopes: row.scopes,
      authenticatedAt: row.authenticated_at,
      expiresAt: row.expires_at,
      suspended: row.suspended_at !== null,
    }
  )
}
