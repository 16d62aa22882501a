import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errors } from '@coinrack/contract/errors.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { OperationError } from '../../platform/errors.ts'
import { EVERYTHING } from '../../platform/everything.ts'
import type { Services } from '../../platform/services.ts'
import { carryUpgrade, isFinal, type UpgradingClient } from '../../transport/carry-upgrade.ts'
import { isStillSent, readToTheEnd } from '../../transport/lingering-close.ts'
import { type PreviewAddress, previewAddress } from '../../transport/preview-address.ts'
import { forwardedHead, presentedToken, returnedHead, tokenCookie } from '../../transport/preview-heads.ts'
import { clientBehindReplica } from '../../transport/replica-link.ts'
import { NOTHING_HERE, type Upgrade } from '../../transport/upgrades.ts'
import { askSandbox } from '../tasks/ask-sandbox.ts'
import { openPreview } from './previews.ts'

/**
 * The servers on exposed ports of sandboxes: under names of their own, and under `/preview/{sandbox}/{port}/`. HTTP and
 * WebSocket go through as they are, for as long as the client may use the port.
 * @param lookups the share of the database in which it is looked up whether they may
 */
export function registerPreviews(app: FastifyInstance, services: Services, lookups: pg.Pool): Upgrade {
  const addressOf = (request: IncomingMessage) => previewAddress(services.config, request)
  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort())

  app.register(async (scope) => {
    // Before a body is looked at.
    scope.addHook('onRequest', async (request, reply) => {
      // The router has seen it as a path; what came is what counts.
      const address = addressOf(asItCame(request))
      if (!address) throw new OperationError('not_found', 'There is no preview at this address')
      await serve({ services, lookups }, address, request, reply, closing.signal)
    })
    const handler = async () => {}
    for (const url of ['/preview/:sandbox/:port', '/preview/:sandbox/:port/*'])
      scope.all(url, { config: { onMachines: true } }, handler)
  })

  return {
    isMine: (request) => addressOf(request) !== undefined,
    accept: (request, socket, head) =>
      passUpgrade({ services, lookups }, addressOf(request)!, { request, socket, head }, closing.signal),
  }
}

interface Previews {
  services: Services
  lookups: pg.Pool
}

const asItCame = ({ raw, originalUrl }: FastifyRequest) =>
  ({ headers: raw.headers, url: originalUrl }) as IncomingMessage

async function serve(
  { services, lookups }: Previews,
  address: PreviewAddress,
  request: FastifyRequest,
  reply: FastifyReply,
  closing: AbortSignal,
): Promise<void> {
  const { sandboxId, port } = address
  const { token, path, isInQuery } = presentedToken(address, request.headers)
  const sandbox = await openPreview({ ...services, db: lookups }, sandboxId, port, token)
  if (isInQuery && request.method === 'GET') {
    // From the address into a cookie, so that it stands in no history and no Referer.
    const cookie = tokenCookie(address, token!, services.config.publicUrl)
    return void reply.header('set-cookie', cookie).redirect(`${address.prefix}${path}`)
  }
  await askSandbox(services, sandboxId, sandbox, async ({ connect }) => {
    const upstream = await connect(sandboxId, port)
    const cut = () => upstream.destroy()
    const unwatch = watch(services, address, token, cut, closing)
    const { raw } = reply
    raw.once('close', cut)
    try {
      const answer = await exchange(
        upstream,
        request,
        forwardedHead(request.raw, address, { path, client: request.ip }),
      )
      reply.hijack()
      const isEarly = isStillSent(request.raw)
      const head = returnedHead(answer, address)
      raw.writeHead(answer.statusCode!, isEarly ? { ...head, connection: 'keep-alive' } : head)
      await pipeline(answer, raw)
      if (isEarly) readToTheEnd(request.raw, closing)
    } catch {
      if (raw.headersSent || raw.destroyed) raw.destroy()
      else throw noAnswer(port)
    } finally {
      unwatch()
      upstream.destroy()
    }
  })
}

/** Sends a request over the connection, with its body, and resolves with the head of the answer. */
function exchange(
  upstream: Duplex,
  request: FastifyRequest,
  { path, headers }: { path: string; headers: OutgoingHttpHeaders },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({
      createConnection: () => upstream as never,
      method: request.method,
      path,
      headers,
      setHost: false,
    })
    asked.once('response', (answer) => {
      if (isFinal(answer)) resolve(answer)
      else reject(new Error('Nobody asked for another protocol'))
    })
    asked.on('error', reject)
    request.raw.pipe(asked)
  })
}

/** Lets a client speak another protocol, a WebSocket for one, with what listens on the port. */
async function passUpgrade(
  { services, lookups }: Previews,
  address: PreviewAddress,
  client: UpgradingClient,
  closing: AbortSignal,
): Promise<void> {
  const { sandboxId, port } = address
  const { request, socket } = client
  const { token, path } = presentedToken(address, request.headers)
  try {
    const sandbox = await openPreview({ ...services, db: lookups }, sandboxId, port, token)
    await askSandbox(services, sandboxId, sandbox, async ({ connect }) => {
      const upstream = await connect(sandboxId, port)
      const unwatch = watch(services, address, token, () => socket.destroy(), closing)
      const seen = clientBehindReplica(request) ?? request.socket.remoteAddress ?? ''
      const from = seen.replace(/^::ffff:/, '')
      try {
        await carryUpgrade(client, {
          upstream,
          ...forwardedHead(request, address, { path, client: from }),
          returned: (answer) => returnedHead(answer, address),
        })
      } catch {
        throw noAnswer(port)
      } finally {
        unwatch()
      }
    })
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    socket.end(refusal(error))
  }
}

const noAnswer = (port: number) => new OperationError('port_refused', `Port ${port} did not answer`)

function refusal({ code, status, retryAfter }: OperationError): string {
  if (code === 'preview_closed') return NOTHING_HERE
  const wait = retryAfter === undefined ? {} : { retry_after: retryAfter }
  const body = JSON.stringify({ code, fix: errors[code].fix, ...wait })
  const head = [
    `HTTP/1.1 ${status} Refused`,
    'Connection: close',
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** Cuts a connection when its port is no longer exposed to the visitor, or its sandbox does not run. */
function watch(
  services: Services,
  { sandboxId, port }: PreviewAddress,
  token: string | undefined,
  cut: () => void,
  closing: AbortSignal,
): () => void {
  const unsubscribe = services.changes.subscribe((topic) => {
    if (topic === sandboxId || topic === EVERYTHING) openPreview(services, sandboxId, port, token).catch(cut)
  })
  closing.addEventListener('abort', cut)
  return () => {
    unsubscribe()
    closing.removeEventListener('abort', cut)
  }
}
