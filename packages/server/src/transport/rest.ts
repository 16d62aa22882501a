import {
  basePath,
  type OperationName,
  operationList,
  operations,
  walletPath,
} from '@coinrack/contract/index.ts'
import { type Operation, resourceInput } from '@coinrack/contract/operation.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Answer, Dispatch } from '../dispatch/dispatch.ts'
import type { OutputStream } from '../dispatch/handler.ts'
import { OperationError } from '../platform/errors.ts'
import { needsGuest, needsSandboxes } from './leader-needs.ts'
import { streamAnswer, wantsStream } from './output-stream.ts'
import { paymentHeaders } from './payment-headers.ts'
import { isPaymentScheme, paymentOfScheme } from './payment-scheme.ts'
import { answerUnchanged, NO_STORE } from './unchanged.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * The operations of the contract as routes of this scope, their aliases included.
 * @param prefix that the scope has: the base path, or the path of those for callers with a wallet
 */
export async function registerRest(
  scope: FastifyInstance,
  dispatch: Dispatch,
  prefix: typeof basePath | typeof walletPath = basePath,
): Promise<void> {
  const atOrigin = prefix === walletPath
  const closing = new AbortController()
  scope.addHook('preClose', async () => closing.abort())
  const served = new Map<string, Set<string>>()
  await scope.register(async (reads) => {
    await answerUnchanged(reads)
    serve(reads, ({ method }) => method === 'GET')
  })
  serve(scope, ({ method }) => method !== 'GET')
  for (const [url, methods] of served) refuseOtherMethods(scope, url, methods)

  function serve(app: FastifyInstance, isServed: (op: Operation) => boolean): void {
    for (const [name, op] of operationList)
      if (isServed(op) && (op.atOrigin ?? false) === atOrigin) serveOne(app, name, op)
  }

  function serveOne(app: FastifyInstance, name: OperationName, op: Operation): void {
    for (const path of [op.path, ...(op.aliases ?? [])]) {
      const url = path.slice(atOrigin ? walletPath.length : 0).replace(/{(\w+)}/g, ':$1')
      const methods = served.get(url) ?? new Set()
      served.set(url, methods.add(op.method))
      // A HEAD runs the handler and drops its answer: not of one that shows a password once.
      const exposeHeadRoute = op.method === 'GET' && op.effect === 'read'
      if (exposeHeadRoute) methods.add('HEAD')
      app.route({
        method: op.method,
        url,
        exposeHeadRoute,
        config: {
          onMachines: needsSandboxes(op),
          inGuest: needsGuest(op),
          ...(name === 'callOperation' ? { calledInBody: 'arguments' } : {}),
        },
        // Whatever may hold a secret is never compressed.
        ...(op.method === 'GET' && op.effect !== 'read' ? { compress: false } : {}),
        ...(op.bodyBytes === undefined ? {} : { bodyLimit: op.bodyBytes }),
        handler: async (request, reply) => {
          if (!wantsStream(op, request)) {
            const answer = await ask(dispatch, name, op, { request, reply })
            return send(reply, answeringOf(op, answer), answer)
          }
          const answer = await streamAnswer(request, reply, closing.signal, (stream) =>
            ask(dispatch, name, op, { request, reply }, stream),
          )
          return answer ? send(reply, op, answer) : reply
        },
      })
    }
  }
}

function refuseOtherMethods(app: FastifyInstance, url: string, served: ReadonlySet<string>) {
  app.route({
    method: METHODS.filter((method) => !served.has(method)),
    url,
    handler: (request) => {
      throw new OperationError('method_not_allowed', `${request.method} is not possible here`, {
        headers: { allow: [...served].join(', ') },
      })
    },
  })
}

/** Asks the operation of a route. */
export function ask(
  dispatch: Dispatch,
  name: OperationName,
  op: Operation,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  stream?: OutputStream,
): Promise<Answer> {
  const key = request.headers['idempotency-key']
  const { authorization } = request.headers
  const isPayment = op.x402 === 'always' && isPaymentScheme(authorization)
  return dispatch(name, {
    token: isPayment ? undefined : bearerToken(authorization),
    address: request.ip,
    idempotencyKey: Array.isArray(key) ? key[0] : key,
    resourceId: (request.params as { id?: string }).id,
    input: () => inputOf(op, request),
    requestId: request.id,
    asTool: false,
    payment: isPayment
      ? paymentOfScheme(authorization)
      : (request.headers['payment-signature'] ?? request.headers['x-payment']),
    hungUp: hungUp(reply),
    ...(stream && { stream }),
  })
}

/** Aborted when the connection of the answer is closed, also once it has been sent. */
export function hungUp({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

/** The token of an Authorization header; anything else than one Bearer token counts as a bad token. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? ''
}

/** Query or body, and what stands in the path. */
function inputOf(op: Operation, request: FastifyRequest): Record<string, unknown> {
  const query = request.query as Record<string, unknown>
  const fromQuery = Object.entries(query).filter(([name]) => op.query?.includes(name))
  const given = op.method === 'GET' ? query : { ...Object.fromEntries(fromQuery), ...parseBody(request.body) }
  const { id, ...fromPath } = request.params as { id?: string }
  return { ...given, ...fromPath, ...(op.resource ? { [resourceInput(op.resource)]: id } : {}) }
}

function parseBody(text: unknown): Record<string, unknown> {
  if (text === undefined || text === null || text === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text as string)
  } catch {
    throw new OperationError('malformed_json', 'The body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new OperationError('invalid_input', 'The body has to be a JSON object', {
      fields: { details: [{ path: '(body)', message: 'Expected an object' }] },
    })
  }
  return value as Record<string, unknown>
}

/** The operation that answered: one that `callOperation` called answers an object, and by the method of the route. */
const answeringOf = (op: Operation, { answered }: Answer): Operation =>
  answered ? { ...operations[answered.name], method: op.method, list: false } : op

function send(reply: FastifyReply, op: Operation, { status, body, headers }: Answer) {
  reply.code(status).headers({ 'cache-control': keeping(op, status, body), ...headers })
  const created = status === 200 && op.created?.(body)
  if (created) reply.header('location', basePath + created)
  if (op.x402) reply.headers(paymentHeaders(body))
  if (!op.list || status !== 200) return reply.send(body)
  linkToNext(reply, body)
  return reply.send(body.items)
}

/** Which clients may keep an answer: a read can be kept by those that ask whether it is still the same. */
function keeping(op: Operation, status: number, body: Record<string, unknown>): string {
  if (op.method !== 'GET' || status !== 200) return NO_STORE
  if (typeof body.root_password === 'string') return NO_STORE
  return op.access === 'public' ? 'no-cache' : 'private, no-cache'
}

/** Where an answer that shows only its items goes on. */
export function linkToNext(reply: FastifyReply, { next_cursor }: Record<string, unknown>): void {
  if (typeof next_cursor !== 'string') return
  const url = new URL(reply.request.url, 'http://localhost')
  url.searchParams.set('cursor', next_cursor)
  reply.header('link', `<${url.pathname}${url.search}>; rel="next"`)
}
