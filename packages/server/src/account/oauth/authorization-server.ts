import { scopes } from '@coinrack/contract/tokens.ts'
import { problemPage } from '@coinrack/web/proving/page.ts'
import type OidcProvider from 'oidc-provider'
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import type { Services } from '../../platform/services.ts'
import { accountMayLogIn } from '../account-store.ts'
import { PAGE_HEADERS } from '../proving/page-headers.ts'
import { stateAdapter } from './adapter.ts'
import { isSafe } from './application-metadata.ts'
import { MOST_BYTES, metadataFetcher } from './fetch-metadata.ts'
import { errors, Provider } from './oidc-provider.ts'
import { connectUrl } from './resource.ts'
import { serverKeys } from './server-keys.ts'

export const PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
} as const
/** The page on which a person lets an application in. */
export const CONSENT_PATH = '/oauth/consent'

const DAY_S = 86_400
const ACCESS_TOKEN_S = 3600
/** How long an application may be away before a person has to let it in again. */
const REFRESH_TOKEN_S = 90 * DAY_S

/**
 * The authorization server for `/mcp/connect`: OAuth 2.1 as the specification of MCP wants it, by the library
 * `oidc-provider`. Codes with PKCE (S256) for public and confidential applications, which are known by the address of their
 * metadata or have registered; refresh tokens are replaced at each use, and one that is used again ends its grant.
 */
export function createAuthorizationServer(services: Services): OidcProvider {
  const { config, log } = services
  const resource = connectUrl(config)
  const keys = serverKeys(config.serverSecret!)
  const provider = new Provider(config.publicUrl, {
    adapter: (model) => stateAdapter(services, model),
    routes: PATHS,
    scopes: [...scopes, 'offline_access'],
    responseTypes: ['code'],
    pkce: { required: () => true },
    jwks: { keys: [keys.signing] },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    // As native applications they may use loopback addresses, at any port (RFC 8252, section 7.3).
    clientDefaults: {
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: 'EdDSA',
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_S,
      AuthorizationCode: 60,
      RefreshToken: REFRESH_TOKEN_S,
      Grant: 365 * DAY_S,
      Interaction: 1800,
      Session: 600,
    },
    cookies: {
      keys: [keys.cookies],
      long: { httpOnly: true, sameSite: 'lax', path: PATHS.authorization, signed: true },
      short: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    fetch: metadataFetcher(services),
    fetchResponseBodyLimits: { 'client_id metadata document': MOST_BYTES },
    findAccount: async (_context, accountId) =>
      (await accountMayLogIn(services.db, accountId))
        ? { accountId, claims: async () => ({ sub: accountId }) }
        : undefined,
    interactions: { url: (_context, { uid }) => `${CONSENT_PATH}/${uid}` },
    // Each request is consented to by itself: the grant is the one that was just made.
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId)
    },
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    // Whichever text is revoked or used twice, all of the grant ends.
    revokeGrantPolicy: () => true,
    expiresWithSession: async () => false,
    renderError,
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_context, client, token) => token.clientId === client.clientId,
      },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowClient: async (_context, client) => (client.redirectUris ?? []).every(isSafe),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => resource,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_context, asked) => {
          if (asked !== resource) throw new errors.InvalidTarget(`tokens are issued for ${resource} alone`)
          return {
            scope: scopes.join(' '),
            audience: resource,
            accessTokenTTL: ACCESS_TOKEN_S,
            accessTokenFormat: 'opaque',
          }
        },
      },
    },
  } satisfies Configuration)
  // What the address of the service is says its settings, and whether cookies are for https alone.
  provider.proxy = true
  provider.on('server_error', (_context, error) =>
    log.error({ err: error }, 'The authorization server failed'),
  )
  return provider

  async function renderError(
    context: KoaContextWithOIDC,
    { error, error_description }: { error: string; error_description?: string | undefined },
  ): Promise<void> {
    context.set(PAGE_HEADERS)
    context.type = 'html'
    context.body = problemPage(
      services.demo !== undefined,
      'The application cannot sign in',
      `It asked in a way that is not answered: ${error_description ?? error}. Please start again in the application; nothing was changed.`,
    )
  }
}
