import { errors } from '@coinrack/contract/errors.ts'
import { basePath } from '@coinrack/contract/index.ts'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { failureAnswer } from '../dispatch/failure-answer.ts'
import { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import { previewPath } from './preview-address.ts'
import { takerOf, type Upgrade } from './upgrades.ts'

const LARGEST_BODY = 1024 * 1024
/** A head of a request is whole by then; as nginx waits for one no longer than a minute. */
const HEADERS_MS = 40_000

/**
 * The HTTP server without any route: how bodies are read, and how whatever goes wrong before a handler is answered.
 * @param upgrades what takes over connections; may be filled later
 */
export function createServer(
  services: Services,
  upgrades: readonly Upgrade[],
  { headersMs = HEADERS_MS } = {},
): FastifyInstance {
  const { config, log, random } = services
  // Tells two starts apart, and replicas.
  const boot = Buffer.from(random.bytes(6)).toString('base64url')
  let requests = 0
  const app = Fastify({
    http: {
      shouldUpgradeCallback: (request) => takerOf(upgrades, request) !== undefined,
      headersTimeout: headersMs,
      connectionsCheckingInterval: headersMs / 4,
    },
    loggerInstance: log as FastifyBaseLogger,
    logController: new Fastify.LogController({ disableRequestLogging: true }),
    bodyLimit: LARGEST_BODY,
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    genReqId: () => `${boot}-${(++requests).toString(36)}`,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 256 },
    rewriteUrl: (request) => previewPath(config, request) ?? request.url ?? '/',
    // A path that cannot be read, or whose identifier has no end.
    frameworkErrors: (_error, request, reply) => nothingHere(request, reply),
  })
  // JSON is parsed by dispatch, after authentication: here it stays text.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body),
  )

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders(request))
  })
  app.setErrorHandler<FastifyError>((error, request, reply) =>
    refuse(request, reply, knownError(error, request.routeOptions.bodyLimit)),
  )
  app.setNotFoundHandler(nothingHere)
  return app

  function nothingHere(request: FastifyRequest, reply: FastifyReply) {
    return refuse(request, reply, nothingAt(request))
  }
  function refuse(request: FastifyRequest, reply: FastifyReply, error: unknown) {
    const { status, headers, body } = failureAnswer(services, error, request.id)
    return reply
      .code(status)
      .headers({ ...commonHeaders(request), ...headers })
      .send(body)
  }
}

/** The answer to a request for a path without a route. */
export function nothingAt({ url }: FastifyRequest): OperationError {
  const path = url.split('?')[0]!.slice(0, 200)
  return new OperationError('not_found', `There is nothing at ${path}; see ${basePath}/openapi.json`)
}

const commonHeaders = ({ id }: FastifyRequest) => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
})

/** An error that Fastify throws by itself, in the words of the contract; any other as it is. */
export function knownError(error: FastifyError, bodyLimit: number): unknown {
  switch (error.statusCode) {
    case errors.body_too_large.status:
      return new OperationError('body_too_large', `The body is larger than ${bodyLimit / LARGEST_BODY} MiB`)
    case errors.unsupported_media_type.status:
      return new OperationError('unsupported_media_type', 'The body has to be application/json')
    case 400:
      return new OperationError('malformed_json', 'The request cannot be read')
  }
  return error
}
