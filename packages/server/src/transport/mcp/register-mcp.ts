import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../config/config.ts'
import { createCancellations } from '../../dispatch/cancellations.ts'
import type { Dispatch } from '../../dispatch/dispatch.ts'
import { OperationError } from '../../platform/errors.ts'
import type { Services } from '../../platform/services.ts'
import { implementation } from '../documents/mcp-registry.ts'
import { bearerToken, hungUp } from '../rest.ts'
import { mcpAddresses } from './addresses.ts'
import { createMcp } from './serve-mcp.ts'
import { createTasks } from './tasks.ts'

/** Who may use an address that is for grants. */
export interface Grants {
  /** Whether the token is one of a grant. Counts for the client's address when it is none. */
  isGrant(token: string | undefined, address: string): Promise<boolean>
  /** The header `WWW-Authenticate` that leads a client to the authorization server. */
  challenge(isPresented: boolean): string
}

/** The agent addresses as routes. */
export function registerMcp(
  app: FastifyInstance,
  services: Services,
  dispatch: Dispatch,
  grants: Grants,
): void {
  const { config } = services
  const cancellations = createCancellations(services)
  app.addHook('onClose', async () => cancellations.close())
  const parts = { dispatch, cancellations, identity: implementation(config) }
  for (const at of mcpAddresses) {
    const serve = createMcp(at, { ...parts, tasks: createTasks(services, at) })
    app.route({
      method: ['GET', 'POST', 'DELETE'],
      url: at.path,
      config: { calledInBody: 'messages' },
      handler: async (request, reply) => {
        if (!isOwnOrigin(request.headers.origin, config)) {
          return reply.code(403).send({
            jsonrpc: '2.0',
            error: { code: -32_000, message: 'Requests from pages of other origins are refused' },
            id: null,
          })
        }
        const token = bearerToken(request.headers.authorization)
        if (at.forGrants && !(await grants.isGrant(token, request.ip)))
          throw new OperationError('unauthorized', 'This address takes tokens that it has issued by OAuth', {
            fix: 'Let the client sign in: the header WWW-Authenticate leads to the authorization server. With a token of your own use /mcp.',
            nextSteps: [],
            headers: { 'www-authenticate': grants.challenge(token !== undefined) },
          })
        const response = await serve(webRequest(request, config.publicUrl, hungUp(reply)), {
          token,
          address: request.ip,
          requestId: request.id,
          program: request.headers['user-agent'] ?? '',
        })
        return reply.send(response)
      },
    })
  }
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
