import { createHash } from 'node:crypto'
import { SANDBOX_USE, type SandboxUse } from '../../dispatch/read-models.ts'
import type { Services } from '../../platform/services.ts'
import { isSame, sign } from '../files/signature.ts'

/*
 * What E2B's clients are given for one sandbox, beside their key: a text for all that is in it, and one for its ports that
 * they may give away. Each is of one sandbox and one token of the account, and ends with either; nothing of it is kept.
 */

export type AccessKind = 'inside' | 'traffic'

const FORM = /^(tok_[0-9a-z]{26})\.([\w-]{43})$/
const purposeOf = (kind: AccessKind) => `e2b ${kind}`

/** The text that lets its holder use a sandbox, as far as the token may that it is made for. */
export const accessText = (
  services: Pick<Services, 'config'>,
  kind: AccessKind,
  { sandboxId, tokenId }: { sandboxId: string; tokenId: string },
) => `${tokenId}.${sign(services, purposeOf(kind), [sandboxId, tokenId])}`

/** A token that may use the sandbox: of its account, which is not suspended, and with the scope. */
const MAY_USE = `token.account_id = sandbox.account_id and token.revoked_at is null and token.expires_at > $2
  and 'sandbox' = any(token.scopes)
  and exists (select from account where account.id = token.account_id and account.suspended_at is null)`

/** The sandbox that a text is for; undefined when it is for another, or its token is no longer good. */
export async function sandboxByAccess(
  services: Pick<Services, 'config' | 'clock' | 'db'>,
  kind: AccessKind,
  sandboxId: string,
  text: string,
): Promise<SandboxUse | undefined> {
  const tokenId = FORM.exec(text)?.[1]
  if (tokenId === undefined || !isSame(text, accessText(services, kind, { sandboxId, tokenId })))
    return undefined
  const { rows } = await services.db.query<{ row: string }>({
    name: 'sandbox_by_access',
    text: `select row_to_json(used)::text as row from (${SANDBOX_USE} where id = $1 and program_token_id is null
        and exists (select from token where token.id = $3 and ${MAY_USE})) used`,
    values: [sandboxId, services.clock.now(), tokenId],
  })
  return rows[0] && (JSON.parse(rows[0].row) as SandboxUse)
}

/** A link to one file, as E2B's clients make it by themselves from the text that they have. */
export interface ClientLink {
  operation: 'read' | 'write'
  path: string
  user: string | undefined
  /** Seconds since 1970. */
  expiresAt: number | undefined
  signature: string
}

/**
 * The sandbox that a signed link is for; undefined when the signature is of no token that may use it, or it is over. A link
 * does not say which token that is, so all of the account are tried.
 */
export async function sandboxByLink(
  services: Pick<Services, 'config' | 'clock' | 'db'>,
  sandboxId: string,
  link: ClientLink,
): Promise<SandboxUse | undefined> {
  const now = services.clock.now()
  if (link.expiresAt !== undefined && !(link.expiresAt * 1000 > now.getTime())) return undefined
  const { rows } = await services.db.query<{ id: string }>(
    `select token.id from sandbox join token on ${MAY_USE} where sandbox.id = $1`,
    [sandboxId, now],
  )
  for (const { id: tokenId } of rows) {
    const text = accessText(services, 'inside', { sandboxId, tokenId })
    if (isSame(link.signature, signatureOf(link, text)))
      return sandboxByAccess(services, 'inside', sandboxId, text)
  }
  return undefined
}

function signatureOf({ operation, path, user, expiresAt }: ClientLink, text: string): string {
  const parts = [path, operation, user ?? '', text, ...(expiresAt === undefined ? [] : [expiresAt])]
  return `v1_${createHash('sha256').update(parts.join(':')).digest('base64').replace(/=+$/, '')}`
}
