import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import type { Services } from '../platform/services.ts'
import type { ServeMcp } from '../transport/mcp.ts'
import { bearerToken } from '../transport/rest.ts'
import type { Readiness } from './readiness.ts'

/**
 * The routes that are no operation: health, the agent endpoint, and the demo's faucet. Documents and the checkout pages
 * have files of their own.
 */
export function registerOtherRoutes(
  app: FastifyInstance,
  services: Services,
  { readiness, mcp }: { readiness: Readiness; mcp: ServeMcp },
): void {
  const { config, demo } = services

  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const ready = (await readiness()).every((part) => part.ready)
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' })
  })

  app.get('/', async (_request, reply) => reply.redirect('/docs'))

  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    handler: async (request, reply) => {
      if (!isOwnOrigin(request.headers.origin, config)) {
        return reply.code(403).send({
          jsonrpc: '2.0',
          error: { code: -32_000, message: 'Requests from pages of other origins are refused' },
          id: null,
        })
      }
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const response = await mcp(webRequest(request, config.publicUrl, gone.signal), {
        token: bearerToken(request.headers.authorization),
        address: request.ip,
        requestId: request.id,
      })
      return reply.send(response)
    },
  })

  if (demo) app.get('/demo', async () => demo)
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * A page of another origin that lured a browser here (DNS rebinding) gives itself away by its Origin. Pages of this host,
 * such as inspectors, may come in the demo profile alone: in production they are pages of the customer's host.
 */
function isOwnOrigin(origin: string | undefined, { profile, publicUrl }: Config): boolean {
  if (origin === undefined) return true
  const url = URL.parse(origin)
  if (!url) return false
  return url.origin === new URL(publicUrl).origin || (profile === 'demo' && LOOPBACK.includes(url.hostname))
}

/** The request in the form of the fetch standard. */
function webRequest(request: FastifyRequest, origin: string, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  const body = typeof request.body === 'string' ? request.body : undefined
  return new Request(new URL(request.url, origin), { method: request.method, headers, body, signal })
}
