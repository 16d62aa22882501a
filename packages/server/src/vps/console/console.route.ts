import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { consoleAssets, consoleParts } from '@coinrack/web/console/assets.ts'
import { consolePage, spentConsolePage } from '@coinrack/web/console/page.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { type WebSocket, WebSocketServer } from 'ws'
import { hostOf, isElsewhere } from '../../platform/machine-host.ts'
import type { Services } from '../../platform/services.ts'
import { NOTHING_HERE, type Upgrade } from '../../transport/upgrades.ts'
import { vpsById } from '../machine/vps-store.ts'
import { type ConsoleLink, mayStayOpen, readLink, takeLink } from './console-links.ts'
import { joinStreams } from './join-streams.ts'

/** The most that a person types or pastes at once; screens send nothing larger. */
const LARGEST_MESSAGE = 1024 * 1024
/** An idle connection is closed, as an unused link is. */
const SILENT_MS = 10 * 60_000
const LOOK_MS = 2_000
const GOODBYE_MS = 1_000

const FOR_EVER = 'public, max-age=31536000, immutable'
const NOT_FROM_THERE = 'HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

/** Close codes of RFC 6455. */
const GOING_AWAY = 1001
const POLICY = 1008

/**
 * The consoles of machines, for a visitor who has the secret of a link: the page, which can be looked at, and the
 * websocket (`/socket`), which uses the link up.
 * @param lookups the share of the database in which a secret is looked up
 * @param leader takes connections to machines over that are on another computer than this service
 */
export function registerConsole(
  app: FastifyInstance,
  services: Services,
  lookups: pg.Pool,
  leader: Pick<Upgrade, 'accept'>,
): Upgrade {
  const { publicUrl } = services.config
  const unproven = { db: lookups, clock: services.clock }
  for (const { path, type, body } of consoleAssets) {
    app.get(path, (_request, reply) => reply.header('cache-control', FOR_EVER).type(type).send(body))
  }

  app.get('/console/:secret', async (request: FastifyRequest<{ Params: { secret: string } }>, reply) => {
    const { secret } = request.params
    const link = await readLink(unproven, secret)
    const nonce = Buffer.from(services.random.bytes(16)).toString('base64')
    const socketUrl = `${publicUrl.replace(/^http/, 'ws')}/console/${encodeURIComponent(secret)}/socket`
    reply.code(link ? 200 : 404).headers(pageHeaders(nonce, new URL(socketUrl).origin))
    return link
      ? consolePage({ type: link.type, socketUrl, nonce, parts: consoleParts })
      : spentConsolePage(consoleParts)
  })

  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: LARGEST_MESSAGE,
    perMessageDeflate: false,
    skipUTF8Validation: true,
  })
  app.addHook('preClose', async () => {
    for (const client of sockets.clients) client.close(GOING_AWAY, 'The service ends')
    // A client that does not answer in time would hold up the end of the service.
    setTimeout(() => {
      for (const client of sockets.clients) client.terminate()
    }, GOODBYE_MS).unref()
    sockets.close()
  })

  const secretOf = ({ url = '' }: IncomingMessage) => /^\/console\/([\w-]{1,64})\/socket$/.exec(url)?.[1]
  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const secret = secretOf(request)!
    // Programs that are no browsers send no origin; a page of another origin gives itself away.
    const { origin } = request.headers
    if (origin !== undefined && origin !== new URL(publicUrl).origin) return void socket.end(NOT_FROM_THERE)
    const unused = await readLink(unproven, secret)
    if (!unused) return void socket.end(NOTHING_HERE)
    const row = await vpsById(services.db, unused.vpsId)
    if (isElsewhere(services, row)) return leader.accept(request, socket, head)
    const link = await takeLink(unproven, secret)
    if (!link) return void socket.end(NOTHING_HERE)
    const machine = await hostOf(services, row).console.connect(link.vpsId, link.type)
    if (socket.destroyed) return void machine.destroy()
    sockets.handleUpgrade(request, socket, head, (client) => serve(services, link, client, machine))
  }
  return { isMine: (request) => secretOf(request) !== undefined, accept }
}

/** Carries bytes both ways until one side ends, the machine may no longer be used, or nothing is typed for too long. */
function serve(services: Services, link: ConsoleLink, client: WebSocket, machine: Duplex): void {
  const { clock, changes, log } = services
  let typedAt = clock.now().getTime()
  client.on('message', () => {
    typedAt = clock.now().getTime()
  })
  const look = async () => {
    if (clock.now().getTime() - typedAt >= SILENT_MS)
      client.close(POLICY, 'Nothing was typed for ten minutes')
    else if (!(await mayStayOpen(services, link)))
      client.close(POLICY, 'The VPS does not run, or is no longer yours')
  }
  const lookNow = () => {
    look().catch((error) => log.error({ err: error }, 'Looking after a console failed'))
  }
  const timer = setInterval(lookNow, LOOK_MS)
  const unsubscribe = changes.subscribe((topic) => {
    if (topic === link.vpsId) lookNow()
  })
  client.once('close', () => {
    clearInterval(timer)
    unsubscribe()
  })
  joinStreams(client, machine)
}

/** Any client that knows the address has the console once: it goes to no other site, and into no cache. */
const pageHeaders = (nonce: string, socketOrigin: string) => ({
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `connect-src ${socketOrigin}`,
    "img-src 'self' data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
})
