import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Services } from '../platform/services.ts'

/** A handler that takes over connections that ask for another protocol. */
export interface Upgrade {
  isMine(request: IncomingMessage): boolean
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
}

export const NOTHING_HERE = 'HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
const NOT_NOW =
  'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n'

/**
 * The upgrade that a connection belongs to. A request that is for none of them, or that has a body, is answered as if
 * it had not asked for another protocol (RFC 9110, 7.8): clients that offer HTTP/2 by `Upgrade` ask so.
 */
export const takerOf = (upgrades: readonly Upgrade[], request: IncomingMessage): Upgrade | undefined =>
  hasBody(request) ? undefined : upgrades.find(({ isMine }) => isMine(request))

/** Hands each connection that asks for another protocol to the upgrade that it belongs to. */
export function registerUpgrades(
  app: FastifyInstance,
  services: Services,
  upgrades: readonly Upgrade[],
): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const taker = takerOf(upgrades, request)
    if (!taker) return void socket.end(NOTHING_HERE)
    taker.accept(request, socket, head).catch((error) => {
      services.log.error({ err: error }, 'A connection could not be taken over')
      socket.end(NOT_NOW)
    })
  })
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
