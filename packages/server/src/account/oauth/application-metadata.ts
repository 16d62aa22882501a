import { scopes } from '@coinrack/contract/tokens.ts'
import { errors } from './oidc-provider.ts'

const OFFERED: ReadonlySet<string> = new Set([...scopes, 'offline_access'])

/** The scopes of a request that there are here; those of other services, such as `openid`, are left out. */
export const offeredScopes = (scope: unknown): string[] =>
  typeof scope === 'string' ? scope.split(' ').filter((each) => OFFERED.has(each)) : []

/**
 * The metadata of an application without the scopes that it may ask for, which can be those of other services: what it gets
 * the person chooses, each time.
 */
export function withoutScope({ scope: _any, ...metadata }: Record<string, unknown>): Record<string, unknown> {
  return metadata
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * An answer may go to https, to this computer's own programs, or to a program by a scheme of its own: nowhere where others
 * on the way can read it (MCP authorization, "Communication Security").
 * @throws InvalidRedirectUri
 */
export function refuseRedirects(uris: readonly string[]): void {
  if (uris.every(isSafe)) return
  throw new errors.InvalidClientMetadata('redirect_uris must be https, or http to a loopback address')
}

export function isSafe(uri: string): boolean {
  const url = URL.parse(uri)
  return url !== null && (url.protocol !== 'http:' || LOOPBACK.includes(url.hostname))
}

/** Where an answer goes, in words for a person. */
export function placeOf(uri: string): string {
  const url = new URL(uri)
  if (url.protocol === 'https:') return url.host
  return url.protocol === 'http:'
    ? 'a program on this computer'
    : `a program on this device (${url.protocol})`
}
