import { request as httpRequest, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { TLSSocket } from 'node:tls'
import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import { currentReplicas } from '../replicas/replica-store.ts'
import { carryUpgrade } from './carry-upgrade.ts'
import { isStillSent, readToTheEnd } from './lingering-close.ts'
import { previewAddress } from './preview-address.ts'
import { endToEnd } from './preview-heads.ts'
import { headersForReplica, isFromReplica, linkToReplica } from './replica-link.ts'
import type { Upgrade } from './upgrades.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route needs what only the service that tends the machines has. */
    onMachines?: boolean
  }
}

const RETRY_S = 2
/** How long after its last byte was sent a request may stay without an answer: longer than any handler takes. */
const ANSWER_MS = 60_000

/** Whether it needs sandboxes, which one service has. */
export const needsSandboxes = ({ errors }: Operation) =>
  (errors as readonly string[]).includes('sandboxes_unavailable')

const tools = new Set(
  operationList
    .filter(([, op]) => needsSandboxes(op))
    .flatMap(([name, op]) => [toolName(name), ...(op.tools ?? [])]),
)

/**
 * A service that does not tend the machines answers what needs sandboxes through the one that does: requests, the streams in
 * them, tools, previews and WebSockets go there as they came. What another replica has passed on is not passed on again.
 * @param lookups the share of the database in which it is looked up who tends them
 * @returns what takes over connections of previews
 */
export function proxySandboxesToLeader(app: FastifyInstance, services: Services, lookups: pg.Pool): Upgrade {
  const { config } = services
  const isOthers = (request: IncomingMessage) =>
    config.sandboxes && !services.sandboxes && !isFromReplica(request)
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  const passOn = async (request: FastifyRequest, reply: FastifyReply, body?: string) =>
    carryRequest(await linkToLeader(services, lookups), request, reply, body, closing.signal)

  app.addHook('onRequest', async (request, reply) => {
    if (!request.routeOptions.config.onMachines || !isOthers(request.raw)) return
    await passOn(request, reply)
    return reply
  })
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.url !== '/mcp' || !isOthers(request.raw) || !callsTool(request.body)) return
    await passOn(request, reply, request.body as string)
    return reply
  })

  return {
    isMine: (request) => isOthers(request) && previewAddress(config, request) !== undefined,
    async accept(request, socket, head) {
      const upstream = await linkToLeader(services, lookups)
      const cut = () => socket.destroy()
      closing.signal.addEventListener('abort', cut)
      await carryUpgrade(
        { request, socket, head },
        {
          upstream,
          path: request.url!,
          headers: headersForReplica(request, request.socket.remoteAddress ?? ''),
          returned: (answer) => endToEnd(answer.headers),
        },
      ).finally(() => closing.signal.removeEventListener('abort', cut))
    },
  }
}

/** Asks another replica what was asked here, and hands its answer on. */
async function carryRequest(
  link: TLSSocket,
  request: FastifyRequest,
  reply: FastifyReply,
  body: string | undefined,
  closing: AbortSignal,
): Promise<void> {
  const asked = httpRequest({
    createConnection: () => link,
    method: request.method,
    path: request.originalUrl,
    headers: headersForReplica(request.raw, request.ip),
    setHost: false,
    signal: closing,
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve)
    asked.on('error', reject)
  })
  asked.once('finish', () => asked.setTimeout(ANSWER_MS, () => asked.destroy()))
  reply.raw.once('close', () => asked.destroy())
  if (body === undefined) request.raw.pipe(asked)
  else asked.end(body)
  const answer = await answered.catch(() => {
    throw nobody()
  })
  asked.setTimeout(0)
  reply.hijack()
  reply.raw.writeHead(answer.statusCode!, returnedHeaders(answer, isStillSent(request.raw)))
  await pipeline(answer, reply.raw).catch(() => reply.raw.destroy())
  if (isStillSent(request.raw)) readToTheEnd(request.raw, closing)
}

/**
 * The headers of another replica's answer, as it wrote them, but for those about one connection.
 * @param isKept whether the connection of the client is still read from, and has to stay open for it
 */
function returnedHeaders({ rawHeaders }: IncomingMessage, isKept: boolean): string[] {
  const pairs = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]!]] : []))
  const kept = pairs.filter(([name]) => !['connection', 'keep-alive'].includes(name!.toLowerCase()))
  return [...kept, ...(isKept ? [['connection', 'keep-alive']] : [])].flat()
}

/** A connection to the replica that tends the machines. */
async function linkToLeader({ config }: Services, lookups: pg.Pool): Promise<TLSSocket> {
  const leader = (await currentReplicas(lookups)).find(({ tendsLocal }) => tendsLocal)
  if (!leader) throw nobody()
  return linkToReplica(leader.address, config.serverSecret!).catch(() => {
    throw nobody()
  })
}

const nobody = () =>
  new OperationError('sandboxes_unavailable', 'No process runs the sandboxes at the moment', {
    retryAfter: RETRY_S,
  })

function callsTool(body: unknown): boolean {
  if (typeof body !== 'string') return false
  try {
    const calls = [JSON.parse(body)].flat() as { method?: unknown; params?: { name?: unknown } }[]
    return calls.some(({ method, params }) => method === 'tools/call' && tools.has(String(params?.name)))
  } catch {
    return false
  }
}
