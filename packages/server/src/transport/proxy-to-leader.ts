import { readFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { operationList } from '@coinrack/contract/index.ts'
import { type Operation, toolName } from '@coinrack/contract/operation.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { dataLayout } from '../data-folder/data-layout.ts'
import { OperationError } from '../platform/errors.ts'
import type { Services } from '../platform/services.ts'
import { carryUpgrade } from './carry-upgrade.ts'
import { isStillSent, readToTheEnd } from './lingering-close.ts'
import { previewAddress } from './preview-address.ts'
import { endToEnd } from './preview-heads.ts'
import type { Upgrade } from './upgrades.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route needs what only the service that tends the machines has. */
    onMachines?: boolean
  }
}

/** Set on what was passed on: it is passed on once. */
const PASSED_ON = 'x-coinrack-passed-on'
const RETRY_S = 2

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
 * them, tools, previews and WebSockets go there as they came.
 * @returns what takes over connections of previews
 */
export function proxySandboxesToLeader(app: FastifyInstance, services: Services): Upgrade {
  const { config } = services
  const isOthers = ({ headers }: { headers: IncomingMessage['headers'] }) =>
    config.sandboxes && !services.sandboxes && headers[PASSED_ON] === undefined
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())

  app.addHook('onRequest', async (request, reply) => {
    if (!request.routeOptions.config.onMachines || !isOthers(request)) return
    await passOn(services, request, reply, undefined, closing.signal)
    return reply
  })
  app.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.url !== '/mcp' || !isOthers(request) || !callsTool(request.body)) return
    await passOn(services, request, reply, request.body as string, closing.signal)
    return reply
  })

  return {
    isMine: (request) => isOthers(request) && previewAddress(config, request) !== undefined,
    async accept(request, socket, head) {
      const upstream = connect(await tendingAddress(services))
      const cut = () => socket.destroy()
      closing.signal.addEventListener('abort', cut)
      const { url, headers } = request
      await carryUpgrade(
        { request, socket, head },
        {
          upstream,
          path: url!,
          headers: { ...headers, [PASSED_ON]: '1', 'x-forwarded-for': forwardedFor(request) },
          returned: (answer) => endToEnd(answer.headers),
        },
      ).finally(() => closing.signal.removeEventListener('abort', cut))
    },
  }
}

async function passOn(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  body: string | undefined,
  closing: AbortSignal,
): Promise<void> {
  const asked = httpRequest({
    ...(await tendingAddress(services)),
    method: request.method,
    path: request.originalUrl,
    headers: { ...request.raw.headers, [PASSED_ON]: '1', 'x-forwarded-for': forwardedFor(request.raw) },
    setHost: false,
    agent: false,
    signal: closing,
  })
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve)
    asked.on('error', reject)
  })
  reply.raw.once('close', () => asked.destroy())
  if (body === undefined) request.raw.pipe(asked)
  else asked.end(body)
  const answer = await answered.catch(() => {
    throw nobody()
  })
  reply.hijack()
  reply.raw.writeHead(answer.statusCode!, answer.rawHeaders)
  await pipeline(answer, reply.raw).catch(() => reply.raw.destroy())
  if (isStillSent(request.raw)) readToTheEnd(request.raw, closing)
}

/** Where the service is reached that tends the machines, which it has written down. */
async function tendingAddress({ config }: Services): Promise<{ host: string; port: number }> {
  const text = await readFile(dataLayout(config.dataFolder).tending, 'utf8').catch(() => undefined)
  if (text === undefined) throw nobody()
  return JSON.parse(text) as { host: string; port: number }
}

const nobody = () =>
  new OperationError('sandboxes_unavailable', 'No process runs the sandboxes at the moment', {
    retryAfter: RETRY_S,
  })

const forwardedFor = ({ headers, socket }: IncomingMessage) =>
  [headers['x-forwarded-for'], socket.remoteAddress].flat().filter(Boolean).join(', ')

function callsTool(body: unknown): boolean {
  if (typeof body !== 'string') return false
  try {
    const calls = [JSON.parse(body)].flat() as { method?: unknown; params?: { name?: unknown } }[]
    return calls.some(({ method, params }) => method === 'tools/call' && tools.has(String(params?.name)))
  } catch {
    return false
  }
}
