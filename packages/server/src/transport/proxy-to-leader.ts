import { request as httpRequest, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { TLSSocket } from 'node:tls'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import { currentReplicas, hasLocalMachine } from '../replicas/replica-store.ts'
import { carryUpgrade } from './carry-upgrade.ts'
import { callsSandboxes, guestsCalled } from './leader-needs.ts'
import { isStillSent, readToTheEnd } from './lingering-close.ts'
import { previewAddress } from './preview-address.ts'
import { endToEnd } from './preview-heads.ts'
import { headersForReplica, isFromReplica, linkToReplica } from './replica-link.ts'
import type { Upgrade } from './upgrades.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route needs what only the service that tends the machines has. */
    onMachines?: boolean
    /** Whether it asks something inside the VPS that its path names. */
    inGuest?: boolean
  }
}

const RETRY_S = 2
/** How long after its last byte was sent a request may stay without an answer: longer than any handler takes. */
const ANSWER_MS = 60_000

/**
 * A service that does not tend the machines answers what needs sandboxes through the one that does: requests, the streams in
 * them, tools, previews and WebSockets go there as they came. On another computer than the machines, so does what is asked
 * inside them. What another replica has passed on is not passed on again.
 * @param lookups the share of the database in which it is looked up who tends them
 * @returns what takes over connections of previews, and hands any other one on that it is given
 */
export function proxyToLeader(app: FastifyInstance, services: Services, lookups: pg.Pool): Upgrade {
  const { config } = services
  const isOthers = (request: IncomingMessage) =>
    config.sandboxes && services.sandboxes.size === 0 && !isFromReplica(request)
  /** Whether it asks something inside a machine to which this service has no way. */
  const asksInside = async (request: FastifyRequest) => {
    const { raw, params, routeOptions } = request
    if (config.localMachines || isFromReplica(raw)) return false
    const asked = routeOptions.config.inGuest ? [(params as { id: string }).id] : []
    const named = [...asked, ...guestsCalled(request)]
    const ids = named.filter((id) => id !== undefined)
    // The service that tends the machines finds out which one is meant.
    if (ids.length < named.length) return true
    return ids.length > 0 && hasLocalMachine(lookups, ids)
  }
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())
  const passOn = async (
    request: FastifyRequest,
    reply: FastifyReply,
    body?: string,
    refuse = noSandboxes,
  ) => {
    const link = await linkToLeader(services, lookups, refuse)
    await carryRequest(link, { request, reply, body }, { closing: closing.signal, refuse })
  }

  app.addHook('onRequest', async (request, reply) => {
    if (!request.routeOptions.config.onMachines || !isOthers(request.raw)) return
    await passOn(request, reply)
    return reply
  })
  app.addHook('preHandler', async (request, reply) => {
    const needsSandboxes = isOthers(request.raw) && callsSandboxes(request)
    if (!needsSandboxes && !(await asksInside(request))) return
    const body = request.body as string | undefined
    await passOn(request, reply, body ?? '', needsSandboxes ? noSandboxes : noMachines)
    return reply
  })

  return {
    isMine: (request) => isOthers(request) && previewAddress(config, request) !== undefined,
    async accept(request, socket, head) {
      const upstream = await linkToLeader(services, lookups, noMachines)
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
  { request, reply, body }: { request: FastifyRequest; reply: FastifyReply; body: string | undefined },
  { closing, refuse }: { closing: AbortSignal; refuse: () => OperationError },
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
    throw refuse()
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
async function linkToLeader(
  { config }: Services,
  lookups: pg.Pool,
  refuse: () => OperationError,
): Promise<TLSSocket> {
  const leader = (await currentReplicas(lookups)).find(({ tendsLocal }) => tendsLocal)
  if (!leader) throw refuse()
  return linkToReplica(leader.address, config.serverSecret!).catch(() => {
    throw refuse()
  })
}

const noSandboxes = () =>
  new OperationError('sandboxes_unavailable', 'No process runs the sandboxes at the moment', {
    retryAfter: RETRY_S,
  })
const noMachines = () =>
  new OperationError('unavailable', 'The service that tends the machines cannot be reached at the moment', {
    retryAfter: RETRY_S,
  })
