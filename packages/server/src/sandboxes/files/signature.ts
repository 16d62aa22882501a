import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Services } from '../../platform/services.ts'

/** HMAC-SHA256 of these parts, in base64url; the key by HKDF-SHA256 (RFC 5869) from the secret of the service. */
export function sign(
  { config }: Pick<Services, 'config'>,
  purpose: string,
  parts: readonly string[],
): string {
  const key = Buffer.from(hkdfSync('sha256', config.serverSecret!, '', `coinrack ${purpose}`, 32))
  // As JSON, so that no two lists of parts are written the same.
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')
}

/** In the same time whatever is presented. */
export function isSame(presented: string, expected: string): boolean {
  const [a, b] = [Buffer.from(presented), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
