import type { Services } from '../../platform/services.ts'
import { TEMPLATE_UPLOADS } from '../../transport/preview-address.ts'
import { isSame, sign } from '../files/signature.ts'

/** The right to upload one archive for a template, until then. */
export interface UploadLink {
  templateId: string
  folder: string
  expiresAt: Date
  /** The token that made it, with which it ends. */
  tokenId: string
}

const PURPOSE = 'template upload links'
const partsOf = ({ templateId, folder, expiresAt, tokenId }: UploadLink) => [
  templateId,
  folder,
  String(expiresAt.getTime()),
  tokenId,
]

export function uploadUrl(services: Pick<Services, 'config'>, link: UploadLink): string {
  const query = new URLSearchParams({
    folder: link.folder,
    expires: String(link.expiresAt.getTime()),
    token: link.tokenId,
    signature: sign(services, PURPOSE, partsOf(link)),
  })
  return `${services.config.publicUrl}${TEMPLATE_UPLOADS}/${link.templateId}?${query}`
}

/**
 * Whether this was signed here, as it stands, is not over, and still in the power of the token that made it: one that holds,
 * of the template's account, which is not suspended.
 */
export async function isGoodUploadLink(
  services: Pick<Services, 'config' | 'clock' | 'db'>,
  link: UploadLink,
  signature: string,
): Promise<boolean> {
  const now = services.clock.now()
  if (Number.isNaN(link.expiresAt.getTime()) || link.expiresAt <= now) return false
  if (!isSame(signature, sign(services, PURPOSE, partsOf(link)))) return false
  const { rowCount } = await services.db.query(
    `select from token join account on account.id = token.account_id
       join sandbox_template template on template.account_id = account.id
     where token.id = $1 and template.id = $2 and template.deleted_at is null and token.revoked_at is null
       and token.expires_at > $3 and account.suspended_at is null`,
    [link.tokenId, link.templateId, now],
  )
  return rowCount === 1
}
