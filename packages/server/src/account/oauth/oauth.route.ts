import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type Provider from 'oidc-provider'
import type { KoaContextWithOIDC } from 'oidc-provider'
import type { RateLimiter } from '../../dispatch/rate-limiter.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { endGrant, UsedTwice } from './adapter.ts'
import { offeredScopes, withOfferedScopes } from './application-metadata.ts'
import { PATHS } from './authorization-server.ts'
import { METADATA_PATHS, resourceMetadata, USUAL_SCOPES } from './resource.ts'
import { gatherWrites } from './unit-of-work.ts'

const SERVER_METADATA = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']
const MOST_BYTES = 56 * 1024

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
    await serve(request.raw, reply.raw)
  }
  app.register(async (scope) => {
    // The library reads bodies itself.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _body, done) => done(null))
    for (const url of [...SERVER_METADATA, ...Object.values(PATHS), `${PATHS.authorization}/:uid`])
      scope.route({ method: ['GET', 'POST', 'OPTIONS'], url, handler })
  })

  /** An application that is made, or whose metadata is fetched, counts for the address that asks for it. */
  async function limit(request: FastifyRequest): Promise<void> {
    const path = request.routeOptions.url
    const { client_id } = request.query as { client_id?: unknown }
    const registers = path === PATHS.registration && request.method === 'POST'
    const fetches = path === PATHS.authorization && String(client_id).startsWith('https:')
    if (registers || fetches) await limiter.take('applications', undefined, request.ip)
  }
}

/**
 * What a request writes is committed before it is answered. A code or a refresh token that another request has used at the
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
    if (!(error instanceof UsedTwice)) throw error
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
  if (context.path === PATHS.registration && context.method === 'POST') {
    const body = Buffer.from(registrationIn(await textOf(context.req)))
    context.req = Object.assign(Readable.from([body], { objectMode: false }), {
      headers: context.req.headers,
    }) as typeof context.req
    context.request.req.headers['content-length'] = String(body.length)
  }
  await next()
}

/** A registration without scopes that there are not here; as it came, when it is no object. */
function registrationIn(text: string): string {
  try {
    const metadata = JSON.parse(text)
    return metadata && typeof metadata === 'object' && !Array.isArray(metadata)
      ? JSON.stringify(withOfferedScopes(metadata))
      : text
  } catch {
    return text
  }
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    bytes += part.length
    if (bytes > MOST_BYTES) throw new OperationError('body_too_large', 'A registration has at most 56 kB')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
