import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import type { KoaContextWithOIDC } from 'oidc-provider'
import type { RateLimiter } from '../../dispatch/rate-limiter.ts'
import type { Services } from '../../platform/services.ts'
import { endGrant, UsedTwice } from './adapter.ts'
import { offeredScopes, withoutScope } from './application-metadata.ts'
import { PATHS } from './authorization-server.ts'
import { METADATA_PATHS, resourceMetadata, USUAL_SCOPES } from './resource.ts'
import { gatherWrites } from './unit-of-work.ts'

const SERVER_METADATA = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']
/** As much as the library reads. */
const MOST_BYTES = 56 * 1024

/** Seconds to wait after the database did not answer. */
const RETRY_S = 2

/** The bodies of registrations, which are looked at before the library reads them. */
const registrations = new WeakMap<IncomingMessage, string>()

/** The authorization server and the metadata of what it is for, as routes. */
export function registerOauth(
  app: FastifyInstance,
  services: Services,
  limiter: RateLimiter,
  provider: Provider,
): void {
  const { config } = services
  for (const path of METADATA_PATHS)
    app.get(path, async (_request, reply) =>
      reply
        .header('access-control-allow-origin', '*')
        .header('cache-control', 'public, max-age=3600')
        .send(resourceMetadata(config)),
    )

  provider.use((context, next) => inOneTransaction(services, context as KoaContextWithOIDC, next))
  provider.use((context, next) => withScopes(context as KoaContextWithOIDC, next))
  const serve = provider.callback()
  const protocol = new URL(config.publicUrl).protocol.slice(0, -1)
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    await limit(request)
    reply.hijack()
    request.raw.headers['x-forwarded-proto'] = protocol
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    if (typeof request.body === 'string') registrations.set(request.raw, request.body)
    await serve(request.raw, reply.raw)
  }
  app.post(PATHS.registration, { handler, bodyLimit: MOST_BYTES })
  app.register(async (scope) => {
    // The library reads the other bodies itself.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _body, done) => done(null))
    scope.get(`${PATHS.authorization}/:uid`, handler)
    for (const url of [PATHS.authorization, PATHS.jwks, ...SERVER_METADATA])
      scope.route({ method: ['GET', 'OPTIONS'], url, handler })
    for (const url of [PATHS.token, PATHS.revocation])
      scope.route({ method: ['POST', 'OPTIONS'], url, handler })
  })

  /** An application that is made, or whose metadata is fetched, counts for the address that asks for it. */
  async function limit(request: FastifyRequest): Promise<void> {
    const path = request.routeOptions.url
    const { client_id } = request.query as { client_id?: unknown }
    const registers = path === PATHS.registration
    const fetches = path === PATHS.authorization && String(client_id).startsWith('https:')
    if (registers || fetches) await limiter.take('applications', undefined, request.ip)
  }
}

/**
 * What a request writes is committed before it is answered, and when that fails nothing of it is so. A code or a refresh token that another request has used at the
 * same moment ends the grant, as one does that was used before.
 */
async function inOneTransaction(
  services: Services,
  context: KoaContextWithOIDC,
  next: () => Promise<unknown>,
): Promise<void> {
  try {
    await gatherWrites(services.db, next)
  } catch (error) {
    if (!(error instanceof UsedTwice)) {
      services.log.error({ err: error }, 'What the authorization server was asked could not be written')
      context.set('retry-after', String(RETRY_S))
      context.status = 503
      context.body = { error: 'temporarily_unavailable', error_description: 'ask again in a moment' }
      return
    }
    const { grantId } =
      context.oidc.entities.RotatedRefreshToken ?? context.oidc.entities.AuthorizationCode ?? {}
    if (grantId !== undefined) await endGrant(services, grantId)
    context.status = error.statusCode
    context.body = { error: error.error, error_description: error.error_description }
  }
}

/** Scopes that there are not here are left out of what an application asks for; one that names none gets the usual ones. */
async function withScopes(context: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> {
  if (context.path === PATHS.authorization && context.method === 'GET') {
    const offered = offeredScopes(context.query.scope)
    const isNone = offered.every((scope) => scope === 'offline_access')
    context.query = { ...context.query, scope: [...offered, ...(isNone ? USUAL_SCOPES : [])].join(' ') }
  }
  const registration = registrations.get(context.req)
  if (registration !== undefined) {
    const body = Buffer.from(registrationIn(registration))
    const { headers } = context.req
    headers['content-length'] = String(body.length)
    context.req = Object.assign(Readable.from([body], { objectMode: false }), { headers }) as IncomingMessage
  }
  await next()
}

/** A registration without scopes; as it came, when it is no object. */
function registrationIn(text: string): string {
  try {
    const metadata = JSON.parse(text)
    return metadata && typeof metadata === 'object' && !Array.isArray(metadata)
      ? JSON.stringify(withoutScope(metadata))
      : text
  } catch {
    return text
  }
}
