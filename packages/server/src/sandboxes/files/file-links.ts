import type { Services } from '../../platform/services.ts'
import { isSame, sign } from './signature.ts'

/** The right that a link gives its holder: one method on one file, until then. */
export interface FileLink {
  method: 'GET' | 'PUT'
  sandboxId: string
  path: string
  expiresAt: Date
  /** The token that made it, with which it ends. */
  tokenId: string
}

const PURPOSE = 'sandbox file links'
const partsOf = ({ method, sandboxId, path, expiresAt, tokenId }: FileLink) => [
  method,
  sandboxId,
  path,
  String(expiresAt.getTime()),
  tokenId,
]

export function linkUrl(services: Pick<Services, 'config'>, link: FileLink): string {
  const query = new URLSearchParams({
    path: link.path,
    expires: String(link.expiresAt.getTime()),
    token: link.tokenId,
    signature: sign(services, PURPOSE, partsOf(link)),
  })
  return `${services.config.publicUrl}/sandbox-files/${link.sandboxId}?${query}`
}

/**
 * Whether this was signed here, as it stands, is not over, and still in the power of the token that made it: one that holds,
 * of the sandbox's account, which is not suspended.
 */
export async function isGoodLink(
  services: Pick<Services, 'config' | 'clock' | 'db'>,
  link: FileLink,
  signature: string,
): Promise<boolean> {
  const now = services.clock.now()
  if (Number.isNaN(link.expiresAt.getTime()) || link.expiresAt <= now) return false
  if (!isSame(signature, sign(services, PURPOSE, partsOf(link)))) return false
  const { rowCount } = await services.db.query(
    `select from token join account on account.id = token.account_id join sandbox on sandbox.account_id = account.id
     where token.id = $1 and sandbox.id = $2 and token.revoked_at is null and token.expires_at > $3
       and account.suspended_at is null`,
    [link.tokenId, link.sandboxId, now],
  )
  return rowCount === 1
}
