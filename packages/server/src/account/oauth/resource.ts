import type { Scope } from '@coinrack/contract/operation.ts'
import { scopes } from '@coinrack/contract/tokens.ts'
import type { Config } from '../../config/config.ts'

/** The address of the agent endpoint that grants are for. */
export const CONNECT_PATH = '/mcp/connect'

/** The resource that access tokens are issued for (RFC 8707). */
export const connectUrl = ({ publicUrl }: Pick<Config, 'publicUrl'>) => publicUrl + CONNECT_PATH

/** What an application gets when it names no scope: all but the administration of the account. */
export const USUAL_SCOPES: readonly Scope[] = ['read', 'order', 'manage', 'sandbox', 'billing']

/** Where the metadata of the resource lies: below the path of RFC 9728, section 3.1, and at its root for older clients. */
export const METADATA_PATHS = [
  `/.well-known/oauth-protected-resource${CONNECT_PATH}`,
  '/.well-known/oauth-protected-resource',
] as const

/** The metadata of the resource (RFC 9728): which server issues tokens for it, and how they are presented. */
export const resourceMetadata = (config: Pick<Config, 'publicUrl'>) => ({
  resource: connectUrl(config),
  authorization_servers: [config.publicUrl],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
  resource_name: 'Coinrack',
  resource_documentation: `${config.publicUrl}/docs`,
})

/**
 * The challenge beside a 401 of the resource (RFC 9728, section 5.1).
 * @param isPresented whether a token came, which was not good
 */
export const challenge = ({ publicUrl }: Pick<Config, 'publicUrl'>, isPresented: boolean) =>
  [
    `Bearer resource_metadata="${publicUrl}${METADATA_PATHS[0]}"`,
    `scope="${USUAL_SCOPES.join(' ')}"`,
    ...(isPresented
      ? ['error="invalid_token"', 'error_description="unknown, expired, or for another address"']
      : []),
  ].join(', ')
