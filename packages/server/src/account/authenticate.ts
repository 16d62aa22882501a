import type { Scope, TokenKind } from '@coinrack/contract/operation.ts'
import type { Caller } from '../dispatch/handler.ts'
import { sha256 } from '../platform/sealer.ts'
import type { Services } from '../platform/services.ts'
import { isAccessToken, isToken } from './token.ts'

/** A row that is read together with the token: a select of one row by the identifier `$3`. */
export interface RowWanted {
  /** The name of the prepared statement. */
  name: string
  select: string
  id: string
}

export interface Authenticated {
  caller: Caller
  /** The wanted row as JSON; undefined when there is none. */
  row: Record<string, unknown> | undefined
}

/** As PostgreSQL writes it in JSON. */
interface CallerJson {
  id: string
  account_id: string
  kind: TokenKind
  lineage: string[]
  scopes: Scope[]
  authenticated_at: string
  proven_at: string | null
  expires_at: string
  suspended_at: string | null
  runs_out_at: string | null
}

/** A token by its text, or by the one before. */
const BY_TEXT = `
  select id, null::timestamptz as good_until from token where hash = $1
  union all
  select token_id, good_until from retired_token where hash = $1 and good_until > $2`

/** A grant by an access token that was issued for it. */
const BY_ACCESS_TOKEN = `
  select token_id as id, expires_at as good_until from oauth_state
  where model = 'AccessToken' and hash = $1 and expires_at > $2`

const callerBy = (text: string) => `
select t.id, t.account_id, t.kind, t.lineage, t.scopes, t.authenticated_at, t.proven_at, least(t.expires_at, text.good_until) as expires_at,
  a.suspended_at, low.runs_out_at
from (${text}) text join token t on t.id = text.id join account a on a.id = t.account_id
left join low_balance low on low.account_id = t.account_id
where t.revoked_at is null and t.expires_at > $2`

/**
 * The caller who presents this token; undefined when it is unknown, expired or revoked. The resource of the request
 * comes in the same round trip, and both come as JSON: a request that only reads is then one statement, whose answer
 * costs the driver a third of what the columns one by one do (`npm run bench:read`).
 */
export async function authenticate(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  token: string,
  wanted?: RowWanted,
): Promise<Authenticated | undefined> {
  const source = isToken(token) ? 'text' : isAccessToken(token) ? 'access' : undefined
  if (source === undefined) return undefined
  const row = wanted ? `(select row_to_json(wanted_row)::text from (${wanted.select}) wanted_row)` : 'null'
  const { rows } = await db.query<{ caller: string; row: string | null }>({
    name: `authenticate_${source}_${wanted?.name ?? 'alone'}`,
    text: `select row_to_json(caller)::text as caller, ${row} as row from (${callerBy(source === 'text' ? BY_TEXT : BY_ACCESS_TOKEN)}) caller`,
    values: [sha256(token), clock.now(), ...(wanted ? [wanted.id] : [])],
  })
  const found = rows[0]
  if (!found) return undefined
  const caller: CallerJson = JSON.parse(found.caller)
  return {
    caller: {
      accountId: caller.account_id,
      tokenId: caller.id,
      kind: caller.kind,
      lineage: caller.lineage,
      scopes: caller.scopes,
      authenticatedAt: new Date(caller.authenticated_at),
      provenAt: caller.proven_at === null ? undefined : new Date(caller.proven_at),
      expiresAt: new Date(caller.expires_at),
      suspended: caller.suspended_at !== null,
      balanceRunsOutAt: caller.runs_out_at === null ? undefined : new Date(caller.runs_out_at),
    },
    row: found.row === null ? undefined : JSON.parse(found.row),
  }
}
