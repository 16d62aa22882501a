import type { Services } from '../services.ts'
import { isSame, sign } from './signature.ts'

/** What a link allows whoever has it: one method on one file, until then. */
export interface FileLink {
  method: 'GET' | 'PUT'
  sandboxId: string
  path: string
  expiresAt: Date
}

const PURPOSE = 'sandbox file links'
const partsOf = ({ method, sandboxId, path, expiresAt }: FileLink) => [
  method,
  sandboxId,
  path,
  String(expiresAt.getTime()),
]

export function linkUrl(services: Pick<Services, 'config'>, link: FileLink): string {
  const query = new URLSearchParams({
    path: link.path,
    expires: String(link.expiresAt.getTime()),
    signature: sign(services, PURPOSE, partsOf(link)),
  })
  return `${services.config.publicUrl}/sandbox-files/${link.sandboxId}?${query}`
}

/** Whether this was signed here, as it stands, and is not over. */
export function isGoodLink(
  services: Pick<Services, 'config' | 'clock'>,
  link: FileLink,
  signature: string,
): boolean {
  if (Number.isNaN(link.expiresAt.getTime()) || link.expiresAt <= services.clock.now()) return false
  return isSame(signature, sign(services, PURPOSE, partsOf(link)))
}
